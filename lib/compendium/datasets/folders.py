"""The folders on this machine that hold data sets: ``data/raw`` of the checkout, the mirror and the user's cache."""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from compendium.paths import MIRROR_VARIABLE, data_dir, mirror_address
from sensorprivacy.paths import cache_folder


def raw_folder() -> Path | None:
    """Return ``data/raw`` of the checkout, or None if the package is used without a checkout."""
    try:
        return data_dir() / "raw"
    except FileNotFoundError:
        return None


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
    address = urlsplit(named)
    if address.scheme in ("http", "https"):
        return named
    folder = Path(url2pathname(address.path)) if address.scheme == "file" else Path(named).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{MIRROR_VARIABLE}={named} is neither a folder nor an http(s) or file address: correct or unset it"
        )
    return folder.resolve()


def local_folders() -> list[Path]:
    """Return the folders to search, in order: raw, mirror, cache. Each holds one folder for each data set."""
    return [folder for folder in (raw_folder(), mirror(), cache_folder()) if isinstance(folder, Path)]
