"""Search all subsets of the features: resumable, parallel, with results kept in one SQLite file."""
