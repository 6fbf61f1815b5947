"""Find the compendium's folders, the mirror of the data sets and the folders that hold data sets on this machine."""

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sensorprivacy.paths import cache_folder

MIRROR_VARIABLE = "SENSORPRIVACY_MIRROR"
RUN_FILE, MACHINE_FILE, REPLAY_FILE, VERDICTS_FILE = "run.json", "machine.json", "replay.json", "verdicts.csv"
_MARKS = ("notebooks", "data", "lib")


def project_root() -> Path:
    """Return the folder of the compendium's checkout.

    Returns
    -------
    pathlib.Path
        Absolute path of the folder that holds ``notebooks/``, ``data/`` and ``lib/``: the one that the environment
        variable ``SENSORPRIVACY_HOME`` names, or that of this package, which is installed from its checkout.

    Raises
    ------
    FileNotFoundError
        If it is no checkout of the compendium.
    """
    named = os.environ.get("SENSORPRIVACY_HOME")
    folder = Path(named).expanduser().resolve() if named else Path(__file__).resolve().parents[2]
    if all((folder / mark).is_dir() for mark in _MARKS):
        return folder
    what = f"SENSORPRIVACY_HOME={named}" if named else f"{folder}, from where this package is installed,"
    raise FileNotFoundError(f"{what} holds no notebooks/, data/ and lib/: point SENSORPRIVACY_HOME at the checkout")


def data_dir() -> Path:
    """Return the folder ``data/`` of the checkout."""
    return project_root() / "data"


def output_root() -> Path:
    """Return the folder of ``build/`` and ``figures/``: ``SENSORPRIVACY_OUTPUT``, which a read-only checkout needs."""
    named = os.environ.get("SENSORPRIVACY_OUTPUT")
    return Path(named).expanduser().resolve() if named else project_root()


def build_dir() -> Path:
    """Return the git-ignored folder ``build/`` for executed notebooks, logs and run states."""
    return output_root() / "build"


def figures_dir(profile: str) -> Path:
    """Return the folder that results of a profile go to.

    Only the ``paper`` profile writes the committed ``figures/``; any other profile writes the git-ignored
    ``figures/<profile>/``, so that a short run never replaces a full one.
    """
    figures = output_root() / "figures"
    return figures if profile == "paper" else figures / profile


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_record(profile: str, run: str) -> dict[str, Any]:
    """Return the record of a run's results, ``run.json`` in its folder."""
    return json.loads((figures_dir(profile) / run / RUN_FILE).read_text(encoding="utf-8"))


def mirror_address() -> str | None:
    """Return the mirror of the data sets: a folder or an address; None if there is none.

    ``SENSORPRIVACY_MIRROR`` names it; an empty value means no mirror. Without the variable, it is the mirror that
    `reproduce` used before in this checkout, unless that folder is gone.
    """
    named = os.environ.get(MIRROR_VARIABLE)
    if named is None and (named := remembered_mirror()) and "://" not in named and not Path(named).is_dir():
        return None
    return named or None


def remembered_mirror() -> str | None:
    """Return the mirror that `reproduce` used before in this checkout, even if it is gone; None if there is none."""
    file = _mirror_file()
    return file.read_text(encoding="utf-8").strip() if file.is_file() else None


def remember_mirror() -> None:
    """Write the mirror that ``SENSORPRIVACY_MIRROR`` names to ``build/mirror.txt``; delete the file to forget it.

    A user's name and password are left out. Later shells take them from ``~/.netrc``.

    Raises
    ------
    FileNotFoundError
        As `mirror`.
    """
    named = os.environ.get(MIRROR_VARIABLE)
    if named and mirror():
        _mirror_file().parent.mkdir(parents=True, exist_ok=True)
        absolute = without_password(named) if "://" in named else str(Path(named).expanduser().resolve())
        _mirror_file().write_text(f"{absolute}\n", encoding="utf-8")


def raw_folder() -> Path:
    """Return ``data/raw`` of the checkout."""
    return data_dir() / "raw"


def mirror() -> Path | str | None:
    """Return the mirror that ``SENSORPRIVACY_MIRROR`` names, or that `reproduce` used before (`mirror_address`).

    Returns
    -------
    pathlib.Path, str or None
        A folder; the base address of a mirror on the web; None if there is none.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist, or the address is neither http, https nor file.
    """
    named = mirror_address()
    if named is None:
        return None
    try:
        address = urlsplit(named)
    except ValueError as error:
        raise FileNotFoundError(f"{MIRROR_VARIABLE} is no valid address: {error}") from error
    if address.scheme in ("http", "https"):
        if not re.fullmatch(r"(.*@)?(\[[^]@]+\]|[^@:]+)(:\d+)?", address.netloc):
            what = "is no valid address: a password needs %2F for /, %40 for @ and %3A for :"
            raise FileNotFoundError(f"{MIRROR_VARIABLE} {what}")
        return named
    folder = Path(url2pathname(address.path)) if address.scheme == "file" else Path(named).expanduser()
    if not folder.is_dir():
        what = "is neither a folder nor an http(s) or file address: correct or unset it"
        raise FileNotFoundError(f"{MIRROR_VARIABLE}={without_password(named)} {what}")
    return folder.resolve()


def command(words: str) -> str:
    """Return a command of ours as it can be typed in the checkout, for example ``data fetch adult``.

    `make` installs it into ``.venv``. In an environment of the user's own, it is on the path.
    """
    installed = (project_root() / ".venv").is_dir() or shutil.which("compendium") is None
    return f"{'.venv/bin/' if installed else ''}compendium {words}"


def without_password(address: str) -> str:
    """Return an address without the name and the password of a user, for messages and files.

    Examples
    --------
    >>> without_password("https://ann:secret@example.org/data"), without_password("/data/ann@work")
    ('https://example.org/data', '/data/ann@work')
    """
    return re.sub(r"(^|//)[^/]*@", r"\1", address)


def local_folders() -> list[Path]:
    """Return the folders to search, in order: raw, mirror, cache. Each holds one folder for each data set."""
    return [folder for folder in (raw_folder(), mirror(), cache_folder()) if isinstance(folder, Path)]


def _mirror_file() -> Path:
    return build_dir() / "mirror.txt"
