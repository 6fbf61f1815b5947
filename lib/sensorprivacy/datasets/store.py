"""The store of data sets: where one is, whether it is sound, and how it comes here.

Looked at in this order: ``data/raw/<folder>`` of the checkout, the mirror (``SENSORPRIVACY_MIRROR``, a folder or an
address), the user's cache (``SENSORPRIVACY_CACHE``), the set's sources. Members are verified before anything reads
them.
"""

from collections.abc import Sequence
from typing import Any

from sensorprivacy.datasets import fetching, finding
from sensorprivacy.datasets.catalogue import Dataset, catalogue, lookup
from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError
from sensorprivacy.datasets.finding import Located

#: The quick profile downloads no set larger than this, in megabytes.
QUICK_LIMIT_MB = 30.0

__all__ = [
    "QUICK_LIMIT_MB",
    "Located",
    "available",
    "fetch",
    "limit_of",
    "locate",
    "names",
    "present",
    "state",
    "verify",
]


def names() -> tuple[str, ...]:
    """Return the names of all sets, in the catalogue's order."""
    return tuple(catalogue())


def locate(name: str, *, fresh: bool = False, progress: bool = True) -> Located | None:
    """Return a set that is on this machine, its members verified; no network is used.

    Parameters
    ----------
    name : str
        A set of the catalogue.
    fresh : bool
        Whether to hash everything anew instead of trusting files that have not changed since they were verified.
    progress : bool
        Whether to draw a bar on stderr where a tar has to be unpacked to the cache.

    Returns
    -------
    Located or None
        None if it is not (wholly) here.

    Raises
    ------
    UnknownDatasetError
        If the catalogue has no such set.
    CorruptDataError
        If a member or archive is here but damaged; it names the file, and what was expected and found.
    """
    entry = lookup(name)
    scans = finding.scan_places(entry)
    located = finding.find(entry, scans, fresh=fresh)
    tars = [tar for scan in scans for tar in scan.tars]
    if located is None and tars and entry.pinned:
        fetching.unpack_tars(entry, tars, progress=progress)
        located = finding.find(entry, finding.scan_places(entry), fresh=fresh)
    broken = [damage for scan in scans for damage in scan.broken]
    if located is None and broken:
        path, why = broken[0]
        raise CorruptDataError(str(path), "a readable archive", why, finding.remedy(entry))
    return located


def fetch(name: str, *, progress: bool = True, limit_mb: float | None = None) -> Located:
    """Return a set, fetched first if it is not on this machine.

    Parameters
    ----------
    name : str
        A set of the catalogue.
    progress : bool
        Whether to draw progress bars on stderr.
    limit_mb : float, optional
        Download no more than this; a larger set counts as not to be had (see `limit_of`).

    Returns
    -------
    Located
        The set, verified.

    Raises
    ------
    DataUnavailableError
        If it cannot be had; one line that says what, why, and how to get it.
    CorruptDataError
        If a member is here, or at all its sources, with other content than the catalogue pins.
    UnknownDatasetError
        If the catalogue has no such set.
    """
    entry = lookup(name)
    located = locate(name, progress=progress)
    if located is not None:
        return located
    if limit_mb is not None and entry.sources and (entry.download_mb or 0) > limit_mb:
        raise DataUnavailableError(
            f"{entry.name} is not on this machine, and its {entry.download_mb:g} MB are more than the {limit_mb:g} MB "
            f"that this profile downloads: run python -m sensorprivacy data fetch {entry.name}"
        )
    fetching.bring(entry, progress=progress)
    located = locate(name, progress=progress)
    if located is None:
        raise DataUnavailableError(f"{entry.name} was fetched and is gone again: {entry.how}")
    return located


def limit_of(profile: str) -> float | None:
    """Return how much a set may download under a profile, in megabytes: about 30 for ``quick``, else no limit."""
    return QUICK_LIMIT_MB if profile == "quick" else None


def available(name: str) -> bool:
    """Tell whether a set is on this machine and sound; no network is used.

    Raises
    ------
    CorruptDataError
        If it is here but damaged.
    """
    return locate(name) is not None


def present(wanted: Sequence[str]) -> list[str]:
    """Return those of some sets that are on this machine, in the order given; no network is used.

    Raises
    ------
    DataUnavailableError
        If none of them is, with what to do about each.
    CorruptDataError
        If one is here but damaged.
    """
    here = [name for name in wanted if available(name)]
    if not here:
        raise DataUnavailableError("; ".join(state(name)["why"] for name in wanted))
    return here


def verify(name: str) -> Located:
    """Hash every member of a set anew.

    Returns
    -------
    Located
        The set, if all is well.

    Raises
    ------
    DataUnavailableError
        If it is not on this machine.
    CorruptDataError
        If a member is not what the catalogue pins.
    """
    located = locate(name, fresh=True)
    if located is None:
        entry = lookup(name)
        raise DataUnavailableError(f"{entry.name} is not on this machine: {_how(entry)}")
    return located


def state(name: str, *, obtain: bool = False, profile: str = "quick", progress: bool = True) -> dict[str, Any]:
    """Return what a run needs to know about a set, as plain JSON values.

    Parameters
    ----------
    name : str
        A set of the catalogue.
    obtain : bool
        Whether to fetch the set if it is not here and the profile allows a download of its size.
    profile : str
        ``"quick"`` or ``"paper"``.
    progress : bool
        Whether to draw progress bars on stderr.

    Returns
    -------
    dict
        ``name``, ``status`` ("present" or "absent"), ``form``, ``digest``, ``where``, ``how`` (to get it), ``why`` (one
        line, when absent). The same set in the same place gives the same dictionary.

    Raises
    ------
    CorruptDataError
        If the set is here but damaged: that is an error, not an absence.
    """
    entry = lookup(name)
    why = None
    try:
        located = (
            fetch(name, progress=progress, limit_mb=limit_of(profile)) if obtain else locate(name, progress=progress)
        )
    except DataUnavailableError as error:
        located, why = None, str(error)
    if located is None:
        why = why or f"{entry.name} is not on this machine: {_how(entry)}"
    return {
        "name": entry.name,
        "status": "absent" if located is None else "present",
        "form": located.form if located else None,
        "digest": located.digest if located else None,
        "where": str(located.path) if located else None,
        "how": _how(entry),
        "why": why,
    }


def _how(entry: Dataset) -> str:
    return f"python -m sensorprivacy data fetch {entry.name}" if entry.sources else entry.how
