"""The store of data sets: find a set on this machine, verify it, and fetch it if it is missing.

The store looks in ``data/raw/<folder>`` of the checkout, in the mirror (``SENSORPRIVACY_MIRROR``, a folder or an
address), in the user's cache (``SENSORPRIVACY_CACHE``), and then asks the set's origins on the network. It unpacks
archives into the cache, and verifies every member before a reader reads it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from compendium.datasets import fetching
from compendium.datasets.catalogue import Dataset, catalogue, lookup
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.datasets.finding import Search, how
from compendium.paths import mirror
from compendium.readers.files import Files

_MEGABITS = 20  # a second, of an ordinary connection


def names() -> tuple[str, ...]:
    """Return the names of all sets, in the order of the catalogue."""
    return tuple(catalogue())


def locate(name: str, *, fresh: bool = False) -> Files | None:
    """Find and verify a set on this machine, without using the network.

    Parameters
    ----------
    name : str
        A set of the catalogue.
    fresh : bool
        Hash every file again, instead of trusting files that did not change since they were verified.

    Returns
    -------
    Files or None
        None if the set, or a part of it, is missing.

    Raises
    ------
    UnknownDatasetError
        If the catalogue has no such set.
    CorruptDataError
        If a member or an archive is damaged; the message names the file, and the expected and found content.
    """
    entry = lookup(name)
    search = Search(entry, fresh=fresh)
    located = search.located()
    if located is None and search.archives and entry.pinned:
        fetching.unpack(entry, search.archives)
        located = Search(entry, fresh=fresh).located()
    return located


def fetch(name: str, *, download: bool = True) -> Files:
    """Find a set on this machine, or download it.

    Parameters
    ----------
    name : str
        A set of the catalogue.
    download : bool, default=True
        False to use only what is on this machine.

    Returns
    -------
    Files
        The set, verified.

    Raises
    ------
    DataUnavailableError
        If the set is unavailable. The message is one line: the set, the reason, and how to get it.
    CorruptDataError
        If a member differs from the content that the catalogue pins, on this machine or at all origins.
    UnknownDatasetError
        If the catalogue has no such set.
    """
    entry = lookup(name)
    located = locate(name)
    if located is not None:
        return located
    if not download:
        raise DataUnavailableError(_absence(entry))
    fetching.bring(entry)
    located = locate(name)
    if located is None:
        raise DataUnavailableError(f"{entry.name} was downloaded, but its files are gone: {entry.how}")
    return located


def announcement(wanted: Iterable[str]) -> str:
    """Return one line about the sets that `fetch` would download: which, how many megabytes, how long; or no text.

    A damaged set is left out: `fetch` reports it.
    """
    missing = [entry for entry in map(lookup, wanted) if _downloadable(entry)]
    if not missing:
        return ""
    size = sum(entry.megabytes for entry in missing)
    seconds = math.ceil(size * 8 / _MEGABITS)
    time = f"{seconds} s" if seconds < 100 else f"{math.ceil(seconds / 60)} min"
    sets = ", ".join(f"{entry.name} {entry.megabytes:.2g} MB" for entry in missing)
    return f"to download: {sets}; {size:.0f} MB in all, about {time} at {_MEGABITS} Mbit/s"


def _downloadable(entry: Dataset) -> bool:
    """Return whether a set is missing on this machine, and an origin or a mirror on the web may have it."""
    try:
        here = locate(entry.name) is not None
    except CorruptDataError:
        return False
    return not here and bool(entry.origins or (entry.forms and isinstance(mirror(), str)))


def available(name: str) -> bool:
    """Return whether a set is on this machine and sound, without using the network; raises as `locate`."""
    return locate(name) is not None


def present(wanted: Sequence[str]) -> list[str]:
    """Return the sets that are on this machine, in the given order, without using the network.

    Raises
    ------
    DataUnavailableError
        If none of them is; the message says how to get each.
    CorruptDataError
        If one is damaged.
    """
    here = [name for name in wanted if available(name)]
    if not here:
        raise DataUnavailableError("; ".join(map(_absence, map(lookup, wanted))))
    return here


def verify(name: str) -> Files:
    """Hash every member of a set again, and return the set if all members are sound.

    Raises
    ------
    DataUnavailableError
        If the set is not on this machine.
    CorruptDataError
        If a member differs from the content that the catalogue pins.
    """
    located = locate(name, fresh=True)
    if located is None:
        raise DataUnavailableError(_absence(lookup(name)))
    return located


def state(name: str) -> dict[str, Any]:
    """Return whether and where a set is on this machine, without using the network.

    Parameters
    ----------
    name : str
        A set of the catalogue.

    Returns
    -------
    dict
        JSON values: ``name``, ``status`` ("present" or "absent"), ``form``, ``digest``, ``where``, ``how`` (to get
        it), ``why`` (one line, if absent).

    Raises
    ------
    CorruptDataError
        If the set is damaged.
    """
    entry = lookup(name)
    located = locate(name)
    return {
        "name": entry.name,
        "status": "present" if located else "absent",
        "form": located.form if located else None,
        "digest": located.digest if located else None,
        "where": str(located.path) if located else None,
        "how": how(entry),
        "why": None if located else _absence(entry),
    }


def _absence(entry: Dataset) -> str:
    return f"{entry.name} is not on this machine: {how(entry)}"
