"""Where data sets lie on this machine: the checkout's ``data/raw``, the mirror, the user's cache."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pooch

from sensorprivacy.paths import MIRROR_VARIABLE, data_dir, mirror_address

CACHE_VARIABLE = "SENSORPRIVACY_CACHE"


@dataclass(frozen=True)
class Place:
    """A folder that holds one folder a data set.

    Attributes
    ----------
    kind : str
        ``"raw"``, ``"mirror"`` or ``"cache"``.
    folder : pathlib.Path
        The folder; it need not exist.
    """

    kind: str
    folder: Path


def raw_folder() -> Path | None:
    """Return ``data/raw`` of the checkout; None where the package is used without one."""
    try:
        return data_dir() / "raw"
    except FileNotFoundError:
        return None


def cache_folder() -> Path:
    """Return the user's cache: the environment variable ``SENSORPRIVACY_CACHE``, else where the system keeps caches."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser().resolve() if named else Path(pooch.os_cache("sensorprivacy"))


def mirror() -> Path | str | None:
    """Return the mirror that ``SENSORPRIVACY_MIRROR`` names, or that `reproduce` used before (`mirror_address`).

    Returns
    -------
    pathlib.Path, str or None
        A folder; the base address of a mirror on the web; None if there is none.

    Raises
    ------
    FileNotFoundError
        If it names a folder that is not there, or an address other than http, https or file.
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
            f"{MIRROR_VARIABLE}={named} is neither a folder nor an http(s) or file address: mend or unset it"
        )
    return folder.resolve()


def places() -> list[Place]:
    """Return the folders on this machine that are looked at, in order: raw, mirror, cache."""
    raw, copy = raw_folder(), mirror()
    found = [Place("raw", raw)] if raw else []
    found += [Place("mirror", copy)] if isinstance(copy, Path) else []
    return [*found, Place("cache", cache_folder())]
