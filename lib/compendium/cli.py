"""The command line ``compendium``, also called as ``python -m compendium``."""

import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from compendium.datasets.cli import data
from compendium.run.processes import INTERRUPTED, end_with_make
from compendium.run.runs import PROFILES, Profile
from sensorprivacy import __version__
from sensorrelease.printing import steadily

INSTALL = f"{shlex.quote(sys.executable)} -m pip install -r requirements-dev.lock"
FILE, COUNT = click.Path(path_type=Path), click.IntRange(1, 100_000)
PROFILE = click.option("--profile", type=click.Choice(PROFILES), default="quick", help="Settings of the runs (quick).")
CORES = click.option("--cores", type=COUNT, default=os.cpu_count() or 1, help="Number of runs at a time.")
RUNS = click.argument("runs", nargs=-1, metavar="[RUN]...")
OUT = click.option("--out", type=FILE, metavar="FOLDER", help="Folder to write.")

# Each command imports what it needs when it runs, so that wrong words are refused without waiting for pandas.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 after a failure, 2 for wrong words, 130 after an interrupt."""
    return steadily(lambda: _run(sys.argv[1:] if argv is None else list(argv)), shown=False)


def _run(words: list[str]) -> int:
    if wrong := [word for word in words if "\0" in word]:
        print(f"error: {wrong[0]!r} has a null byte, which no path and no name has", file=sys.stderr)
        return 2
    try:
        return compendium.main(words, prog_name="compendium", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        print(f"interrupted{'; finished runs are kept' * (words[0] == 'reproduce')}", file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(("compendium", "sensor")):
            raise
        print(f"error: this needs {error.name}, which is not installed: {INSTALL}", file=sys.stderr)
        return 1
    except (LookupError, OSError, ValueError, RuntimeError) as error:
        # Our own errors explain themselves. SENSORPRIVACY_DEBUG shows the traceback of the others.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


@click.group(no_args_is_help=True)
@click.version_option(__version__, message="%(version)s")
def compendium() -> None:
    """Replicate, audit and extend three papers on the privacy of sensor data."""
    end_with_make()


compendium.add_command(data)


@compendium.command()
@click.argument("notebook", type=FILE)
@click.option("-p", "parameters", nargs=2, multiple=True, metavar="NAME VALUE", help="A parameter and its value.")
@click.option("--show", is_flag=True, help="Show the notebook's parameters and run nothing.")
@click.option("-o", "--output", type=FILE, help="File for the executed notebook (build/executed/<run>.ipynb).")
@click.option("--log", type=FILE, help="File for the notebook's printed output (build/logs/<run>.log).")
def run(notebook: Path, parameters: Sequence[tuple[str, str]], show: bool, **files: Path | None) -> int:
    """Execute a notebook with checked parameters."""
    from compendium.run import execute, processes
    from compendium.run.parameters import describe, read_parameters

    if show:
        print(describe(read_parameters(notebook)))
        return 0
    processes.guard()
    try:
        done = execute.run(notebook, dict(parameters), say=partial(print, flush=True), **files)
    except execute.NotebookFailedError as error:
        print(f"{notebook.stem}: {error}", file=sys.stderr)
        return 1
    print(f"notebook: {done.output}\nlog: {done.log}", flush=True)
    if done.results.is_dir():
        print(f"results: {done.results}", flush=True)
    return 0


@compendium.command()
@PROFILE
@CORES
@RUNS
@click.option("--dry-run", is_flag=True, help="List the runs that are out of date and run nothing.")
@click.option("--no-data", is_flag=True, help="Download no data set; runs without theirs are skipped.")
@click.option("--executor", metavar="NAME", help="Run as jobs of a cluster, --cores at a time, such as slurm.")
@click.option("--list", "listed", is_flag=True, help="List all runs with their minutes and run nothing.")
def reproduce(profile: Profile, runs: Sequence[str], no_data: bool, listed: bool, **how: Any) -> int:
    """Run every notebook that is out of date, then the report. Download the data sets that they need.

    With names of runs, only these; * stands for any part. Runs whose results they read are repeated only if those are
    out of date.
    """
    from compendium.run.runs import read_runs, select

    selected = select(read_runs(), runs, profile)
    if listed:
        for one in selected.values():
            print(f"{one.name:36} {one.minutes[profile]:5g} min  {one.about}")
        return 0
    from compendium.run import processes
    from compendium.run import reproduce as batch
    from compendium.run.screen import summary
    from compendium.run.states import FAILED

    processes.guard()
    look = batch.Looker(download=not (no_data or how["dry_run"]))
    ended = batch.reproduce(profile, look, only=runs, **how)
    if not how["dry_run"]:
        from compendium.book.overview import write_overview  # here, because it imports pandas

        print(f"\n{summary(ended, profile, write_overview(ended, profile))}")
    return int(any(state.status == FAILED for state in ended.values()))


@compendium.command()
@click.argument("what", type=click.Choice(["ledger", "data", "readme", "index", "verdicts"]))
@click.option("--profile", type=click.Choice(PROFILES), default="paper", help="Verdicts of these runs (paper).")
def report(what: str, profile: Profile) -> int:
    """Write a page again, or the verdicts from the runs' tables.

    WHAT is ledger (DEVIATIONS.md), data (data/README.md), readme (the findings of README.md), index
    (data/paper/index.md) or verdicts (those of all runs).
    """
    from compendium.review.verify import document
    from compendium.verdicts import recompute
    from sensorprivacy.paths import write_atomically

    if what != "verdicts":
        path, text = document(what)
        write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
        print(path)
        return 0
    differ = recompute.differences(profile)
    if len(differ):
        print(differ.to_string(index=False))
    recompute.write(profile)
    print(f"{len(recompute.judged_runs(profile))} runs, {len(differ)} cells of their verdicts differed")
    return 0


@compendium.command()
def verify() -> int:
    """Verify that every committed result belongs to this state of the code, without running anything.

    It states for each run whether this code computed its results, whether replay carried them over, or whether they are
    stale. The exit code is 1 if a file or a page does not follow from its record, or if a run is stale: other code,
    parameters, packages or data made its results.
    """
    from compendium.review import verify
    from compendium.run.committed import ABSENT, CARRIED, COMPUTED, STALE, WRONG

    kinds = []
    for one in verify.verify().itertuples():
        print(f"{one.kind:12} {one.where}: {one.what}")
        kinds.append(one.kind)
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in (WRONG, STALE, COMPUTED, CARRIED))
    print(f"{counts}, {kinds.count(ABSENT)} runs without results")
    return int(WRONG in kinds or STALE in kinds)


@compendium.command()
@CORES
@RUNS
@click.option("--against", metavar="COMMIT", help="Compare with the code of this commit, byte for byte.")
@click.option("--code", metavar="COMMIT", help="Replay this commit, not the code of today; nothing carries over.")
@click.option("--all", "every", is_flag=True, help="Replay also runs whose code is the same in both states.")
def replay(cores: int, runs: Sequence[str], against: str | None, code: str | None, every: bool) -> int:
    """Replay runs of the paper profile with tiny settings, to show that a change of the code changes no result.

    With --against, runs whose files are the same with the code of a commit and with that of today carry over: `verify`
    then calls their committed results current. With names of runs, only these; * stands for any part.
    """
    from compendium.datasets import store
    from compendium.run import processes
    from compendium.run import replay as replaying
    from compendium.run.runs import read_runs, select

    processes.guard()
    chosen = [run for run in select(read_runs(), runs, "paper").values() if not run.missing(store.available)]
    options: dict[str, Any] = {"code": code, "cores": cores, "every": every}
    ended = replaying.replay(chosen, against, say=lambda one: click.echo(one.text()), **options)
    joined, failed = sum(one.joined for one in ended), sum(one.kind == replaying.FAILED for one in ended)
    minutes = sum(one.seconds for one in ended) / 60
    print(f"{len(ended)} runs, {minutes:.1f} minutes of one core: {joined} carried over, {failed} failed")
    return int(failed > 0)


@compendium.command()
@OUT
def archive(out: Path | None) -> int:
    """Pack sources, results, environment and licences into one file, described by an RO-Crate."""
    from compendium.review.pack import write_archive

    path = write_archive(out)
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB")
    return 0


@compendium.command()
@click.argument("cell", required=False)
@PROFILE
@CORES
@OUT
@click.option("--force", is_flag=True, help="Repeat runs that are up to date, too.")
def review(cell: str | None, profile: Profile, cores: int, out: Path | None, force: bool) -> int:
    """Recompute one printed value, or pack the compendium for a review.

    With CELL, such as 2-T10-r1-utility, recompute that value and show both and what ran. Without, write a pack
    for reviewers to build/review: all files as an RO-Crate, codecheck.yml, the environment and a report of one page.
    """
    if cell is None:
        from compendium.review.pack import write_pack

        print(f"{write_pack(out)}: begin with report.md; codecheck.yml says what to fill in")
        return 0
    from compendium.review.cell import recompute
    from compendium.run import processes

    processes.guard()
    print(f"\n{recompute(cell, profile, cores, force=force)}")
    return 0


@compendium.command()
@OUT
@RUNS
def book(out: Path | None, runs: Sequence[str]) -> int:
    """Build the book in build/book: all results as web pages that work without a network.

    With names of runs, only these; * stands for any part.
    """
    import sphinx  # noqa: F401 - if it is missing, nothing else is tried

    from compendium.book.site import build, size_in_mb
    from compendium.run import processes

    processes.guard()
    page = build(out, list(runs))
    print(f"{page}  {size_in_mb(page.parent):.0f} MB")
    return 0


@compendium.command()
@OUT
def lessons(out: Path | None) -> int:
    """Make the student versions of the lessons with nbgrader, in build/lessons."""
    from compendium.lessons.release import make_course
    from compendium.paths import build_dir

    for path in make_course(out or build_dir() / "lessons", partial(print, file=sys.stderr)):
        print(path)
    return 0


@compendium.command()
@OUT
@click.option("--epochs", type=COUNT, default=5, help="Training epochs of each autoencoder (5).")
@click.option("--inference-epochs", type=COUNT, default=5, help="Epochs of each inference model (5).")
def export(out: Path | None, **epochs: Any) -> int:
    """Write paper 3's networks on MotionSense and edge.pyz for a board to build/edge."""
    from compendium.papers.paper3.edge_bundles import write_all
    from compendium.paths import build_dir
    from compendium.studies import prepare
    from sensorprivacy.paths import check_writable
    from sensorrelease.boards import write_program

    folder = out or build_dir() / "edge"
    check_writable(folder if folder.exists() else folder.absolute().parent)
    known = prepare("motionsense", "gender", **epochs)
    for bundle in write_all(known, known.anonymizer(known.inference_models()), folder).values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(folder)}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
