"""The commands ``compendium data list | fetch | verify | where | logs``."""

import logging
import sys
from collections.abc import Callable, Sequence

import click

from compendium.datasets import logs, store
from compendium.datasets.catalogue import Dataset, catalogue, lookup
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.datasets.network import NotThereError
from compendium.paths import command


@click.group()
def data() -> None:
    """List, fetch and verify the data sets.

    A set is searched for in data/raw/<folder>/, in the mirror (SENSORPRIVACY_MIRROR, a folder or an address), in the
    user's cache (SENSORPRIVACY_CACHE), and then on the network. Every file is verified by its SHA-256. A corrupt file
    is reported and never replaced.
    """


@data.command("list")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def list_sets(names: Sequence[str]) -> None:
    """List every set: whether it is on this machine, size, licence and use; or the named sets with all details."""
    if names:
        print("\n\n".join(map(card, names)))
        return
    for entry in catalogue().values():
        download = f"{entry.download_mb:g} MB" if entry.origins else "by hand"
        print(f"{entry.name:20} {status(entry):8} {download:>9}  {entry.role}; {entry.licence}")
    print(f"\nThe counts, the citation, the origins and how to get a set: {command('data list adult')}")


@data.command("fetch")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Fetch every set; a set that is unavailable is no error.")
def fetch_sets(names: Sequence[str], every: bool) -> int:
    """Fetch sets to this machine; exit code 1 if a set is unavailable."""
    if not names and not every:
        raise ValueError(f"name data sets or give --all; for their names: {command('data list')}")
    return _each(
        store.names() if every else names, lambda name: str(store.fetch(name).path), absence_is_failure=not every
    )


@data.command("verify")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def verify_sets(names: Sequence[str]) -> int:
    """Hash every file of sets again; exit code 1 if a set is missing or corrupt."""

    def verify(name: str) -> str:
        located = store.verify(name)
        pinned = "verified" if lookup(name).pinned else "of your own copy, not pinned"
        return f"{len(located.members)} members {pinned}, digest {located.digest}"

    return _each(names, verify)


@data.command("where")
@click.argument("name")
def where_set(name: str) -> int:
    """Print the path of a set on this machine; exit code 1 if the set is missing."""
    state = store.state(name)
    print(state["where"] or state["why"], file=sys.stdout if state["where"] else sys.stderr)
    return 0 if state["where"] else 1


@data.command("logs")
@click.option("--check", is_flag=True, help="Compare them with the authors' notebooks; exit code 1 if they differ.")
def published_logs(check: bool) -> int:
    """Verify the numbers that paper 1's authors printed in their public notebooks (data/paper/logs)."""
    for name in logs.sums():
        logs.read(name)
    print(f"{len(logs.sums())} files of data/paper/logs verified, digest {logs.digest()}")
    if not check:
        return 0
    logging.disable(logging.WARNING)  # an unreachable host is one line here, and no data set is missing
    try:
        compared = logs.compare()
    except NotThereError as error:
        print(f"the authors' notebooks: not compared ({error})")
        return 0
    finally:
        logging.disable(logging.NOTSET)
    for notebook, result, _ in compared:
        print(f"{notebook}: {result}")
    return int(not all(equal for *_, equal in compared))


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


def _each(names: Sequence[str], act: Callable[[str], str], *, absence_is_failure: bool = True) -> int:
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
