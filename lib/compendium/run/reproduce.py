"""Run the notebooks that are out of date, go on past a failure, and write the report at the end."""

import csv
import os
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TextIO

import filelock

from compendium.paths import build_dir, figures_dir, mirror_address, project_root, remember_mirror, remembered_mirror
from compendium.run import processes
from compendium.run.executors import left_jobs, variables, words_for
from compendium.run.failures import NO_START, log_times, why
from compendium.run.runs import Run, before, read_runs, select
from compendium.run.states import (
    FAILED,
    NO_DATA,
    NOT_RUN,
    OK,
    TO_RUN,
    DataState,
    RunState,
    in_checkout,
    log_file,
    marker_file,
    outputs,
    read_status,
    touched_since,
    unchanged_runs,
    write_data_state,
    write_status,
)
from compendium.verdicts.words import BASES, HEADLINE
from sensorprivacy.paths import check_writable


class BusyError(RuntimeError):
    """Another process, or a job that an earlier one left, runs notebooks of this checkout."""


class WorkflowError(RuntimeError):
    """Snakemake itself failed, not a run."""


def reproduce(
    profile: str,
    look: Callable[[str], DataState],
    *,
    cores: int = 1,
    only: Iterable[str] = (),
    dry_run: bool = False,
    executor: str | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, RunState]:
    """Bring every run of a profile up to date, then the report, and return how each run ended.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Settings of the runs.
    look : callable
        Finds or fetches a data set; called once for each set that a selected run reads.
    cores : int, default=1
        Number of runs at a time.
    only : iterable of str, optional
        Names of runs, ``*`` for any part; all other runs keep their state. The report always follows.
    dry_run : bool, default=False
        Only list the runs that are out of date.
    executor : str, optional
        Name of a Snakemake executor, such as "slurm": each run becomes a job of the cluster, `cores` of them at a time.
        The checkout must be on a file system that all nodes share.
    say : callable, default=print
        Called with each line meant for the user.

    Returns
    -------
    dict of str to RunState

    Raises
    ------
    BusyError
        If another process runs `reproduce` in this checkout, or jobs of an earlier one still run.
    RunsError
        If ``runs.yaml`` is wrong or has no such run.
    WorkflowError
        If Snakemake fails although no run has failed.
    OSError
        If results cannot be written.
    """
    every = read_runs()
    runs, selected = select(every, (), profile), select(every, only, profile)
    folder = build_dir()
    for results in (folder, figures_dir(profile)):
        check_writable(results)
    try:
        # The operating system releases the lock when the process ends, so an interrupt leaves none behind.
        # Jobs on other machines cannot watch our lifeline; their executor ends them.
        watched = processes.lifeline(folder) if executor is None else nullcontext()
        with filelock.FileLock(folder / "reproduce.lock", timeout=0), watched:
            if left := left_jobs():
                jobs = " ".join(left)
                raise BusyError(f"jobs of an earlier reproduce still run in {project_root()}: wait, or scancel {jobs}")
            _settle_mirror(say)
            log_file("snakemake", profile).unlink(missing_ok=True)
            earlier = log_times(runs, profile)
            places = words_for(executor, cores)
            data = _look_once(selected.values(), look, say)
            if executor is not None and not dry_run:
                log = shlex.quote(str(log_file("snakemake", profile)))
                say(f"runs are jobs of {executor}; follow them with: tail -f {log}")
            states = _run_all(selected, profile, data, places, dry_run, earlier, say)
            return states if dry_run else _report(runs, states, profile, words_for(None, cores), earlier)
    except filelock.Timeout:
        raise BusyError(f"another process runs reproduce in {project_root()}: wait until it has ended") from None


def _settle_mirror(say: Callable[[str], None]) -> None:
    """Remember the mirror for later shells, which may lack the variable; say if a remembered one is gone."""
    remember_mirror()
    remembered = remembered_mirror()
    if remembered and mirror_address() is None and "SENSORPRIVACY_MIRROR" not in os.environ:
        say(f"the data mirror used before is gone: {remembered}; set SENSORPRIVACY_MIRROR, or delete build/mirror.txt")


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
    selected: Mapping[str, Run],
    profile: str,
    data: Mapping[str, DataState],
    places: list[str],
    dry_run: bool,
    earlier: Mapping[str, int],
    say: Callable[[str], None],
) -> dict[str, RunState]:
    """Run all but the report, where their data allow it."""
    last_time = read_status(profile)
    unchanged = unchanged_runs(selected, profile)
    hindered = {run.name: _hindered(run, data) for run in selected.values() if not run.after_all}
    for name, state in hindered.items():
        last = last_time.get(name)
        if state is not None:
            skipped = f"skipped, no data {', '.join(_missing(selected[name], data))}"
            say(f"{name}: {skipped if state.status == NO_DATA else state.reason}")
        # edited or deleted since; a run that ended just before an interruption has new results and no state yet
        changed = (
            last is not None
            and last.status == OK
            and touched_since(name, profile)
            and last.outputs != outputs(name, profile)
        )
        if not dry_run and (state is not None or changed):
            marker_file(name, profile).unlink(missing_ok=True)
    _snakemake([name for name, state in hindered.items() if state is None], profile, places, dry_run)
    return {name: state or _ended(selected[name], profile, earlier, unchanged) for name, state in hindered.items()}


def _report(
    runs: Mapping[str, Run],
    states: Mapping[str, RunState],
    profile: str,
    places: list[str],
    earlier: Mapping[str, int],
) -> dict[str, RunState]:
    """Write how all runs ended, those not selected included, and run the report, which reads it."""
    last_time = read_status(profile)
    tried = _upstream(states, runs)  # Snakemake also runs what a selected run comes after
    ended = {
        name: states.get(name) or _carried(run, last_time.get(name), profile, earlier, tried=name in tried)
        for name, run in runs.items()
        if not run.after_all
    }
    ended = _blocked(ended, runs)
    write_status(profile, ended)
    last = [name for name, run in runs.items() if run.after_all]
    _snakemake(last, profile, places, report_only=True)
    return {**ended, **{name: _ended(runs[name], profile, earlier) for name in last}}


def _upstream(names: Iterable[str], runs: Mapping[str, Run]) -> set[str]:
    """Return the runs that some runs come after, directly or through others."""
    waiting, found = list(names), set[str]()
    while waiting:
        more = set(before(runs[waiting.pop()], runs)) - found
        found |= more
        waiting += more
    return found


def _carried(run: Run, last: RunState | None, profile: str, earlier: Mapping[str, int], *, tried: bool) -> RunState:
    """Return the state of a run that was not selected."""
    finished = marker_file(run.name, profile).is_file()
    if last is None:
        return _ended(run, profile, earlier) if finished else RunState(NOT_RUN, TO_RUN, claims=run.claims)
    changed = tried and finished != (last.status == OK) and last.status != NO_DATA
    return _ended(run, profile, earlier) if changed else last


def _blocked(states: Mapping[str, RunState], runs: Mapping[str, Run]) -> dict[str, RunState]:
    """Return the states, where a run after one that failed did not run, even if it has results of an earlier time."""
    found = dict(states)
    for name, state in states.items():  # in the file's order, in which later runs come after earlier ones
        if state.status not in (OK, FAILED):
            continue
        causes = [each for each in _upstream([name], runs) if each in states and _stops(states[each])]
        if causes and (state.status == OK or state.reason == NO_START):
            found[name] = RunState(NOT_RUN, f"{', '.join(sorted(causes))} failed", claims=state.claims)
    return found


def _stops(state: RunState) -> bool:
    """Return whether the runs after this one wait for it: it was executed and failed."""
    return state.status == FAILED and bool(state.log)


def _hindered(run: Run, data: Mapping[str, DataState]) -> RunState | None:
    """Return why a run cannot start, or None. An absent data set is no failure; a corrupt one is."""
    missing = [data[name] for name in _missing(run, data)]
    broken = [state.reason for state in missing if state.broken]
    if broken:
        return RunState(FAILED, "; ".join(broken), claims=run.claims)
    if missing:
        # The network's messages are left out: they differ from day to day, and the report would change with them.
        reasons = [f"{state.name} is not on this machine: {state.how}" for state in missing]
        return RunState(NO_DATA, "; ".join(reasons), claims=run.claims)
    return None


def _missing(run: Run, data: Mapping[str, DataState]) -> list[str]:
    return run.missing(lambda name: data[name].present)


def _ended(
    run: Run,
    profile: str,
    earlier: Mapping[str, int],
    unchanged: Mapping[str, tuple[float, RunState]] | None = None,
) -> RunState:
    """Return how a run ended. The results of one that did not run again (`unchanged_runs`) are not read again."""
    marker = marker_file(run.name, profile)
    if marker.is_file():
        ended, last = (unchanged or {}).get(run.name, (None, None))
        if last is not None and marker.stat().st_mtime == ended:
            return replace(last, claims=run.claims)
        return RunState(OK, claims=run.claims, outputs=outputs(run.name, profile))
    reason, log = why(run.name, profile, earlier)
    return RunState(FAILED, reason, log, claims=run.claims)


def _snakemake(
    names: Iterable[str], profile: str, places: list[str], dry_run: bool = False, report_only: bool = False
) -> None:
    targets = [in_checkout(marker_file(name, profile)) for name in names]
    if not targets:
        return
    words = [sys.executable, "-m", processes.__name__, "snakemake", *places, "--keep-going"]
    words += ["--rerun-incomplete", "--nolock", "--scheduler", "greedy"]
    words += ["--config", f"profile={profile}", f"report_only={report_only}"]
    words += ["--dry-run", "--quiet", "rules", "host", "progress"] * dry_run
    log = log_file("snakemake", profile)
    log.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    with log.open("a", encoding="utf-8") as stream:
        code = _wait_for([*words, "--", *targets], variables(), stream)
    output = log.read_text(encoding="utf-8").rpartition("Building DAG of jobs")[2]
    if code and "Error in rule" not in output:  # it failed before it started a run
        raise WorkflowError(f"Snakemake failed, see {log}:\n{output[-2000:].strip()}")


def _wait_for(words: list[str], environment: dict[str, str], errors: TextIO) -> int:
    """Run a command to its end and return its exit code; after Ctrl-C, end what it started."""
    with subprocess.Popen(words, cwd=project_root(), env=environment, stderr=errors) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # A terminal interrupts the children as well, and they then end by themselves.
            processes.end_children(patience=10)
            raise


def _is_blocked(state: RunState) -> bool:
    return state.status == NOT_RUN and state.reason not in ("", TO_RUN)


def _tally(rows: list[tuple[str, str]]) -> list[str]:
    """Return the verdicts in words: first those on data, logs and statements, then a line for each basis."""
    words = {basis: Counter(verdict for own, verdict in rows if own == basis) for basis in BASES}
    whole = sum((words[basis] for basis in HEADLINE), Counter[str]())
    parts = {f"verdicts ({', '.join(HEADLINE)})": whole} | {f"  {basis}": found for basis, found in words.items()}
    texts = {name: ", ".join(f"{n} {verdict}" for verdict, n in found.most_common()) for name, found in parts.items()}
    return [f"{name}: {text}" for name, text in texts.items() if text]


def summary(states: Mapping[str, RunState], profile: str) -> str:
    """Return the closing lines: how the runs ended, failures with reasons, verdicts, and where the results are."""
    counts = Counter(state.status for state in states.values())
    ended = ", ".join(f"{counts[status]} {status}" for status in (OK, NO_DATA, FAILED, NOT_RUN) if counts[status])
    lines = [f"{profile} profile, {len(states)} runs: {ended}"]
    for name, state in states.items():
        if state.status == FAILED:
            lines.append(f"  failed: {name}: {state.reason}" + (f" ({state.log})" if state.log else ""))
    lines += [f"  not run: {name}: {state.reason}" for name, state in states.items() if _is_blocked(state)]
    idle = [name for name, state in states.items() if state.status == NOT_RUN and not _is_blocked(state)]
    lines += [f"  not run: {', '.join(idle)}"] if idle else []
    folder = figures_dir(profile)
    verdicts = folder / "verdicts.csv"
    if verdicts.is_file():
        with verdicts.open(encoding="utf-8", newline="") as stream:
            rows = [(row["basis"], row["verdict"]) for row in csv.DictReader(stream)]
        lines += _tally(rows)
    root = project_root()
    lines.append(f"tables and figures: {folder.relative_to(root)}/<run>/")
    lines.append(f"executed notebooks: {(build_dir() / 'executed' / profile).relative_to(root)}/")
    return "\n".join(lines)
