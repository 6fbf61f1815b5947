"""Recompute one printed value: ``compendium review 2-T10-r1-utility``."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from compendium.paths import MACHINE_FILE, figures_dir
from compendium.run.reproduce import looker, reproduce
from compendium.run.runs import Profile, before, read_runs, select
from compendium.run.states import FAILED, RunState, status_file
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import read_verdicts


@dataclass(frozen=True)
class Cell:
    """A printed value with our committed one, and the one that was recomputed.

    Attributes
    ----------
    committed, recomputed : pandas.Series
        Rows of ``verdicts.csv``.
    run, profile : str
        The run that gives the value, and the settings it was recomputed with.
    place : str
        The cell that holds our value: table, row and column.
    ran, kept : mapping of str to str
        When each run started that was repeated for this value, and each that was up to date.
    """

    committed: pd.Series
    recomputed: pd.Series
    run: str
    profile: str
    place: str
    ran: Mapping[str, str]
    kept: Mapping[str, str]

    def text(self) -> str:
        """Return what is printed for the reviewer."""
        row = self.recomputed
        table = f"Table {row['table']}" if str(row["table"]).isdigit() else "text"
        lines = [f"{row['claim_id']}: paper {row['paper']}, {table}, row {row['row']!r}, column {row['column']!r}"]
        lines.append(f"printed     {row['printed']}")
        first = "recomputed" if self.run in self.ran else "kept"
        for name, found, profile in ((first, row, self.profile), ("committed", self.committed, "paper")):
            about = f"{found['verdict']} (basis {found['basis']}; {profile} profile)"
            lines.append(f"{name:11} {_value(found)}  {about}")
        lines += [f"reason      {row['reason']}"] if row["reason"] else []
        lines += [f"run         {self.run}", f"cell        {self.place}"]
        lines += [f"repeated    {name}, started {when}" for name, when in self.ran.items()]
        again = "FORCE=1 repeats it"
        lines += [f"not run     {name}: up to date since {when}; {again}" for name, when in self.kept.items()]
        return "\n".join(lines)


def _value(row: pd.Series) -> str:
    ours = str(row["ours"]) or "none"
    interval = "" if pd.isna(row["low"]) else f" [{row['low']:.4g}, {row['high']:.4g}], unit {row['unit']}"
    return ours + interval


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


def recompute(claim: str, profile: Profile, cores: int = 1, *, force: bool = False) -> Cell:
    """Recompute what a printed value needs, and return both values.

    The run that the value's row in ``data/paper/paper-<n>.csv`` names, the runs before it and the report are repeated
    unless they are up to date. Then the cell is read again.

    Parameters
    ----------
    claim : str
        Id of the value, such as ``2-T10-r1-utility``: paper, table and cell. ``figures/verdicts.csv`` lists all.
    profile : {"quick", "paper"}
        Settings. With "paper", the results of runs replace the committed ones in ``figures/``.
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
    value, runs = find(claim), select(read_runs(), (), profile)
    name, place = value["run"], f"{value['our_table']}, {value['where']}, {value['our_column']}"
    select(read_runs(), [name], profile)  # raises if only the other profile has the run
    committed = _row(claim, "paper")
    needed = [name, *before(runs[name], runs)]
    report = [run.name for run in runs.values() if run.after_all]
    minutes = sum(runs[each].minutes[profile] for each in [*needed, *report])
    about = f"about {minutes:.3g} min on two idle cores"
    print(f"{claim} needs {len(needed)} run(s) and the report, {about}: {', '.join(needed)}")
    earlier = {each: _started(each, profile) for each in needed}
    for each in needed if force else ():
        status_file(each, profile).unlink(missing_ok=True)
    ended = reproduce(profile, looker(profile), cores=cores, only=[name])
    if failed := [_failure(each, ended[each]) for each in needed if each in ended and ended[each].status == FAILED]:
        raise RuntimeError("; ".join(failed))
    now = {each: _started(each, profile) for each in needed}
    kept = {each: when for each, when in now.items() if when == earlier[each]}
    ran = {each: when for each, when in now.items() if each not in kept}
    return Cell(committed, _row(claim, profile), name, profile, place, ran, kept)


def _started(run: str, profile: str) -> str:
    """Return when a run last started on this machine; without its record, that it is not known."""
    path = figures_dir(profile) / run / MACHINE_FILE
    return str(json.loads(path.read_text(encoding="utf-8"))["started"]) if path.is_file() else "an unknown time"


def _failure(name: str, state: RunState) -> str:
    return f"{name} failed: {state.reason}" + (f" ({state.log})" if state.log else "")


def _row(claim: str, profile: str) -> pd.Series:
    verdicts = read_verdicts(figures_dir(profile) / "verdicts.csv")
    return verdicts[verdicts["claim_id"] == claim].iloc[0]
