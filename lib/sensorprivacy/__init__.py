"""Sensor Privacy Compendium: replicate, audit and extend three papers on the privacy of IoT sensor data.

The re-identification game (`game`) judges three defences: drop columns (`minimize`), drop, keep or add noise to
columns (`threeway`), and rewrite windows of motion data (`latent`). Package `edge` prepares a defence for a device.
Package `sensorrelease` beside this one is the command `sensorprivacy`, for your own tables and recordings.

The public names, such as `feature_minimize`, are imported when they are first used. So ``import sensorprivacy`` is
fast and does not load PyTorch.
"""

from typing import Any

from sensorprivacy import extras

_lazy_getattr, __dir__, __all__ = extras.attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return a public name. The version is lazy too, because reading it takes as long as the rest of the import."""
    if name != "__version__":
        return _lazy_getattr(name)
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sensorprivacy")
    except PackageNotFoundError:  # a checkout on the path that is not installed
        return "0+unknown"
