"""Run notebooks in batches: read ``runs.yaml``, check parameters, execute, and record how each run ended."""
