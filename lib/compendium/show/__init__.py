"""Show results: tables, figures and diagrams, in one style."""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
