"""Your own table or recordings: read, judge the columns, then minimize, compare or publish."""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
