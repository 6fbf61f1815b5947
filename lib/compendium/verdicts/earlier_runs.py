"""Read what earlier runs have written: their tables and settings, numbers for texts, and the verdicts again.

Texts quote numbers of committed results, so that no text can have a stale number. ``{RUN/TABLE | ROW | COLUMN | FORM}``
stands for a cell of ``figures/RUN/TABLE.csv``, ``{verdicts | ...}`` for one of ``figures/verdicts.csv``. ROW names the
row as in :mod:`.cells`. Without it, COLUMN is an expression over all rows, of all runs if RUN has a ``*``, as in
`pandas.DataFrame.eval`. FORM says how to write the number: ``.3f`` (a share below 1 begins with its point), ``%``
(whole percents), ``points`` (hundredths, one decimal), ``,`` (a whole number); by default as in the table.

``{=TEXT}`` is TEXT: a number that no run of ours can change, because the paper prints it, or because it follows from
printed numbers or from the data files by the tests that demonstrate an entry.

A run's verdicts must follow from its own tables. After the ledger or a rule of verdicts has changed, `write` brings
the runs' files up to date; then the notebook 90_replication_report collects them.
"""

import hashlib
import io
import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from compendium.paths import RUN_FILE, VERDICTS_FILE, figures_dir
from compendium.show.tables import csv_text
from compendium.verdicts import cells
from compendium.verdicts.cells import row_of, tables_of
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import COLUMNS, in_paper_order
from sensorprivacy.paths import write_atomically


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
        The table's columns and ``run``. Empty if no run has such a table. A file that is not in its run's record is
        ignored.
    """
    parts = []
    for record in sorted(figures_dir(profile).glob(f"*/{RUN_FILE}")):
        folder = record.parent
        if fnmatchcase(folder.name, runs) and f"{table}.csv" in _record(profile, folder.name)["files"]:
            parts.append(pd.read_csv(folder / f"{table}.csv").assign(run=folder.name))
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
        record = _record(profile, str(name))
        chosen = record["parameters"]
        if "engine" in chosen:
            rows.append((name, len(judged), chosen["engine"], chosen.get("trees"), record["seed"]))
    return pd.DataFrame(rows, columns=["run", "judged", "engine", "trees", "seed"])


def _record(profile: str, run: str) -> dict[str, Any]:
    return json.loads((figures_dir(profile) / run / RUN_FILE).read_text(encoding="utf-8"))


REFERENCE = re.compile(r"\{(?:=(?P<own>[^{}]*)|(?P<table>[^{}|]+)\|(?P<rest>[^{}]*))\}")


class QuoteError(LookupError):
    """A text quotes a number that no committed table has."""


def quoted(text: str) -> str:
    """Return a text with the numbers that it quotes from the results in ``figures/``.

    Examples
    --------
    >>> quoted("{=12} attributes: {22_threeway_summary/table-4 | data set=adult | records | ,} rows")
    '12 attributes: 48,842 rows'
    """
    return REFERENCE.sub(_number, text)


def row_in(place: str, where: str) -> dict[str, str]:
    """Return a row of the committed table ``RUN/TABLE``, its cells as text; `where` names it as in :mod:`.cells`.

    Raises
    ------
    QuoteError
        If there is no such table or row.
    """
    run, _, name = place.rpartition("/")
    frame = tables_of("paper", run)(name)
    row = None if frame is None else row_of(frame, where, f"figures/{place}.csv")
    if row is None:
        raise QuoteError(f"figures/{place}.csv has no row {where!r}: correct the reference")
    return row


def cell(place: str, where: str, column: str) -> str:
    """Return a cell of such a row.

    Raises
    ------
    QuoteError
        If there is no such table, row or column.
    """
    row = row_in(place, where)
    if column not in row:
        raise QuoteError(f"figures/{place}.csv has no column {column!r}: correct the reference")
    return row[column]


def _number(match: re.Match[str]) -> str:
    if match["own"] is not None:
        return match["own"]
    place, parts = match["table"].strip(), [part.strip() for part in match["rest"].split("|")]
    where, column, form = [*parts, ""] if len(parts) == 2 else parts
    run, _, name = place.rpartition("/")
    if where:
        return _written(cell(place, where, column), form)
    frame = gather("paper", run, name)
    if frame.empty:
        raise QuoteError(f"{match[0]}: no committed run has the table {place}")
    return _written(frame.eval(column, engine="python"), form)


def _written(value: Any, form: str) -> str:
    if not form:
        return str(value)
    if form in ("%", "points"):
        return f"{100 * float(value):.0f} %" if form == "%" else f"{100 * float(value):.1f}"
    text = format(round(float(value)) if form == "," else float(value), form)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


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
        record = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        record["files"][VERDICTS_FILE] = hashlib.sha256(content).hexdigest()
        text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        for name, data in ((VERDICTS_FILE, content), (RUN_FILE, text.encode())):
            write_atomically(folder / name, lambda part, data=data: part.write_bytes(data))  # type: ignore[misc]
