"""Name the packages that an optional feature needs, such as PyTorch for recordings."""

from collections.abc import Callable
from typing import Any

import lazy_loader

EXTRAS = {
    "latent": ("torch", "safetensors"),
    "edge": ("onnx", "onnxruntime"),
    "release": ("openpyxl", "polars"),
    "cluster": ("dask", "distributed", "dask_jobqueue"),
}
"""The modules of each extra of ``pyproject.toml`` that this package imports."""


class MissingExtraError(ModuleNotFoundError):
    """A package of an extra is not installed; the message names the command that installs all packages of it."""


def remedy(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return an error that names the missing extra; None if the module belongs to no extra.

    Parameters
    ----------
    error : ModuleNotFoundError
        What an import raised.

    Examples
    --------
    >>> print(remedy(ModuleNotFoundError("No module named 'torch'", name="torch.nn")))
    this needs torch, which is not installed: pip install torch safetensors
    """
    module = (error.name or "").partition(".")[0]
    for modules in EXTRAS.values():
        if module in modules:
            text = f"this needs {module}, which is not installed: pip install {' '.join(modules)}"
            return MissingExtraError(text, name=module)
    return None


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose public names are imported lazily.

    Parameters
    ----------
    package, file : str
        Its ``__name__`` and ``__file__``. The stub beside the file lists the public names.
    """
    find, names, listed = lazy_loader.attach_stub(package, file)

    def getattr_(name: str) -> Any:
        try:
            return find(name)
        except ModuleNotFoundError as error:
            raise remedy(error) or error from error

    return getattr_, names, listed
