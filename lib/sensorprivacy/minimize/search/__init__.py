"""Train models on every subset of the features. Searches are resumable and run in parallel."""
