"""The data sets as `reproduce` handles them, and the page data/README.md."""

from collections.abc import Callable, Iterable

from sensorprivacy.datasets import store
from sensorprivacy.datasets.catalogue import Dataset, catalogue
from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError
from sensorprivacy.runner.states import DataState

_HEAD = """\
# The data

<!-- Written by `python -m sensorprivacy report data` from datasets/catalogue.toml and supply.py of the package. -->

No data set is part of this repository: each has its own terms, and `make data` fetches those that can be
fetched into the user's cache. What is here is `paper/`: the values that the papers print, among them paper 2's
sample of twenty rows, and `ledger.toml`, where the papers and their numbers part.

## How a set is found

In this order: `data/raw/<folder>/`, the mirror that `SENSORPRIVACY_MIRROR` names (a folder or an address), the
user's cache (`SENSORPRIVACY_CACHE` moves it), then the set's sources on the network. A set *is* its members,
files pinned by their size and SHA-256; where they come from does not matter, and an archive in any of these
places is looked into. A member that is not what the catalogue pins is an error that names file, expected and
found digest; it is never replaced silently.

```
python -m sensorprivacy data list             # every set: size, licence, whether it is on this machine
python -m sensorprivacy data list adult       # one set: what it is, how to cite it, how to get it
python -m sensorprivacy data where adult      # its path on this machine
python -m sensorprivacy data fetch adult
python -m sensorprivacy data verify adult     # hashes every member anew
```

The quick profile downloads no set above about 30 MB; a larger one joins when it is on the machine, after `make
data`, or in the paper profile. The runs of a set that cannot be had are skipped, and its printed values get the
verdict *no data*.

## Sets that you fetch yourself

**MobiAct** is given by its owner on request. Ask at the address in its card, then put the folders as the owner
sends them under `data/raw/mobiact/`.

**Opportunity** is public, and large. Download the archive that its card names and put it, or the files
`S?-ADL?.dat` and `S?-Drill.dat` in it, into `data/raw/opportunity/`.

**Your own data** need no entry here: the notebooks' parameter `dataset` takes the path of a CSV or Parquet
file.

## The sets
"""


def looker(profile: str) -> Callable[[str], DataState]:
    """Return what finds or fetches one data set for `reproduce`.

    Parameters
    ----------
    profile : {"quick", "paper"}
        ``quick`` fetches no set above about 30 MB; one that is on the machine already is used all the same.
    """

    def look(name: str) -> DataState:
        try:
            return DataState(name, digest=store.fetch(name, limit_mb=store.limit_of(profile)).digest)
        except DataUnavailableError as error:
            return DataState(name, reason=str(error), how=store.state(name)["how"])
        except CorruptDataError as error:
            return DataState(name, reason=str(error), broken=True)

    return look


def fetch(names: Iterable[str], say: Callable[[str], None] = print) -> tuple[list[str], list[str]]:
    """Fetch data sets, saying a line for each; return the names of those not to be had, and of the corrupt ones."""
    absent, broken = [], []
    for name in names:
        try:
            say(f"{name}: {store.fetch(name).path}")
        except DataUnavailableError as error:
            say(str(error))
            absent.append(name)
        except CorruptDataError as error:
            say(f"{name}: {error}")
            broken.append(name)
    return absent, broken


def readme() -> str:
    """Return the text of ``data/README.md``: how sets are found, and a card for each set of the catalogue."""
    return "\n".join([_HEAD, *map(_section, catalogue().values())]).rstrip() + "\n"


def _section(entry: Dataset) -> str:
    size = f"about {_size(entry)} MB" if _size(entry) else "you fetch it yourself"
    rows = {
        "name, folder": f"`{entry.name}`, `data/raw/{entry.folder}/`",
        "used for": entry.role,
        "counts": entry.counts,
        "download": size,
        "licence": entry.licence,
        "cite": entry.citation,
        "home": f"<{entry.homepage}>" if entry.homepage else "none",
        "without network": entry.how,
    }
    lines = [
        f"### {entry.title}",
        "",
        "| | |",
        "|---|---|",
        *(f"| {key} | {value} |" for key, value in rows.items()),
        "",
    ]
    return "\n".join(lines)


def _size(entry: Dataset) -> str:
    return f"{entry.download_mb:g}" if entry.download_mb and entry.origins else ""
