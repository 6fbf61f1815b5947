"""Describe each run of ``runs.yaml`` to Snakemake as a job, execute one, and write how it ended.

`plan` returns what each job depends on, its parameters, and its status file. Snakemake then starts
``python -m compendium.run.job RUN PROFILE``, here or on a cluster. It ends with exit code 0 whenever it has written the
run's status, also if the notebook failed: the other runs and the report go on.
"""

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from compendium.paths import build_dir, data_dir, project_root
from compendium.run import execute, processes, states
from compendium.run.committed import is_current, package_files, versions
from compendium.run.runs import Run, before, read_runs, select
from compendium.run.states import FAILED, NO_DATA, NOT_RUN, OK, RunState


def perform(name: str, profile: str) -> RunState:
    """Execute a run, unless its data are missing or a run that it comes after failed, and write its status."""
    runs = select(read_runs(), (), profile)
    state = hindered(runs[name], runs, profile)
    if state is None:
        state = _executed(runs[name], profile)
    elif state.status != NO_DATA:  # `reproduce` has said which sets are missing
        print(f"{name}: {state.reason}", flush=True)
    states.write_status(name, profile, state)
    return state


def hindered(run: Run, runs: Mapping[str, Run], profile: str) -> RunState | None:
    """Return why a run cannot start, or None. An absent data set is no failure; a corrupt one is."""
    missing = [states.read_data_state(name) for name in run.missing(states.is_present)]
    if broken := [state.reason for state in missing if state.broken]:
        return RunState(FAILED, "; ".join(broken))
    if missing:
        return RunState(NO_DATA, "; ".join(f"{state.name} is not on this machine: {state.how}" for state in missing))
    earlier = {name: states.read_status(name, profile) for name in before(run, runs)}
    # Later runs do without a run whose data set is absent or corrupt.
    absent = [name for name in earlier if runs[name].missing(states.is_present)]
    failed = [name for name, state in earlier.items() if state.status == FAILED and name not in absent]
    causes = {f"{name} failed" for name in failed}
    causes |= {state.reason for state in earlier.values() if state.blocked}
    return RunState(NOT_RUN, "; ".join(sorted(causes))) if causes else None


def _executed(run: Run, profile: str) -> RunState:
    try:
        done = execute.run(run.notebook, run.values(profile), say=partial(print, flush=True))
    except (execute.NotebookFailedError, OSError, ValueError) as error:
        print(f"{run.name}: {error}", flush=True)
        log = states.in_checkout(states.log_file(run.name, profile))
        return RunState(FAILED, getattr(error, "reason", str(error)), log)
    print(f"{run.name}: ok, {done.seconds:.0f} s", flush=True)
    return RunState(OK, outputs=states.outputs(run.name, profile))


if __name__ == "__main__":
    processes.guard()
    try:
        perform(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(processes.INTERRUPTED)


@dataclass(frozen=True)
class Job:
    """A run as Snakemake sees it; paths are relative to the checkout."""

    name: str
    inputs: list[str]
    status: str
    priority: int
    values: str
    local: bool


def plan(profile: str, only: Iterable[str] = ()) -> list[Job]:
    """Return a job for each selected run of a profile, for runs that these come after (see `planned`), and the report.

    A run depends on its notebook, on the package files that it imports, on the papers' printed values, on the state of
    its data sets, on its parameters, on the versions of the packages and on the runs that it comes after. The report
    depends on every status file; those of other runs stay as they are.
    """
    runs = select(read_runs(), (), profile)
    chosen = planned(runs, select(runs, only, profile), profile)
    python = ".".join(platform.python_version_tuple()[:2])  # not its last number
    states.write_if_changed(_versions_file(), versions() | {"python": python})
    told = [name for name in runs if name in chosen or states.status_file(name, profile).is_file()]
    waits = {name: told if runs[name].after_all else before(runs[name], runs) for name in chosen}
    earlier = {name: [each for each in own if each in told] for name, own in waits.items()}
    minutes: dict[str, float] = {}
    for name in reversed(chosen):  # in the file's order, later runs come after earlier ones
        later = [minutes[each] for each in minutes if name in earlier[each]]
        minutes[name] = runs[name].minutes[profile] + max(later, default=0)  # type: ignore[index]
    return [_job(runs[name], earlier[name], minutes[name], profile) for name in chosen]


def planned(runs: Mapping[str, Run], selected: Iterable[str], profile: str | None = None) -> list[str]:
    """Return the names of selected runs, of all runs that they come after, and of the report, in the file's order.

    With the profile ``paper``, a run that others come after is left out if it never ran here and its committed results
    are those of this state of the code: nobody waits for hours to repeat a summary.
    """
    wanted = {*selected, *(name for name, run in runs.items() if run.after_all)}
    found, asked = set(wanted), set(wanted)
    for name in reversed(list(runs)):  # in the file's order, later runs come after earlier ones
        for each in set(before(runs[name], runs)) - asked if name in found else ():
            asked.add(each)
            taken = profile == "paper" and not states.status_file(each, "paper").is_file() and is_current(runs[each])
            found |= set() if taken else {each}
    return [name for name in runs if name in found]


def _job(run: Run, earlier: Iterable[str], minutes: float, profile: str) -> Job:
    """Return the job of a run that comes after some runs; `minutes` pass until the last run after it has ended."""
    waits = [states.data_state_file(name) for name in run.sets]
    waits += [states.status_file(name, profile) for name in earlier if name != run.name]
    return Job(
        name=run.name,
        inputs=[*_code(run.notebook, run.reads), *map(states.in_checkout, waits)],
        status=states.in_checkout(states.status_file(run.name, profile)),
        priority=round(10 * minutes),
        values=json.dumps(run.values(profile), sort_keys=True),
        local=run.after_all or bool(run.missing(states.is_present)),
    )


@cache  # many runs share a notebook
def _code(notebook: Path, sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that any run of a notebook on some data sets depends on."""
    root = project_root()
    ours = package_files(notebook, root / "lib", sets)
    printed = (data_dir() / "paper").rglob("*") if ours else ()
    values = sorted(path for path in printed if path.is_file())
    captions = [path for path in [notebook.parent / "captions" / f"{notebook.stem}.toml"] if path.is_file()]
    return tuple(states.in_checkout(path, root) for path in [notebook, *captions, _versions_file(), *ours, *values])


def _versions_file() -> Path:
    return build_dir() / "packages.json"
