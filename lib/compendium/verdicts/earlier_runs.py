"""Read the tables and settings of earlier runs, through the record that each run wrote."""

from fnmatch import fnmatchcase

import pandas as pd

from compendium.paths import RUN_FILE, figures_dir, read_record


def gather(profile: str, runs: str, table: str) -> pd.DataFrame:
    """Return one table of several runs, the runs below each other.

    Parameters
    ----------
    profile : str
        Profile of the runs: ``"paper"`` reads ``figures/``, any other ``figures/<profile>/``.
    runs : str
        Names of the runs; ``*`` matches any text.
    table : str
        Name of the table, as passed to :meth:`.provenance.Run.table`.

    Returns
    -------
    pandas.DataFrame
        The table's columns and ``run``. Empty if no run has such a table. Tables of measured times, in the folder
        ``drawn``, are read, too. A file that is not in its run's record is ignored.
    """
    parts = []
    for folder in sorted(path.parent for path in figures_dir(profile).glob(f"*/{RUN_FILE}")):
        record = read_record(profile, folder.name) if fnmatchcase(folder.name, runs) else {}
        listed = {*record.get("files", ()), *record.get("drawn", ())} & {f"{table}.csv", f"drawn/{table}.csv"}
        parts += [pd.read_csv(folder / name).assign(run=folder.name) for name in listed]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["run"])


def engines(verdicts: pd.DataFrame, profile: str) -> pd.DataFrame:
    """Return the engine that trained the random forests of each run.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`.replication.collect` returns them.
    profile : str
        Profile of the runs.

    Returns
    -------
    pandas.DataFrame
        One row for each run with a choice of engines and at least one verdict other than *no data*, in the order of
        `verdicts`: ``run``, ``judged`` (number of printed values), ``engine``, ``trees``, ``seed``.
    """
    rows = []
    for name, judged in verdicts[verdicts["verdict"] != "no data"].groupby("run", sort=False):
        record = read_record(profile, str(name))
        chosen = record["parameters"]
        if "engine" in chosen:
            rows.append((name, len(judged), chosen["engine"], chosen.get("trees"), record["seed"]))
    return pd.DataFrame(rows, columns=["run", "judged", "engine", "trees", "seed"])
