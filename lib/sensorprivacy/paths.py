"""Where the compendium lies on this machine."""

import os
from pathlib import Path

_MARKS = ("notebooks", "data", "lib")


def project_root() -> Path:
    """Return the folder of the compendium's checkout.

    Looked for in this order: the environment variable ``SENSORPRIVACY_HOME``, the checkout that this package is
    installed from (editable), the working directory and its parents.

    Returns
    -------
    pathlib.Path
        Absolute path of the folder that holds ``notebooks/``, ``data/`` and ``lib/``.

    Raises
    ------
    FileNotFoundError
        If none of these is a checkout of the compendium.
    """
    named = os.environ.get("SENSORPRIVACY_HOME")
    if named:
        root = Path(named).expanduser().resolve()
        if not _is_root(root):
            raise FileNotFoundError(
                f"SENSORPRIVACY_HOME={named} holds no notebooks/, data/ and lib/: point it at the checkout"
            )
        return root
    here = Path.cwd().resolve()
    for folder in (Path(__file__).resolve().parents[2], here, *here.parents):
        if _is_root(folder):
            return folder
    raise FileNotFoundError(f"no checkout of the compendium at or above {here}: set SENSORPRIVACY_HOME to its folder")


def data_dir() -> Path:
    """Return the folder ``data/`` of the checkout."""
    return project_root() / "data"


def build_dir() -> Path:
    """Return the git-ignored folder ``build/`` for executed notebooks, logs and run states."""
    return project_root() / "build"


def figures_dir(profile: str) -> Path:
    """Return the folder that results of a profile go to.

    Only the ``paper`` profile writes the committed ``figures/``; any other profile writes the git-ignored
    ``figures/<profile>/``, so that a short run never replaces a full one.
    """
    figures = project_root() / "figures"
    return figures if profile == "paper" else figures / profile


def _is_root(folder: Path) -> bool:
    return all((folder / mark).is_dir() for mark in _MARKS)
