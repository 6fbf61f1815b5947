"""The command ``minimize FILE --task COLUMN --user COLUMN --threshold .01 --out FILE``."""

import argparse
import json
import secrets
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensorprivacy.minimize.settings import ENGINES, ORDERS, OWN, SCORES, Preselection
from sensorprivacy.paths import write_atomically

# importing forests takes seconds, so the functions below import them: help and wrong options need no forest
if TYPE_CHECKING:
    import pandas as pd

    from sensorprivacy.data import Problem
    from sensorprivacy.minimize.minimizer import FeatureMinimizer

INTERRUPTED = 130  # exit code of a process that Ctrl-C ended
FORMATS = "CSV, JSON lines, Parquet, Feather or Excel file"
TABLE_OPTIONS = {
    "`keep`": "--keep",
    "`drop`": "--drop",
    "rare='aside'": "--rare aside",
    "rare='keep'": "--rare keep",
    "constant='drop'": "--constant drop",
    "missing='impute'": "--missing impute",
    "missing='drop'": "--missing drop",
    "bins=": "--bins ",
}
_OPTIONS = TABLE_OPTIONS | {
    "allow_long=True": "--allow-long",
    "engine='sklearn'": "--engine sklearn",
    "n_preselect": "--preselect",
    "n_features=": "--preselect ",
    "threshold=": "--threshold ",
    "race=True": "--race",
    "race=False": "--exhaustive",
    "engine='shared'": "--engine shared",
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
        "features to keep, how much accuracy that costs, and how well an adversary still identifies users. The loss of "
        "accuracy counts from all columns, as in the command compare. Fewer columns win unless they are clearly worse.",
    )
    add = command.add_argument
    add("file", type=Path, metavar="FILE", help=f"{FORMATS}; one record per row")
    add("--task", required=True, metavar="COLUMN", help="column to predict (the task)")
    add("--user", required=True, metavar="COLUMN", help="column with the user of each record")
    add_table_options(command)
    add("--threshold", type=float, default=0.01, metavar="L", help="share of accuracy that may be lost (.01)")
    add("--out", type=Path, metavar="FILE", help="write the kept columns and the task to this file, "
        "with the rows in random order")  # fmt: skip
    add("--json", type=Path, metavar="FILE", help="write all numbers, and how each column was read and coded")
    add("--preselect", type=int, default=10, metavar="K", help="number of features to search (10)")
    add("--score", choices=SCORES, default="shap", help="score for preselecting features (shap)")
    add("--by", choices=ORDERS, default="ratio", help="order for preselecting features (ratio)")
    add("--trees", type=int, default=100, metavar="N", help="trees per forest (100)")
    add("--engine", choices=ENGINES, default="shared", help="what trains the models of the search (shared)")
    add("--store", type=Path, metavar="FILE", help="save search results here, to continue after an interruption")
    add("--jobs", type=int, metavar="N", help="worker processes (1)")
    add("--max-rows", type=int, default=3000, metavar="N", help="training rows of the search (3,000)")
    add("--repeat", type=int, default=5, metavar="N", help="repetitions that show how stable the choice is (5)")
    add("--allow-long", action="store_true", help="start even if the search takes more than an hour")
    way = command.add_mutually_exclusive_group()
    way.add_argument("--race", action="store_true", default=None, help="drop subsets early if they cannot "
        "be chosen (in searches that otherwise take more than about ten minutes)")  # fmt: skip
    way.add_argument("--exhaustive", dest="race", action="store_false", help="finish the models of all subsets")
    add("--seed", type=int, default=42, help="random seed (42)")
    add("--quiet", action="store_true", help="show no progress bars")
    command.set_defaults(command=minimize_file)


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Add the options that say how a table is read; `table_options` returns them."""
    add = command.add_argument
    add("--groups", metavar="COLUMN", help="column with the recording of each record; recordings are not split")
    add("--keep", action="append", default=[], metavar="COLUMN", help="use a column that looks like an identifier or "
        "like the user")  # fmt: skip
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave a column out")
    add("--missing", choices=("impute", "drop", "error"), default="impute", help="missing values: fill them with the "
        "median or the most frequent category of the training rows, drop their rows, or stop (impute)")  # fmt: skip
    add("--rare", choices=("aside", "keep", "error"), default="aside", help="users and classes with one row (aside)")
    add("--constant", choices=("drop", "error"), default="drop", help="constant columns (drop)")
    add("--bins", type=int, metavar="N", help="divide a task of numbers in so many classes of about equal size")


def table_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `own.tables.load_table` that a command was given."""
    names = ("task", "user", "groups", "keep", "drop", "missing", "rare", "constant", "bins")
    return {name: getattr(arguments, name) for name in names}


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
    check_json(arguments.json, [arguments.file, arguments.out])
    import numpy as np

    from sensorprivacy.columns.identifiers import IdentifierWarning
    from sensorprivacy.game.joins import join_rows
    from sensorprivacy.minimize.certainty import repeat_selection
    from sensorprivacy.own.minimize_page import facts, page
    from sensorprivacy.own.tables import load_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)  # the page names these columns, and the user those to keep
        table = load_table(arguments.file, **table_options(arguments))
        problem = table.problem
        minimizer = _minimize(problem, arguments)
    stability = repeat_selection(minimizer, problem, arguments.repeat)
    kept = minimizer.summary()["kept"]
    joined = join_rows(problem.features, kept)
    print(page(minimizer, problem, arguments.task, arguments.user, joined=joined, stability=stability))
    if arguments.json is not None:
        text = json.dumps(facts(minimizer, problem, joined, stability), indent=1, default=str)
        write_atomically(arguments.json, lambda part: part.write_text(text, encoding="utf-8"))
        print(f"\nWritten: {arguments.json}")
    if arguments.out is not None:
        order = np.random.default_rng(secrets.randbits(256)).permutation(table.rows)  # a known order identifies rows
        write_table(table.frame.iloc[order][[*kept, arguments.task]], arguments.out)
        what = f"{len(kept)} features and {arguments.task}; not {arguments.user}; rows in random order"
        print(f"\nWritten: {arguments.out} ({what})")
    return 0


def _minimize(problem: "Problem", arguments: argparse.Namespace) -> "FeatureMinimizer":
    from sklearn.ensemble import RandomForestClassifier

    from sensorprivacy.minimize.minimizer import FeatureMinimizer

    return FeatureMinimizer(
        arguments.threshold,
        n_preselect=arguments.preselect,
        estimator=RandomForestClassifier(arguments.trees, n_jobs=-1),
        rare="keep",  # the reader of the table has set rare labels and constant columns aside
        constant="drop",
        preselection=Preselection(score=arguments.score, by=arguments.by),
        search=replace(
            OWN,
            engine=arguments.engine,
            result_store=arguments.store,
            allow_long=arguments.allow_long,
            max_rows=arguments.max_rows,
            race=arguments.race,
        ),
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
        progress=not arguments.quiet,
    ).fit_problem(problem)


def check_json(file: Path | None, others: Sequence[Path | None]) -> None:
    """Reject a JSON file that could not be written, or that would replace another file, before the search starts."""
    if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
        reason = "this is a folder" if file.is_dir() else f"there is no folder {file.absolute().parent}"
        raise ValueError(f"--json {file}: {reason}")
    if file is not None and file.resolve() in [other.resolve() for other in others if other is not None]:
        raise ValueError(f"--json {file} is another file of this command: name another one")


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
    from sensorprivacy.own.formats import PARQUET_SUFFIXES, TEXT_SUFFIXES

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
    from sensorprivacy.own.formats import PARQUET_SUFFIXES

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
