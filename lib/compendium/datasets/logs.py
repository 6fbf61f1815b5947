"""The numbers that paper 1's authors printed in their public notebooks: ``data/paper/logs``, verified and compared.

They are facts, like the values that the papers print, so they belong to the checkout and are no data set.
"""

import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import pooch

from compendium.datasets import network
from compendium.datasets.errors import CorruptDataError
from compendium.paths import build_dir, data_dir
from sensorprivacy.paths import listing_digest, part_folder

#: Address of the authors' notebooks, at the commit that the numbers were read from.
NOTEBOOKS = "https://raw.githubusercontent.com/swjz/data-minimization/df8eb8ce63ed341e7af67c7ce3f56765cc271d86/"
_MOST = 64 * 10**6  # bytes of a notebook; their pictures take most of it
_PARTS = r"\[[\d, ]*\]|\d+(?:\.\d+)?(?:e-\d+)?"  # a list of features, or a number

Row = tuple[str, float, float]


def read(name: str) -> bytes:
    """Return a file of ``data/paper/logs``, verified by ``SHA256SUMS`` beside it.

    Parameters
    ----------
    name : str
        For example ``"subsets_iot23.csv"``.

    Returns
    -------
    bytes
        The content.

    Raises
    ------
    CorruptDataError
        If the file is missing or was changed; the message has its path and both digests.
    """
    path = _folder() / name
    expected = sums()[name]
    found = pooch.file_hash(str(path)) if path.is_file() else "no file"
    if found != expected:
        raise CorruptDataError(str(path), f"SHA-256 {expected}", found, "Restore it from the release that you use")
    return path.read_bytes()


def sums() -> dict[str, str]:
    """Return the SHA-256 of each file by its name, as ``SHA256SUMS`` lists them."""
    lines = (_folder() / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def digest() -> str:
    """Return one SHA-256 over all files, for provenance."""
    return listing_digest(sums())


def compare(address: str = NOTEBOOKS) -> list[tuple[str, str, bool]]:
    """Compare the numbers that decide verdicts with the authors' notebooks, and return the result for each notebook.

    These are both accuracies of every subset of features in the search logs, and the accuracies on all features that
    ``protocol.csv`` has with full precision.

    Parameters
    ----------
    address : str
        Address of the folder with the notebooks.

    Returns
    -------
    list of tuple (str, str, bool)
        Notebook, result in words, and whether the notebook has our numbers; sorted by notebook.

    Raises
    ------
    NotThereError
        If the host cannot be reached.
    """
    rows, facts = _logged(), _facts()
    found = []
    with part_folder(build_dir() / "logs") as folder:
        for notebook in sorted({*rows, *facts}):
            try:
                path = network.download(address + notebook, Path(folder, "notebook"), _MOST)
                texts = [_text(cell) for cell in json.loads(path.read_bytes())["cells"]]
            except network.NotThereError as error:
                network.NETWORK.ask(network.host_of(address))  # it may be the host, not the file
                found.append((notebook, f"not compared ({error})", False))
            except (ValueError, KeyError, TypeError):
                found.append((notebook, "not compared (it is no notebook)", False))
            else:
                result = _result(texts, rows[notebook], facts[notebook])
                found.append((notebook, result, result.endswith("equal")))
    return found


def _result(texts: list[str], rows: dict[int, list[Row]], facts: list[float]) -> str:
    """Return in words how the texts of a notebook's cells compare with our rows of each cell, and with facts."""
    lost = []
    for cell, own in rows.items():
        printed = _printed(texts[cell]) if cell < len(texts) else set()
        lost += [row for row in own if row not in printed]
    numbers = {float(part) for part in re.findall(_PARTS, "\n".join(texts)) if part[0] != "["}
    lost += [("all", number, number) for number in facts if number not in numbers]
    count = sum(map(len, rows.values())) + len(facts)
    if not lost:
        return f"{count} equal"
    return f"{len(lost)} of {count} differ, such as {lost[0][1]!r} (features {lost[0][0] or 'none'})"


def _folder() -> Path:
    return data_dir() / "paper" / "logs"


def _table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(read(name).decode().splitlines()))


def _logged() -> dict[str, dict[int, list[Row]]]:
    """Return the rows of the search logs by notebook and cell. An empty source is that of the row above."""
    found: dict[str, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for name in sums():
        source = ""
        for row in _table(name) if name.startswith("subsets_") else []:
            source = row["source"] or source
            notebook, cell = re.findall(r"(\S+\.ipynb) cell (\d+)", source)[0]
            own = re.search(r"\[[\d, ]*\]", source)  # the authors numbered the features of one table differently
            features = _features(own[0]) if own else row["features"]
            found[notebook][int(cell)].append((features, float(row["accuracy"]), float(row["identifiability"])))
    return found


def _facts() -> dict[str, list[float]]:
    """Return the numbers of ``protocol.csv`` with full precision, by notebook."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in _table("protocol.csv"):
        if row["topic"] == "base":
            found[row["where"].split()[0]] += map(float, re.findall(r"\d\.\d{10,}", row["fact"].partition(";")[0]))
    return found


def _features(text: str) -> str:
    return " ".join(re.findall(r"\d+", text))


def _text(cell: dict) -> str:
    """Return the text of a cell's outputs; of a table, the HTML without its tags, because the text breaks its rows."""
    parts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        parts.append(re.sub("<[^>]*>", " ", "".join(data.get("text/html", ""))) or "".join(data.get("text/plain", "")))
        parts.append("".join(output.get("text", "")))
    return "\n".join(parts)


def _printed(text: str) -> set[Row]:
    """Return the subsets that a cell printed: a list of features before both accuracies, or after them and its length.

    Examples
    --------
    >>> sorted(_printed("[0, 4] Source accuracy and threat accuracy: 0.5 0.25 [0.01, 0.8, 0.6, 2, '[1, 3]']"))
    [('0 4', 0.5, 0.25), ('1 3', 0.8, 0.6)]
    """
    parts = re.findall(_PARTS, text)
    found = set()
    for at, part in enumerate(parts):
        if part[0] == "[":
            both = [parts[at + 1 : at + 3], parts[max(at - 3, 0) : max(at - 1, 0)]]
            numbers = [pair for pair in both if len(pair) == 2 and "[" not in "".join(pair)]
            found |= {(_features(part), float(accuracy), float(other)) for accuracy, other in numbers}
    return found
