"""Printed values, and the verdict on each: exact, within, differs, undecided, no data, not reproducible."""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
