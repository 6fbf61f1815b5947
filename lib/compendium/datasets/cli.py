"""The commands ``python -m compendium data list | fetch | verify | where``."""

import argparse
import sys
from collections.abc import Callable

import tabulate

from compendium.datasets import store
from compendium.datasets.catalogue import Dataset, catalogue, lookup
from compendium.datasets.errors import CorruptDataError, DataUnavailableError


def add_data_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``data`` and its four actions to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        The result of ``parser.add_subparsers()``. The namespace of each action has ``command``: call it with the
        namespace. It returns the exit code: 0, or 1 if a set is unavailable or corrupt. An unknown name raises
        UnknownDatasetError.
    """
    data = subparsers.add_parser(
        "data",
        help="list, fetch and verify the data sets",
        description="List, fetch and verify the data sets. A set is searched for in data/raw/<folder>/, in the mirror "
        "(SENSORPRIVACY_MIRROR, a folder or an address), in the user's cache (SENSORPRIVACY_CACHE), and then on the "
        "network. Every file is verified by its SHA-256. A corrupt file is reported and never replaced.",
    )
    actions = data.add_subparsers(required=True, metavar="ACTION")
    for command, text, several in (
        (list_sets, "list every set: size, licence, citation, and whether it is on this machine", None),
        (fetch_sets, "fetch sets to this machine; exit code 1 if a set is unavailable", "*"),
        (verify_sets, "hash every file of sets again; exit code 1 if a set is missing or corrupt", "+"),
        (where_set, "print the path of a set on this machine; exit code 1 if the set is missing", 1),
    ):
        name = command.__name__.partition("_")[0]
        action = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        action.set_defaults(command=command)
        if several:
            action.add_argument("names", nargs=several, metavar="NAME", help=f"one of: {', '.join(store.names())}")
    actions.choices["list"].add_argument("names", nargs="*", metavar="NAME", help="show only these, with all details")
    fetch = actions.choices["fetch"]
    fetch.add_argument("--all", action="store_true", help="fetch every set; a set that is unavailable is no error")
    fetch.add_argument("--quiet", action="store_true", help="draw no progress bars")


def list_sets(arguments: argparse.Namespace) -> int:
    """Print a table of all sets, or the cards of the named sets."""
    if arguments.names:
        print("\n\n".join(card(name) for name in arguments.names))
        return 0
    rows = [
        {
            "set": entry.name,
            "here": status(entry),
            "download": f"{entry.download_mb:g} MB" if entry.origins else "by hand",
            "licence": entry.licence,
            "for": entry.role,
            "cite": entry.citation,
        }
        for entry in catalogue().values()
    ]
    print(tabulate.tabulate(rows, headers="keys", maxcolwidths=[None, None, None, 22, 30, 50]))
    print("\npython -m compendium data list NAME shows a set's counts, origins and how to get it.")
    return 0


def fetch_sets(arguments: argparse.Namespace) -> int:
    """Fetch the named sets, or all, with one line for each. With ``--all``, only a corrupt set is an error."""
    if not arguments.names and not arguments.all:
        raise ValueError("name a data set or give --all: python -m compendium data fetch NAME")
    names = list(store.names()) if arguments.all else arguments.names

    def fetch(name: str) -> str:
        return str(store.fetch(name, progress=not arguments.quiet).path)

    return _each(names, fetch, absence_is_failure=not arguments.all)


def verify_sets(arguments: argparse.Namespace) -> int:
    """Hash every file of the named sets again, and print one line for each set."""

    def verify(name: str) -> str:
        located = store.verify(name)
        pinned = "verified" if lookup(name).pinned else "of your own copy, not pinned"
        return f"{len(located.members)} members {pinned}, digest {located.digest}"

    return _each(arguments.names, verify)


def where_set(arguments: argparse.Namespace) -> int:
    """Print the path of a set, and nothing else."""
    state = store.state(arguments.names[0])
    print(state["where"] or state["why"], file=sys.stdout if state["where"] else sys.stderr)
    return 0 if state["where"] else 1


def card(name: str) -> str:
    """Return all details of a set, one line each."""
    entry = lookup(name)
    size = f"about {entry.download_mb:g} MB to download" if entry.origins else "fetched by hand"
    if entry.forms:
        size += f", {entry.forms[0].size / 1e6:,.1f} MB unpacked"
    lines = {
        "for": entry.role,
        "here": status(entry, path=True),
        "size": size,
        "counts": entry.counts,
        "licence": entry.licence,
        "cite": entry.citation,
        "home": entry.homepage or "none",
        "origins": "; ".join(origin.label for origin in entry.origins) or "none",
        "by hand": entry.how,
    }
    return "\n".join([f"{entry.name}: {entry.title}", *(f"  {key:8} {text}" for key, text in lines.items())])


def status(entry: Dataset, *, path: bool = False) -> str:
    """Return ``yes``, ``no`` or ``corrupt``; with `path` also the path, or the damage."""
    try:
        located = store.locate(entry.name)
    except CorruptDataError as error:
        return f"corrupt: {error}" if path else "corrupt"
    if located is None:
        return "no"
    return f"yes, {located.path}" if path else "yes"


def _each(names: list[str], act: Callable[[str], str], *, absence_is_failure: bool = True) -> int:
    """Act on each set and print one line for it; continue after an unavailable set, and return the exit code."""
    for name in names:
        lookup(name)  # report a misspelt name before anything is downloaded
    failed = False
    for name in names:
        try:
            print(f"{name}: {act(name)}", flush=True)
        except (DataUnavailableError, CorruptDataError) as error:
            failed |= absence_is_failure or isinstance(error, CorruptDataError)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return int(failed)
