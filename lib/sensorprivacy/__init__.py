"""Sensor Privacy Compendium: three papers on the privacy of IoT sensor data, replicated, audited and extended.

The re-identification game judges three provider strategies: drop columns (`minimize`), drop, keep or noise
columns (`threeway`), rewrite windows (`latent`). `datasets` is what comes in, `report` is what goes out.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("sensorprivacy")
except PackageNotFoundError:  # a checkout on the path, not installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
