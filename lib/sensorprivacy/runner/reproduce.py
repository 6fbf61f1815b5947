"""``reproduce``: look for the data once, run what is out of date, go on past a failure, report at the end."""

import csv
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

import filelock

from sensorprivacy.paths import build_dir, figures_dir, project_root
from sensorprivacy.runner.runs import Run, read_runs, select
from sensorprivacy.runner.states import (
    FAILED,
    NO_DATA,
    NOT_RUN,
    OK,
    DataState,
    RunState,
    in_checkout,
    log_file,
    marker_file,
    outputs,
    read_status,
    write_data_state,
    write_status,
)

# Runs stand side by side: threads that wait by spinning would only take each other's cores.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


class BusyError(RuntimeError):
    """Another process is reproducing in this checkout."""


class WorkflowError(RuntimeError):
    """Snakemake itself failed, not a run."""


def reproduce(
    profile: str,
    look: Callable[[str], DataState],
    *,
    cores: int = 1,
    only: Iterable[str] = (),
    dry_run: bool = False,
    say: Callable[[str], None] = print,
) -> dict[str, RunState]:
    """Bring every run of a profile up to date, then the report, and return how each run ended.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Which of the runs' settings.
    look : callable
        Finds or fetches a data set; called once for each that a wanted run reads.
    cores : int, default=1
        How many runs at a time.
    only : iterable of str, optional
        Names of runs, ``*`` for any part; the others keep the state they had. The report always follows.
    dry_run : bool, default=False
        Only say which runs are out of date.
    say : callable, default=print
        Takes each line meant for the user.

    Returns
    -------
    dict of str to RunState

    Raises
    ------
    BusyError
        If another process is at it in this checkout.
    RunsError
        If ``runs.yaml`` is wrong or names no such run.
    WorkflowError
        If Snakemake fails without any run having failed.
    """
    runs = read_runs()
    wanted = select(runs, only)
    folder = build_dir()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # The system's own lock: it goes with the process, however that ends, so an interrupt leaves none behind.
        with filelock.FileLock(folder / "reproduce.lock", timeout=0):
            log_file("snakemake", profile).unlink(missing_ok=True)
            data = _look_once(wanted.values(), look, say)
            states = _run_all(wanted, profile, data, cores, dry_run, say)
            return states if dry_run else _report(runs, states, profile, cores)
    except filelock.Timeout:
        raise BusyError(f"another process is reproducing in {project_root()}: let it end first") from None


def _look_once(
    runs: Iterable[Run], look: Callable[[str], DataState], say: Callable[[str], None]
) -> dict[str, DataState]:
    states = {name: look(name) for name in dict.fromkeys(name for run in runs for name in run.sets)}
    for state in states.values():
        write_data_state(state)
        if not (state.present or state.broken):
            say(f"no data: {state.reason}")
    return states


def _run_all(
    wanted: Mapping[str, Run],
    profile: str,
    data: Mapping[str, DataState],
    cores: int,
    dry_run: bool,
    say: Callable[[str], None],
) -> dict[str, RunState]:
    """Run all but the report, where their data allow it."""
    before = read_status(profile)
    first = [run for run in wanted.values() if not run.after_all]
    states = {run.name: _hindered(run, data) for run in first}
    ready = [name for name, state in states.items() if state is None]
    for name, state in states.items():
        last = before.get(name)
        changed = last is not None and last.status == OK and last.outputs != outputs(name, profile)
        if state is not None and state.status == NO_DATA:
            say(f"{name}: skipped, no data {', '.join(_missing(wanted[name], data))}")
        elif state is not None:
            say(f"{name}: {state.reason}")
        if not dry_run and (state is not None or changed):  # changed: what it left was edited or deleted since
            marker_file(name, profile).unlink(missing_ok=True)
    _snakemake(ready, profile, cores, dry_run)
    return {name: state or _ended(wanted[name], profile) for name, state in states.items()}


def _report(runs: Mapping[str, Run], states: Mapping[str, RunState], profile: str, cores: int) -> dict[str, RunState]:
    """Tell the report how the runs ended, the ones not wanted this time included, and run it."""
    before = read_status(profile)
    said = {
        name: states.get(name) or before.get(name) or RunState(NOT_RUN, "make reproduce", claims=run.claims)
        for name, run in runs.items()
        if not run.after_all
    }
    write_status(profile, said)
    last = [name for name, run in runs.items() if run.after_all]
    _snakemake(last, profile, cores)
    return {**said, **{name: _ended(runs[name], profile) for name in last}}


def _hindered(run: Run, data: Mapping[str, DataState]) -> RunState | None:
    """Return why a run cannot start, or None: a set is absent, which is no failure, or corrupt, which is one."""
    missing = [data[name] for name in _missing(run, data)]
    broken = [state.reason for state in missing if state.broken]
    if broken:
        return RunState(FAILED, "; ".join(broken), claims=run.claims)
    if missing:
        # Told without what was tried and how that failed, so that a report of it does not change from day to day.
        reasons = [f"{state.name} is not on this machine: {state.how}" for state in missing]
        return RunState(NO_DATA, "; ".join(reasons), claims=run.claims)
    return None


def _missing(run: Run, data: Mapping[str, DataState]) -> list[str]:
    return run.missing(lambda name: data[name].present)


def _ended(run: Run, profile: str) -> RunState:
    if marker_file(run.name, profile).is_file():
        return RunState(OK, claims=run.claims, outputs=outputs(run.name, profile))
    log = log_file(run.name, profile)
    where = in_checkout(log) if log.is_file() else ""
    return RunState(FAILED, _last_error(log), where, claims=run.claims)


def _last_error(log: Path) -> str:
    """Return the last line of a failed run's log: the error's own."""
    lines = log.read_text(encoding="utf-8").strip().splitlines() if log.is_file() else []
    return lines[-1][:200] if lines else "it did not start"


def _snakemake(names: Iterable[str], profile: str, cores: int, dry_run: bool = False) -> None:
    targets = [in_checkout(marker_file(name, profile)) for name in names]
    if not targets:
        return
    words = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock"]
    words += ["--scheduler", "greedy", "--config", f"profile={profile}"]
    words += ["--dry-run", "--quiet", "rules", "host", "progress"] * dry_run
    # The jobs say `python`, so that their command does not change with the place of the environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    log = log_file("snakemake", profile)
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    with log.open("a", encoding="utf-8") as stream:
        code = _wait_for([*words, "--", *targets], {**ONE_THREAD, **os.environ, "PATH": path}, stream)
    said = log.read_text(encoding="utf-8").rpartition("Building DAG of jobs")[2]
    if code and "Error in rule" not in said:  # it never came to running anything
        raise WorkflowError(f"Snakemake failed, see {log}:\n{said[-2000:].strip()}")


def _wait_for(words: list[str], environment: dict[str, str], errors: TextIO) -> int:
    """Run a command to its end and return its exit code; after Ctrl-C, let it end its jobs in its own way first."""
    with subprocess.Popen(words, cwd=project_root(), env=environment, stderr=errors) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.wait(timeout=60)
            raise


def summary(states: Mapping[str, RunState], profile: str) -> str:
    """Return the closing lines: how many runs ended how, which failed and why, verdicts, where results lie."""
    counts = Counter(state.status for state in states.values())
    said = ", ".join(f"{counts[status]} {status}" for status in (OK, NO_DATA, FAILED, NOT_RUN) if counts[status])
    lines = [f"{profile} profile, {len(states)} runs: {said}"]
    for name, state in states.items():
        if state.status == FAILED:
            lines.append(f"  failed: {name}: {state.reason}" + (f" ({state.log})" if state.log else ""))
    folder = figures_dir(profile)
    verdicts = folder / "verdicts.csv"
    if verdicts.is_file():
        with verdicts.open(encoding="utf-8", newline="") as stream:
            found = Counter(row["verdict"] for row in csv.DictReader(stream))
        lines.append("verdicts: " + ", ".join(f"{number} {verdict}" for verdict, number in found.most_common()))
    root = project_root()
    lines.append(f"tables and figures: {folder.relative_to(root)}/<run>/")
    lines.append(f"executed notebooks: {(build_dir() / 'executed' / profile).relative_to(root)}/")
    return "\n".join(lines)
