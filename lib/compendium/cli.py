"""The command line ``compendium``, also called as ``python -m compendium``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from compendium.book.cli import add_book_command
from compendium.lessons.cli import add_lessons_command
from compendium.review.cli import add_review_command
from compendium.run.states import PROFILES
from sensorprivacy import __version__
from sensorprivacy.extras import remedy

INTERRUPTED = 130  # the exit code of a command that Ctrl-C ends

# Each command imports what it needs when it runs, so that wrong words are refused without waiting for pandas.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 after a failure, 2 for wrong words, 130 after an interrupt."""
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser(words).parse_args(words)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        kept = "; finished runs are kept" if command is _reproduce else ""
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"error: {missing}", file=sys.stderr)
        return 1
    except (LookupError, OSError, ValueError, RuntimeError) as error:
        # Our own errors explain themselves. SENSORPRIVACY_DEBUG shows the traceback of the others.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _run(arguments: argparse.Namespace) -> int:
    from compendium.run import execute, processes
    from compendium.run.parameters import describe, read_parameters

    if arguments.show:
        print(describe(read_parameters(arguments.notebook)))
        return 0
    processes.guard()
    if arguments.needs:
        from compendium.run.data import fetch

        missing = fetch(arguments.needs)
        if missing:
            print(f"nothing was run: no data {', '.join(missing)}", file=sys.stderr)
            return 1
    name = arguments.name or arguments.notebook.stem
    try:
        done = execute.run(
            arguments.notebook,
            dict(arguments.parameters),
            output=arguments.output,
            log=arguments.log,
            say=partial(print, flush=True),
        )
    except execute.NotebookFailedError as error:
        print(f"{name}: {error}", flush=True, file=sys.stdout if arguments.terse else sys.stderr)
        return 1
    if arguments.terse:
        print(f"{name}: ok, {done.seconds:.0f} s", flush=True)
    else:
        results = execute.results_folder(arguments.notebook, done.parameters)
        print(f"notebook: {done.output}\nlog: {done.log}", flush=True)
        if results.is_dir():
            print(f"results: {results}", flush=True)
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from compendium.run.runs import check_runs, read_runs, select

    runs = select(read_runs(), arguments.only, arguments.profile)
    if arguments.list:
        for run in runs.values():
            print(f"{run.name:36} {run.minutes[arguments.profile]:5g} min  {run.about}")
        return 0
    from compendium.datasets import store
    from compendium.run import processes, states
    from compendium.run import reproduce as batch
    from compendium.run.data import looker

    check_runs(runs.values(), store.names())
    processes.guard()
    ended = batch.reproduce(
        arguments.profile,
        looker(arguments.profile),
        cores=arguments.cores,
        only=arguments.only,
        dry_run=arguments.dry_run,
        executor=arguments.executor,
    )
    if not arguments.dry_run:
        print(batch.summary(ended, arguments.profile))
    return 1 if any(state.status == states.FAILED for state in ended.values()) else 0


def _report(arguments: argparse.Namespace) -> int:
    from compendium.paths import data_dir, figures_dir, project_root

    if arguments.what == "verdicts":
        return _verdicts(arguments.profile, arguments.check)
    if arguments.what == "index":
        from compendium.verdicts import layout

        path, text = data_dir() / "paper" / "index.md", layout.index_page()
    elif arguments.what == "ledger":
        from compendium.verdicts.ledger import entries, page
        from compendium.verdicts.printed import printed_values
        from compendium.verdicts.replication import read_verdicts

        stored = figures_dir("paper") / "verdicts.csv"
        verdicts = read_verdicts(stored) if stored.is_file() else printed_values().assign(verdict="", reason="")
        path, text = project_root() / "DEVIATIONS.md", page(entries(), verdicts)
    else:
        from compendium.datasets import cards

        path = data_dir() / "README.md"
        text = cards.page(path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8", newline="\n")
    print(path)
    return 0


def _verdicts(profile: str, check: bool) -> int:
    """Write the verdicts that follow from the runs' tables, or print where the files differ from them."""
    from compendium.verdicts import recompute

    differ = recompute.differences(profile)
    if len(differ):
        print(differ.to_string(index=False))
    if not check:
        recompute.write(profile)
    print(f"{len(recompute.judged_runs(profile))} runs, {len(differ)} cells of their verdicts differ")
    return 1 if check and len(differ) else 0


def _export(arguments: argparse.Namespace) -> int:
    from compendium.paths import build_dir
    from compendium.studies import prepare
    from sensorprivacy import latent
    from sensorprivacy.edge.paper_bundles import write_all
    from sensorprivacy.edge.program import write_program
    from sensorprivacy.own.boards import check_shape

    folder = arguments.out or build_dir() / "edge"
    choices = {"epochs": arguments.epochs, "inference_epochs": arguments.inference_epochs}
    known = prepare("motionsense", "gender", **choices)
    trained = latent.load(arguments.model) if arguments.model else known.anonymizer(known.inference_models())
    if arguments.model:
        check_shape(trained, known.test, arguments.model)
    for bundle in write_all(known, trained, folder).values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(folder)}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="compendium", description="The Sensor Privacy Compendium.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="execute a notebook with checked parameters")
    run.set_defaults(command=_run)
    run.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    run.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    run.add_argument("--show", action="store_true", help="show the notebook's parameters and run nothing")
    run.add_argument("-o", "--output", type=Path, help="file for the executed notebook (build/executed/<run>.ipynb)")
    run.add_argument("--log", type=Path, help="file for the notebook's printed output (build/logs/<run>.log)")
    run.add_argument("--needs", nargs="+", default=[], metavar="SET", help="data sets to fetch first")
    run.add_argument("--terse", action="store_true", help="end with one line instead of the files' paths")
    run.add_argument("--name", help="name of the run in that line")

    again = commands.add_parser("reproduce", help="run every notebook that is out of date, then the report")
    again.set_defaults(command=_reproduce)
    again.add_argument("--profile", choices=PROFILES, default="quick", help="settings of the runs (quick)")
    again.add_argument("--cores", type=_positive, default=os.cpu_count() or 1, help="number of runs at a time")
    again.add_argument("--only", nargs="+", default=[], metavar="RUN", help="names of runs; * stands for any part")
    again.add_argument("--dry-run", action="store_true", help="list the runs that are out of date and run nothing")
    again.add_argument(
        "--executor", metavar="NAME", help="run as jobs of a cluster, --cores at a time, such as slurm (this machine)"
    )
    again.add_argument("--list", action="store_true", help="list all runs with their minutes and run nothing")

    if "data" in words:
        from compendium.datasets.cli import add_data_commands

        add_data_commands(commands)
    else:  # without its own words, which would import pandas for every other command
        commands.add_parser("data", help="list, fetch and verify the data sets")

    add_review_command(commands)
    add_lessons_command(commands)
    add_book_command(commands)

    export = commands.add_parser("export", help="write paper 3's networks on MotionSense and edge.pyz for a board")
    export.set_defaults(command=_export)
    export.add_argument("--out", type=Path, metavar="FOLDER", help="folder to write (build/edge)")
    export.add_argument("--model", type=Path, metavar="FILE", help="use a saved anonymizer instead of training one")
    export.add_argument("--epochs", type=_positive, default=5, help="training epochs of each autoencoder (5)")
    export.add_argument("--inference-epochs", type=_positive, default=5, help="epochs of each inference model (5)")

    report = commands.add_parser("report", help="write a page again, or the verdicts from the runs' tables")
    report.set_defaults(command=_report)
    report.add_argument(
        "what",
        choices=("ledger", "data", "index", "verdicts"),
        help="ledger: DEVIATIONS.md; data: data/README.md; index: data/paper/index.md; verdicts: those of all runs",
    )
    report.add_argument("--profile", choices=PROFILES, default="paper", help="verdicts of these runs (paper)")
    report.add_argument("--check", action="store_true", help="write no verdicts; 1 if they do not follow from tables")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few: give 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
