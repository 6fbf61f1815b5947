"""What earlier runs left: one of their tables, from every run that has it."""

import json
from fnmatch import fnmatchcase

import pandas as pd

from sensorprivacy.paths import figures_dir
from sensorprivacy.report.provenance import RUN_FILE


def gather(profile: str, runs: str, table: str) -> pd.DataFrame:
    """Return a table of several runs, one below the other.

    Parameters
    ----------
    profile : str
        Whose results: ``figures/`` for ``"paper"``, else ``figures/<profile>/``.
    runs : str
        Names of the runs, ``*`` for any part.
    table : str
        The table's name, as :meth:`.provenance.Run.table` was given it.

    Returns
    -------
    pandas.DataFrame
        Column ``run`` and the table's own; empty where no run has such a table. A file that the run's record does not
        name is passed over.
    """
    parts = []
    for folder in sorted(figures_dir(profile).glob("*")):
        record = folder / RUN_FILE
        if not fnmatchcase(folder.name, runs) or not record.is_file():
            continue
        if f"{table}.csv" in json.loads(record.read_text(encoding="utf-8"))["files"]:
            parts.append(pd.read_csv(folder / f"{table}.csv").assign(run=folder.name))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["run"])
