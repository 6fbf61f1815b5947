"""Read the files of each data set: tables, network traffic and motion recordings. Modules load when first used."""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
