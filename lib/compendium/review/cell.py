"""Recompute one printed value: ``compendium review 2-T10-r1-utility``."""

import difflib
import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from compendium.paths import MACHINE_FILE, RUN_FILE, VERDICTS_FILE, figures_dir
from compendium.run.job import perform
from compendium.run.parameters import code_cells
from compendium.run.reproduce import Looker, reproduce
from compendium.run.runs import Profile, Run, before, read_runs, select
from compendium.run.states import FAILED, RunState, git, status_file
from compendium.verdicts.layout import ours_text
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import read_verdicts

_Starts = Mapping[str, str]


def _text(
    place: str, code: str, profile: str, row: pd.Series, committed: pd.Series, dated: str, ran: _Starts, kept: _Starts
) -> str:
    """Return what is printed for the reviewer.

    Parameters
    ----------
    place, code : str
        The cell that holds our value: table, row and column; and the notebook's line that makes the table.
    profile : str
        The settings that the value was recomputed with.
    row, committed : pandas.Series
        The recomputed and the committed row of ``verdicts.csv``.
    dated : str
        When the committed tables were made.
    ran, kept : mapping of str to str
        When each run started that was repeated for this value, and each that was up to date.
    """
    table = f"Table {row['table']}" if str(row["table"]).isdigit() else "text"
    computed = "selected from the log" if row["basis"] == "log" else "recomputed"
    first = computed if row["run"] in ran else "kept"
    width = max(len(first), 11)
    lines = [f"{row['claim_id']}: paper {row['paper']}, {table}, row {row['row']!r}, column {row['column']!r}"]
    lines.append(f"printed     {row['printed']}")
    for name, found, settings in ((first, row, profile), ("committed", committed, "paper")):
        about = f"{found['verdict']} (basis {found['basis']}; {settings} profile)"
        lines.append(f"{name:{width}} {_value(found)}  {about}")
    lines.append(f"{'':{width}} from tables of {dated}")
    lines += [f"reason      {row['reason']}"] if row["reason"] else []
    lines += [f"run         {row['run']}", f"cell        {place}", f"code        {code}"]
    lines += [f"repeated    {name}, started {when}" for name, when in ran.items()]
    lines += [f"not run     {name}: up to date since {when}; FORCE=1 repeats it" for name, when in kept.items()]
    return "\n".join(lines)


def _value(row: pd.Series) -> str:
    interval = "" if pd.isna(row["low"]) else f", unit {row['unit']}"
    return (ours_text(row) or "none") + interval


def find(claim: str) -> "pd.Series[str]":
    """Return a printed value with the run and the cell that give ours, as :func:`.printed_values` has it.

    Raises
    ------
    LookupError
        If there is no such value; the message names similar ones.
    """
    values = printed_values()
    known = values["claim_id"]
    if claim not in set(known):
        near = difflib.get_close_matches(claim, known, n=5, cutoff=0.5)
        hint = f"similar: {', '.join(near)}" if near else "figures/verdicts.csv lists all"
        raise LookupError(f"there is no printed value {claim}; {hint}")
    return values[known == claim].iloc[0]


def recompute(claim: str, profile: Profile, cores: int = 1, *, force: bool = False) -> str:
    """Recompute what a printed value needs, and return a text with both values.

    The run that the value's row in ``data/paper/paper-<n>.csv`` names, the runs before it and the report are repeated
    unless they are up to date. Then the cell is read again. A summary of other runs is repeated alone, from their
    committed tables, because these runs take hours.

    Parameters
    ----------
    claim : str
        Id of the value, such as ``2-T10-r1-utility``: paper, table and cell. ``figures/verdicts.csv`` lists all.
    profile : {"quick", "paper"}
        Settings; always "paper" for a summary, as for the tables that it reads. With "paper", the results of runs
        replace the committed ones in ``figures/``.
    cores : int, default=1
        Number of runs at a time.
    force : bool, default=False
        Whether runs that are up to date are repeated, too.

    Raises
    ------
    LookupError
        If there is no such value.
    RunsError
        If its run belongs to the other profile only.
    RuntimeError
        If a run failed.
    """
    value, runs = find(claim), read_runs()
    run = runs[value["run"]]
    profile = "paper" if run.summarizes else profile
    select(runs, [run.name], profile)  # raises if only the other profile has the run
    committed, dated = _row(claim, "paper"), _started(run.name, "paper")
    runs = select(runs, (), profile)
    needed = [run.name, *(() if run.summarizes else before(run, runs))]
    earlier = {each: _started(each, profile) for each in needed}
    ended = _summarize(claim, run, runs) if run.summarizes else _repeat(claim, needed, runs, profile, cores, force)
    lost = [each for each in needed if each in ended and (ended[each].status == FAILED or ended[each].blocked)]
    if lost:
        raise RuntimeError("; ".join(_failure(each, ended[each]) for each in lost))
    now = {each: _started(each, profile) for each in needed}
    kept = {each: when for each, when in now.items() if when == earlier[each]}
    ran = {each: when for each, when in now.items() if each not in kept}
    place = f"{value['our_table']}, {value['where']}, {value['our_column']}"
    code = code_of_table(run.notebook, str(value["our_table"]))
    return _text(place, code, profile, _row(claim, profile, run), committed, dated, ran, kept)


def code_of_table(notebook: Path, tables: str) -> str:
    """Return where a notebook makes the first of some tables: the file, the number of the code cell, and the line."""
    names = [f'"{table.strip().rpartition("/")[2]}"' for table in tables.split("|")]
    words = [*names, "run.verdicts("] if '"statements"' in names else names
    for number, (source, _) in enumerate(code_cells(notebook), 1):
        for line in source.splitlines():
            if any(word in line for word in words):
                return f"notebooks/{notebook.name}, code cell {number}: {line.strip()}"
    return f"notebooks/{notebook.name}"


def _repeat(
    claim: str, needed: list[str], runs: Mapping[str, Run], profile: Profile, cores: int, force: bool
) -> Mapping[str, RunState]:
    """Bring the runs that a value needs up to date, and return how they ended."""
    report = [run.name for run in runs.values() if run.after_all]
    minutes = sum(runs[each].minutes[profile] for each in [*needed, *report])
    about = f"about {minutes:.3g} min on two idle cores"
    print(f"{claim} needs {len(needed)} run(s) and the report, {about}: {', '.join(needed)}")
    for each in needed if force else ():
        status_file(each, profile).unlink(missing_ok=True)
    return reproduce(profile, Looker(), cores=cores, only=needed[:1])


def _summarize(claim: str, run: Run, runs: Mapping[str, Run]) -> Mapping[str, RunState]:
    """Repeat a summary alone, from the committed tables of the runs that it reads, and return how it ended."""
    there = {each: _started(each, "paper") for each in before(run, runs)}
    there = {each: when for each, when in there.items() if (figures_dir("paper") / each / RUN_FILE).is_file()}
    print(f"{claim} needs {run.name} alone: it reads the committed tables of {len(there)} runs")
    for when in dict.fromkeys(there.values()):
        print(f"  of {when}: {', '.join(each for each in there if there[each] == when)}")
    return {run.name: perform(run.name, "paper")}


def _started(run: str, profile: str) -> str:
    """Return when a run last started on this machine; without its record, when its tables were committed."""
    folder = figures_dir(profile) / run
    if (folder / MACHINE_FILE).is_file():
        return str(json.loads((folder / MACHINE_FILE).read_text(encoding="utf-8"))["started"])
    committed = git("log", "-1", "--format=%cs", "--", str(folder))
    return f"an unknown date (committed on {committed})" if committed else "an unknown date"


def _failure(name: str, state: RunState) -> str:
    return f"{name} failed: {state.reason}" + (f" ({state.log})" if state.log else "")


def _row(claim: str, profile: str, run: Run | None = None) -> pd.Series:
    """Return the row of a value in the report; if a summary was repeated alone, in its own verdicts."""
    folder = figures_dir(profile) / (run.name if run and run.summarizes else "")
    verdicts = read_verdicts(folder / VERDICTS_FILE)
    return verdicts[verdicts["claim_id"] == claim].iloc[0]
