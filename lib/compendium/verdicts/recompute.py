"""Judge all printed values again from the tables that runs have written, without running anything.

A run's verdicts must follow from its own tables. After the ledger or a rule of verdicts has changed, `write` brings
the runs' files up to date; then the notebook 90_replication_report collects them.
"""

import hashlib
import io
import json

import pandas as pd

from compendium.paths import RUN_FILE, VERDICTS_FILE, figures_dir, read_record
from compendium.show.tables import csv_text
from compendium.verdicts import cells
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import COLUMNS, in_paper_order
from sensorprivacy.paths import write_atomically


def recompute(profile: str, run: str) -> pd.DataFrame:
    """Return the verdicts of a run, read again from its tables; see :func:`.cells.judge_run`."""
    tables = cells.tables_of(profile, run)
    missing = tables(cells.MISSING)
    why = {} if missing is None else dict(zip(missing["needs"], missing["why"], strict=True))
    judged = cells.judge_run(run, tables, lambda name: why.get(name, ""), unexplained="allow")
    return in_paper_order(judged)


def judged_runs(profile: str) -> list[str]:
    """Return the runs of a profile that reproduce printed values and have written verdicts."""
    folders = (figures_dir(profile) / str(run) for run in printed_values()["run"].unique())
    return sorted(folder.name for folder in folders if (folder / VERDICTS_FILE).is_file())


def differences(profile: str) -> pd.DataFrame:
    """Return where written verdicts do not follow from the tables of their runs.

    Returns
    -------
    pandas.DataFrame
        Columns file, claim_id, field, written, recomputed: one row for each cell that differs, in the runs' own files
        and in the file of all runs.
    """
    again = {run: _texts(csv_text(recompute(profile, run))) for run in judged_runs(profile)}
    parts = [_differing(f"{run}/{VERDICTS_FILE}", _read(profile, run), frame) for run, frame in again.items()]
    if (figures_dir(profile) / VERDICTS_FILE).is_file():
        whole = _read(profile, "")
        whole = whole[whole["run"].isin(list(again))]
        parts.append(_differing(VERDICTS_FILE, whole, pd.concat([_texts(""), *again.values()])))
    return pd.concat(parts, ignore_index=True)


def _differing(file: str, written: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    one, other = (frame.melt(id_vars="claim_id", var_name="field") for frame in (written, again))
    both = one.merge(other, on=["claim_id", "field"], how="outer", suffixes=("_written", "_again")).fillna("absent")
    both = both[both["value_written"] != both["value_again"]]
    names = {"value_written": "written", "value_again": "recomputed"}
    return both.rename(columns=names).assign(file=file)[["file", "claim_id", "field", "written", "recomputed"]]


def _read(profile: str, run: str) -> pd.DataFrame:
    return _texts((figures_dir(profile) / run / VERDICTS_FILE).read_text(encoding="utf-8"))


def _texts(content: str) -> pd.DataFrame:
    if not content:
        return pd.DataFrame(columns=list(COLUMNS), dtype=str)
    return pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False)


def write(profile: str) -> None:
    """Write the recomputed verdicts of runs to their files, and the files' digests to the runs' records."""
    for run in judged_runs(profile):
        folder = figures_dir(profile) / run
        content = csv_text(recompute(profile, run)).encode()
        record = read_record(profile, run)
        record["files"][VERDICTS_FILE] = hashlib.sha256(content).hexdigest()
        text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        for name, data in ((VERDICTS_FILE, content), (RUN_FILE, text.encode())):
            write_atomically(folder / name, lambda part, data=data: part.write_bytes(data))  # type: ignore[misc]
