"""``python -m sensorprivacy data list | fetch | verify | where``."""

import argparse
import sys
from collections.abc import Callable

import tabulate

from sensorprivacy.datasets import store
from sensorprivacy.datasets.catalogue import Dataset, catalogue, lookup
from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError

Command = Callable[[argparse.Namespace], int]


def add_data_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``data`` and its four actions to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        What ``parser.add_subparsers()`` returned. Each action's namespace has ``command``: call it with the namespace,
        it returns the exit code: 0, or 1 when a set is not to be had or not sound. An unknown name raises
        UnknownDatasetError.
    """
    data = subparsers.add_parser(
        "data",
        help="list, fetch and verify the data sets",
        description="The data sets. Looked for in data/raw/<folder>/, the mirror (SENSORPRIVACY_MIRROR, a folder or an "
        "address), the user's cache (SENSORPRIVACY_CACHE), and then at their sources on the network. Members are "
        "pinned by SHA-256 and never silently replaced.",
    )
    actions = data.add_subparsers(required=True, metavar="ACTION")
    for command, words, several in (
        (list_sets, "every set: size, licence, citation, whether it is on this machine", None),
        (fetch_sets, "bring sets to this machine; exit code 1 if one cannot be had", "*"),
        (verify_sets, "hash every member of sets anew; exit code 1 if one is absent or corrupt", "+"),
        (where_set, "the path of a set on this machine; exit code 1 if it is absent", 1),
    ):
        action = actions.add_parser(
            command.__name__.partition("_")[0], help=words, description=words[0].upper() + words[1:] + "."
        )
        action.set_defaults(command=command)
        if several:
            action.add_argument("names", nargs=several, metavar="NAME", help=f"one of: {', '.join(store.names())}")
    listing = actions.choices["list"]
    listing.add_argument("names", nargs="*", metavar="NAME", help="only these, with everything known about them")
    fetching = actions.choices["fetch"]
    fetching.add_argument("--all", action="store_true", help="every set; one that cannot be had is then no error")
    fetching.add_argument("--quiet", action="store_true", help="draw no progress bars")


def list_sets(arguments: argparse.Namespace) -> int:
    """Print a table of all sets, or the cards of those named."""
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
    print("\npython -m sensorprivacy data list NAME tells a set's counts, sources and how to get it.")
    return 0


def fetch_sets(arguments: argparse.Namespace) -> int:
    """Fetch the sets named, or all; one line each. Of all sets, only a corrupt one is an error."""
    if not arguments.names and not arguments.all:
        raise ValueError("name a data set or give --all: python -m sensorprivacy data fetch NAME")
    names = list(store.names()) if arguments.all else arguments.names

    def fetch(name: str) -> str:
        return f"{store.fetch(name, progress=not arguments.quiet).path}"

    return _each(names, fetch, absence_is_failure=not arguments.all)


def verify_sets(arguments: argparse.Namespace) -> int:
    """Hash every member of the sets named anew; one line each."""

    def verify(name: str) -> str:
        located = store.verify(name)
        pinned = "verified" if lookup(name).pinned else "the user's own, not pinned"
        return f"{len(located.members)} members {pinned}, digest {located.digest}"

    return _each(arguments.names, verify)


def where_set(arguments: argparse.Namespace) -> int:
    """Print where a set lies, and nothing else."""
    name = arguments.names[0]
    state = store.state(name)
    print(state["where"] or state["why"], file=sys.stdout if state["where"] else sys.stderr)
    return 0 if state["where"] else 1


def card(name: str) -> str:
    """Return everything known about a set, one line each."""
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
        "sources": "; ".join(origin.label for origin in entry.origins) or "none",
        "by hand": entry.how,
    }
    return "\n".join([f"{entry.name}: {entry.title}", *(f"  {key:8} {text}" for key, text in lines.items())])


def status(entry: Dataset, *, path: bool = False) -> str:
    """Return ``yes``, ``no`` or ``corrupt``; with `path` also where it lies, or what is wrong."""
    try:
        located = store.locate(entry.name)
    except CorruptDataError as error:
        return f"corrupt: {error}" if path else "corrupt"
    if located is None:
        return "no"
    return f"yes, {located.path}" if path else "yes"


def _each(names: list[str], act: Callable[[str], str], *, absence_is_failure: bool = True) -> int:
    """Do something with each set; go on past those that cannot be had, a line each, and return the exit code."""
    for name in names:
        lookup(name)  # a misspelt name is told before anything is downloaded
    failed = 0
    for name in names:
        try:
            print(f"{name}: {act(name)}", flush=True)
        except (DataUnavailableError, CorruptDataError) as error:
            failed += absence_is_failure or isinstance(error, CorruptDataError)
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0
