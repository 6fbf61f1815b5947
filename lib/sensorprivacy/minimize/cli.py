"""The command ``minimize FILE --task COLUMN --user COLUMN --threshold .01 --out FILE``."""

import argparse
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sensorprivacy.minimize.settings import ENGINES, ORDERS, SCORES
from sensorprivacy.paths import write_atomically

# importing forests takes seconds, so the functions below import them: help and wrong options need no forest
if TYPE_CHECKING:
    import pandas as pd

    from sensorprivacy.datasets.types import Problem
    from sensorprivacy.minimize.minimizer import FeatureMinimizer

INTERRUPTED = 130  # exit code of a process that Ctrl-C ended
_OPTIONS = {
    "allow_long=True": "--allow-long",
    "`keep`": "--keep",
    "rare='keep'": "--rare keep",
    "constant='drop'": "--constant drop",
    "engine='sklearn'": "--engine sklearn",
    "n_preselect": "--preselect",
    "n_features=": "--preselect ",
    "threshold=": "--threshold ",
}
"""Parameters of Python that errors name, and the options of the command that mean the same."""


def add_minimize_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``minimize`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        Result of ``parser.add_subparsers()``. The parsed namespace gets a function ``command``. Called with the
        namespace, it returns the exit code. It raises ValueError or LookupError for wrong data, RuntimeError for a
        search of more than an hour, and OSError for files that cannot be written.
    """
    command = subparsers.add_parser(
        "minimize",
        help="find the features of a table that a service should collect",
        description="Two-stage data minimization of your own table. Features are preselected by their scores. Then a "
        "model for the task and an adversary for the users are trained on every subset. Prints one page: which "
        "features to keep, how much accuracy that costs, and how well an adversary still identifies users.",
    )
    add = command.add_argument
    add("file", type=Path, metavar="FILE", help="CSV or Parquet file, one record per row")
    add("--task", required=True, metavar="COLUMN", help="column to predict (the task)")
    add("--user", required=True, metavar="COLUMN", help="column with the user of each record")
    add("--groups", metavar="COLUMN", help="column with the recording of each record; recordings are not split")
    add("--keep", action="append", default=[], metavar="COLUMN", help="use a column that looks like an identifier")
    add("--threshold", type=float, default=0.01, metavar="L", help="share of accuracy that may be lost (.01)")
    add("--out", type=Path, metavar="FILE", help="write the kept columns and the task to this file")
    add("--preselect", type=int, default=10, metavar="K", help="number of features to search (10)")
    add("--score", choices=SCORES, default="shap", help="score for preselecting features (shap)")
    add("--by", choices=ORDERS, default="ratio", help="order for preselecting features (ratio)")
    add("--trees", type=int, default=100, metavar="N", help="trees per forest (100)")
    add("--engine", choices=ENGINES, default="shared", help="what trains the models of the search (shared)")
    add("--store", type=Path, metavar="FILE", help="save search results here, to continue after an interruption")
    add("--jobs", type=int, metavar="N", help="worker processes (1)")
    add("--rare", choices=("error", "keep"), default="error", help="classes and users with one row (error)")
    add("--constant", choices=("error", "drop"), default="error", help="constant features (error)")
    add("--allow-long", action="store_true", help="start even if the search takes more than an hour")
    add("--seed", type=int, default=42, help="random seed (42)")
    add("--quiet", action="store_true", help="show no progress bars")
    command.set_defaults(command=minimize_file)


def minimize_file(arguments: argparse.Namespace) -> int:
    """Minimize a table, print the report and write the kept columns; return the exit code."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        saved = "nothing was saved; with --store FILE, a later run can continue"
        if arguments.store is not None:
            saved = f"finished models are saved in {arguments.store}; run the same command again to continue"
        print(f"interrupted; {saved}", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, RuntimeError) as error:
        error.args = (in_options(str(error), _OPTIONS),)
        raise


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return an error message that names options of a command instead of parameters of Python."""
    for parameter, option in options.items():
        message = message.replace(parameter, option)
    return message


def _run(arguments: argparse.Namespace) -> int:
    check_out(arguments.out, arguments.file)
    if arguments.trees < 1:
        raise ValueError(f"--trees {arguments.trees}: a forest needs at least one tree")
    from sensorprivacy.datasets.own.identifiers import IdentifierWarning
    from sensorprivacy.datasets.own.tables import read_table, table_problem
    from sensorprivacy.minimize.page import page

    roles = {"task": arguments.task, "user": arguments.user, "groups": arguments.groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # the page names these columns, and the user those to keep
        problem = table_problem(arguments.file, **roles, keep=arguments.keep)
        minimizer = _minimize(problem, arguments)
    print(page(minimizer, problem, arguments.task, arguments.user))
    if arguments.out is not None:
        kept = minimizer.summary()["kept"]
        write_table(read_table(arguments.file)[[*kept, arguments.task]], arguments.out)
        print(f"\nWritten: {arguments.out} ({len(kept)} features and {arguments.task}; not {arguments.user})")
    return 0


def _minimize(problem: "Problem", arguments: argparse.Namespace) -> "FeatureMinimizer":
    from sklearn.ensemble import RandomForestClassifier

    from sensorprivacy.minimize.minimizer import FeatureMinimizer
    from sensorprivacy.minimize.settings import Preselection, SearchSettings

    return FeatureMinimizer(
        arguments.threshold,
        n_preselect=arguments.preselect,
        estimator=RandomForestClassifier(n_estimators=arguments.trees),
        rare=arguments.rare,
        constant=arguments.constant,
        preselection=Preselection(score=arguments.score, by=arguments.by),
        search=SearchSettings(
            engine=arguments.engine, result_store=arguments.store, allow_long=arguments.allow_long, lazy=False
        ),
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
        progress=not arguments.quiet,
    ).fit(problem.features, problem.task, users=problem.users, groups=problem.groups)


def check_out(out: Path | None, file: Path) -> None:
    """Reject an output file that could not be written, before the search starts.

    Raises
    ------
    ValueError
        If the type is unknown, the folder does not exist, or the output would replace the input.
    OSError
        If the folder is read-only, or its disk has less free space than the size of the input.
    """
    if out is None:
        return
    from sensorprivacy.datasets.own.tables import PARQUET_SUFFIXES, TEXT_SUFFIXES

    folder = out.absolute().parent
    if out.suffix.lower() not in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise ValueError(f"--out {out}: the name must end in {', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}")
    if out.is_dir() or not folder.is_dir():
        raise ValueError(f"--out {out}: " + ("this is a folder" if out.is_dir() else f"there is no folder {folder}"))
    if out.resolve() == file.resolve():
        raise ValueError(f"--out {out} is the input table itself: name another file")
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"0")
    except OSError as error:
        raise OSError(f"--out {out}: cannot write into {folder} ({error.strerror}); name another folder") from error
    free, needed = shutil.disk_usage(folder).free, file.stat().st_size if file.exists() else 0
    if free < needed:
        raise OSError(f"--out {out}: the disk has {free:,} free bytes, but the output can need {needed:,}; free space")


def write_table(table: "pd.DataFrame", out: Path) -> None:
    """Write a table as CSV or Parquet, depending on the name. After a failure, the old file is still complete."""
    from sensorprivacy.datasets.own.tables import PARQUET_SUFFIXES

    suffix = out.suffix.lower()

    def write(part: Path) -> None:
        if suffix in PARQUET_SUFFIXES:
            table.to_parquet(part, index=False)
        else:
            table.to_csv(part, index=False, sep="\t" if suffix == ".tsv" else ",")

    try:
        write_atomically(out, write)
    except OSError as error:
        raise OSError(
            f"--out {out}: cannot write the kept columns ({error}); free space or name another file"
        ) from error
