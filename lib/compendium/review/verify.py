"""Verify that the committed results belong to this state of the code, without running anything."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.book import pages
from compendium.datasets import cards
from compendium.paths import RUN_FILE, VERDICTS_FILE, data_dir, figures_dir, project_root
from compendium.run.dependencies import code_digest
from compendium.run.parameters import ParameterError, complete, read_parameters
from compendium.run.runs import Run, read_runs
from compendium.run.states import data_state_file, json_value, read_data_state
from compendium.verdicts import layout, ledger, recompute, replication
from compendium.verdicts.verdicts import read_verdicts

STALE, WRONG, ABSENT = "stale", "wrong", "absent"
"""Kinds of findings: another state made it; it contradicts its own record; it was never made."""


def verify() -> pd.DataFrame:
    """Compare the committed results with this state of the code, and recompute what follows from their tables.

    Returns
    -------
    pandas.DataFrame
        Columns kind, where, what; one row for each finding, those of runs in the order of ``runs.yaml``. A run is
        *stale* if its code, parameters, packages or data are no longer those that made it. A file is *wrong* if its
        digest is not the recorded one, or if verdicts or pages do not follow from the tables. A run of the profile
        ``paper`` without a record is *absent*.
    """
    found = [finding for run in read_runs().values() if run.runs_in("paper") for finding in _of_run(run)]
    differ = recompute.differences("paper")
    found += [(WRONG, f"figures/{file}", f"{len(own)} cells do not follow") for file, own in differ.groupby("file")]
    for name in ("ledger", "data", "readme", "index", "replication"):
        path, text = document(name)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            found.append((WRONG, path.relative_to(project_root()).as_posix(), "does not follow from the tables"))
    return pd.DataFrame(found, columns=["kind", "where", "what"])


def document(name: str) -> tuple[Path, str]:
    """Return the path of a generated page, and the text that it must have.

    Parameters
    ----------
    name : {"ledger", "data", "readme", "index", "replication"}
        The page: DEVIATIONS.md, data/README.md, README.md, data/paper/index.md or REPLICATION.md.
    """
    root = project_root()
    if name == "index":
        return data_dir() / "paper" / "index.md", layout.index_page()
    if name == "data":
        path = data_dir() / "README.md"
        return path, cards.page(path.read_text(encoding="utf-8"))
    if name == "readme":
        path = root / "README.md"
        return path, pages.readme(path.read_text(encoding="utf-8"))
    verdicts = read_verdicts(figures_dir("paper") / VERDICTS_FILE)
    if name == "ledger":
        return root / "DEVIATIONS.md", ledger.page(verdicts)
    return root / "REPLICATION.md", replication.replication_text(verdicts)


def _of_run(run: Run) -> Iterator[tuple[str, str, str]]:
    folder = figures_dir("paper") / run.name
    if not (folder / RUN_FILE).is_file():
        yield ABSENT, run.name, f"needs {', '.join(run.sets)}" if run.sets else "was never run"
        return
    record = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    for name, digest in record["files"].items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield WRONG, f"figures/{run.name}/{name}", "is missing" if not path.is_file() else "was changed"
    if changed := list(_changes(run, record)):
        yield STALE, run.name, ", ".join(changed)


def _changes(run: Run, record: dict[str, Any]) -> Iterator[str]:
    """Yield what is no longer as it was when the run was made."""
    if record["code"] != code_digest(run.notebook, project_root() / "lib", run.sets):
        yield "code"
    try:
        values = complete(read_parameters(run.notebook), run.values("paper"))
        if record["parameters"] != {name: json_value(name, value) for name, value in values.items()}:
            yield "parameters"
    except ParameterError:
        yield "parameters"
    pins = dict(re.findall(r"^([a-z0-9_-]+)==([^\s;]+)", _lock(), flags=re.MULTILINE))
    found = {name: version.partition("+")[0] for name, version in record["packages"].items()}  # torch: 2.13.0+cpu
    older = [name for name, version in found.items() if pins.get(name, version) != version]
    if older:
        yield f"packages ({', '.join(older)})"
    known = {name: read_data_state(name) for name in record["data"] if data_state_file(name).is_file()}
    if any(state.present and state.digest != record["data"][name] for name, state in known.items()):
        yield "data"


def _lock() -> str:
    return (project_root() / "requirements.lock").read_text(encoding="utf-8")
