"""Run the notebooks that are out of date, go on past a failure, and write the report at the end."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import filelock

from compendium import paths
from compendium.datasets import store
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.paths import build_dir, figures_dir, output_root, project_root
from compendium.run import processes, states
from compendium.run.cluster import left_jobs, variables, why, words_for
from compendium.run.job import hindered, planned
from compendium.run.runs import Run, before, last_states, read_runs, select
from compendium.run.screen import absences, some
from compendium.run.states import FAILED, DataState, RunState
from sensorprivacy.paths import check_writable


class BusyError(RuntimeError):
    """Another process, or a job that an earlier one left, runs notebooks of this checkout."""


class WorkflowError(RuntimeError):
    """Snakemake itself failed, not a run."""


@dataclass(frozen=True)
class Looker:
    """Find or fetch the data sets of `reproduce`.

    Parameters
    ----------
    download : bool, default=True
        False to use only the sets that are on this machine.
    """

    download: bool = True

    def __call__(self, name: str) -> DataState:
        """Return the state of a set, after the download of a missing one."""
        try:
            return DataState(name, digest=store.fetch(name, download=self.download).digest)
        except DataUnavailableError as error:
            return DataState(name, reason=str(error), how=store.state(name)["how"])
        except CorruptDataError as error:
            return DataState(name, reason=str(error), broken=True)

    def announcement(self, names: Sequence[str]) -> str:
        """Return one line about what will be downloaded, and how to decline it; or no text."""
        said = store.announcement(names) if self.download else ""
        return said and f"{said} (make reproduce DATA=no, or --no-data, downloads nothing)"


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
    runs = select(read_runs(), (), profile)
    names = planned(runs, select(read_runs(), only := list(only), profile), profile)
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
            log = states.log_file("snakemake", profile)
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("", encoding="utf-8")
            started, places = log.stat().st_mtime_ns, words_for(executor, cores)
            if taken := {each for name in names for each in before(runs[name], runs)}.difference(names):
                say(f"not repeated, because figures/ has their current results: {some(sorted(taken))}")
            _look_once([runs[name] for name in names], look, say)
            if executor is not None and not dry_run:
                say(f"runs are jobs of {executor}; follow them with: tail -f {shlex.quote(str(log))}")
            again = [name for name in names if not states.is_settled(name, profile)]
            _snakemake(names, profile, only, places, again=again, dry_run=dry_run)
            if not dry_run and (lost := [name for name in names if not states.status_file(name, profile).is_file()]):
                _settle(lost, runs, profile, started, words_for(None, cores))
            return {} if dry_run else last_states(profile)
    except filelock.Timeout:
        raise BusyError(f"another process runs reproduce in {project_root()}: wait until it has ended") from None


def _settle_mirror(say: Callable[[str], None]) -> None:
    """Remember the mirror for later shells, which may lack the variable; say if a remembered one is gone."""
    paths.remember_mirror()
    remembered = paths.remembered_mirror()
    if remembered and paths.mirror_address() is None and "SENSORPRIVACY_MIRROR" not in os.environ:
        say(f"the data mirror used before is gone: {remembered}; set SENSORPRIVACY_MIRROR, or delete build/mirror.txt")


def _look_once(runs: Iterable[Run], look: Callable[[str], DataState], say: Callable[[str], None]) -> None:
    names = list(dict.fromkeys(name for run in runs for name in run.sets))
    if isinstance(look, Looker) and (announced := look.announcement(names)):
        say(announced)
    found = [look(name) for name in names]
    for state in found:
        states.write_data_state(state)
    for line in absences(state for state in found if not (state.present or state.broken)):
        say(line)


def _settle(lost: list[str], runs: Mapping[str, Run], profile: str, started: int, here: list[str]) -> None:
    """Write the status of runs that were ended from outside before they could, and of those after them; then report."""
    for name in lost:  # in the file's order, in which the report is the last
        if runs[name].after_all:
            _snakemake([name], profile, [name], here)
        if not states.status_file(name, profile).is_file():
            waits = None if runs[name].after_all else hindered(runs[name], runs, profile)
            states.write_status(name, profile, waits or RunState(FAILED, *why(name, profile, started)))


def _snakemake(
    names: list[str], profile: str, only: list[str], places: list[str], again: Iterable[str] = (), dry_run: bool = False
) -> None:
    """Let Snakemake run what is out of date, and some runs `again`."""
    words = [sys.executable, "-m", processes.__name__, "snakemake", *places, "--keep-going"]
    # Without --keep-incomplete, a Snakemake that outlives kill -9 deletes the status that a later one has written.
    words += ["--rerun-incomplete", "--keep-incomplete", "--nolock", "--scheduler", "greedy"]
    words += ["--snakefile", str(project_root() / "Snakefile")]
    words += ["--config", f"profile={profile}", f"only={json.dumps(only)}"]
    words += ["--forcerun", *again] if again else []
    words += ["--dry-run", "--quiet", "rules", "host", "progress"] * dry_run
    log = states.log_file("snakemake", profile)
    sys.stdout.flush()
    with log.open("a", encoding="utf-8") as stream:
        words += ["--", *(states.in_checkout(states.status_file(name, profile)) for name in names)]
        with subprocess.Popen(words, cwd=output_root(), env=variables(), stderr=stream) as child:
            try:
                code = child.wait()
            except KeyboardInterrupt:
                # A terminal interrupts the children as well, and they then end by themselves.
                processes.end_children(patience=10)
                raise
    output = log.read_text(encoding="utf-8").rpartition("Building DAG of jobs")[2]
    if code and "Error in rule" not in output:  # it failed before it started a run
        raise WorkflowError(f"Snakemake failed, see {log}:\n{output[-2000:].strip()}")
