"""Write the page ``data/README.md``: how data sets are found, and a card for each set of the catalogue."""

from sensorprivacy.datasets.catalogue import Dataset, catalogue

_HEAD = """\
# The data

<!-- Written by `sensorprivacy report data` from datasets/catalogue.toml and datasets/cards.py of the package. -->

This repository contains no data set, because each has its own terms of use. `make data` downloads the sets that can be
downloaded. The folder `paper/` contains the values that the papers print, paper 2's sample of twenty rows, and
`ledger.toml`, which explains where our numbers differ from the papers' numbers.

## How a set is found

The package looks in four places, in this order:

1. `data/raw/<folder>/` in this checkout,
2. the mirror, a folder or an address that the environment variable `SENSORPRIVACY_MIRROR` names,
3. the user's cache, which `SENSORPRIVACY_CACHE` moves to another folder,
4. the set's sources on the network.

`make reproduce` remembers the mirror in `build/mirror.txt`, so later shells need no variable. Delete that file to
forget the mirror; set the variable to an empty value to use no mirror once.

The catalogue lists the files of each set with size and SHA-256. It does not matter where a file comes from, and files
inside archives count as well. If a file differs from the catalogue, an error shows the file and both digests. Nothing
replaces such a file silently.

```
sensorprivacy data list             # every set: size, licence, whether it is on this machine
sensorprivacy data list adult       # one set: contents, citation, how to get it
sensorprivacy data where adult      # its path on this machine
sensorprivacy data fetch adult      # download it
sensorprivacy data verify adult     # hash all of its files again
```

The quick profile downloads only sets up to about 30 MB. It uses a larger set if that set is on the machine already.
`make data` and the paper profile download every set. Runs whose data set is unavailable are skipped, and their printed
values get the verdict *no data*.

## Sets that you fetch yourself

**MobiAct**: the owner sends it on request. Ask at the address in its card, and put the folders that you get into
`data/raw/mobiact/`.

**Opportunity** is public, and large. Download the archive that its card names. Put the archive, or its files
`S?-ADL?.dat` and `S?-Drill.dat`, into `data/raw/opportunity/`.

**Your own data** need no entry here. The notebooks' parameter `dataset` takes the path of a CSV or Parquet file.

## The sets
"""


def page() -> str:
    """Return the text of ``data/README.md``."""
    return "\n".join([_HEAD, *map(_card, catalogue().values())]).rstrip() + "\n"


def _card(entry: Dataset) -> str:
    downloads = entry.download_mb and entry.sources
    rows = {
        "name, folder": f"`{entry.name}`, `data/raw/{entry.folder}/`",
        "used for": entry.role,
        "counts": entry.counts,
        "download": f"about {entry.download_mb:g} MB" if downloads else "you fetch it yourself",
        "licence": entry.licence,
        "cite": entry.citation,
        "home": f"<{entry.homepage}>" if entry.homepage else "none",
        "without network": entry.how,
    }
    table = [f"| {key} | {value} |" for key, value in rows.items()]
    return "\n".join([f"### {entry.title}", "", "| | |", "|---|---|", *table, ""])
