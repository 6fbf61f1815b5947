"""Which engine trained the forests behind each run's numbers.

Not part of what the package imports for every notebook: only the report on all runs asks this.
"""

import json
from pathlib import Path

import pandas as pd

from sensorprivacy.paths import figures_dir
from sensorprivacy.report import tables
from sensorprivacy.report.provenance import RUN_FILE, write_atomically
from sensorprivacy.report.replication import NO_DATA

CAPTION = "What trained the forests behind the searches and sweeps of each run"


def engines(verdicts: pd.DataFrame, profile: str) -> pd.DataFrame:
    """Return which engine trained the forests of each run that has judged something, as its ``run.json`` records it.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`.replication.collect` returns them.
    profile : str
        Whose results they are.

    Returns
    -------
    pandas.DataFrame
        One row a run that had a choice of engines, in the order of `verdicts`: ``run``, ``judged`` (printed values),
        ``engine``, ``trees``, ``seed``.
    """
    rows = []
    for name, judged in verdicts[verdicts["verdict"] != NO_DATA].groupby("run", sort=False):
        record = json.loads((figures_dir(profile) / str(name) / RUN_FILE).read_text(encoding="utf-8"))
        chosen = record["parameters"]
        if "engine" in chosen:
            rows.append((name, len(judged), chosen["engine"], chosen.get("trees"), record["seed"]))
    return pd.DataFrame(rows, columns=["run", "judged", "engine", "trees", "seed"])


def add_engines(path: Path, trained: pd.DataFrame) -> None:
    """Add a section on the engines to the page ``REPLICATION.md``; none where no run had a choice.

    Parameters
    ----------
    path : pathlib.Path
        The page as :func:`.replication.write_replication` has just written it.
    trained : pandas.DataFrame
        As :func:`engines` returns it.
    """
    if trained.empty:
        return
    lines = [
        path.read_text(encoding="utf-8"),
        "## Engines",
        "",
        f"{CAPTION}. `shared` is this library's own forest, `sklearn` is scikit-learn's; how far they agree is "
        "measured in `bench/results/forest_agreement.md`. Whatever the engine, scikit-learn plays the game on all "
        'features (the column "SOTA" of paper 1\'s Table 2, except for IoT-23) and scores features. Summaries take '
        "their numbers from these runs.",
        "",
        tables.markdown_text(trained),
    ]
    write_atomically(path, ("\n".join(lines).rstrip() + "\n").encode())
