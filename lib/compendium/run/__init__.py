"""Run notebooks in batches: read ``runs.yaml``, check parameters, execute, and record how each run ended."""

from sensorprivacy import extras

# Lazy, so that the command line does not import pandas and matplotlib to refuse a wrong word.
__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
