"""``python -m sensorprivacy minimize FILE --task COLUMN --user COLUMN --threshold .01 --out FILE``."""

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

# forests take seconds to import: what the command takes is said, and a wrong word refused, before
if TYPE_CHECKING:
    import pandas as pd

    from sensorprivacy.datasets.types import Problem
    from sensorprivacy.game.play import Measure

# kept in step with minimize.scores, greedy, engines and datasets.userfile by a test
SCORES = ("information", "shap", "gini")
ORDERS = ("utility", "identifiability", "ratio", "tradeoff")
ENGINES = ("sklearn", "shared")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")

WIDTH = 88


def add_minimize_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``minimize`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        What ``parser.add_subparsers()`` returned. The namespace gets ``command``: call it with the namespace, it
        returns the exit code 0. What is wrong with the data raises ValueError or LookupError with a message for the
        user; a search of more than an hour raises RuntimeError.
    """
    command = subparsers.add_parser(
        "minimize",
        help="find the features of a table that a service should collect",
        description="Two-stage data minimization of your own table: features are preselected by their scores, then "
        "every subset is tried by a model for the task and an adversary for the users. Prints one page: what to keep, "
        "what it costs, what an adversary still learns.",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="CSV or Parquet, one row a record")
    command.add_argument("--task", required=True, metavar="COLUMN", help="what the service wants to tell")
    command.add_argument("--user", required=True, metavar="COLUMN", help="whose record it is")
    command.add_argument("--groups", metavar="COLUMN", help="recording of each record, kept on one side of the split")
    command.add_argument("--threshold", type=float, default=0.01, metavar="L", help="loss of accuracy tolerated (.01)")
    command.add_argument("--out", type=Path, metavar="FILE", help="write the kept columns and the task here")
    command.add_argument("--preselect", type=int, default=10, metavar="K", help="features to search (10)")
    command.add_argument("--score", choices=SCORES, default="shap", help="how features are preselected (shap)")
    command.add_argument("--by", choices=ORDERS, default="ratio", help="what preselection prefers (ratio)")
    command.add_argument("--trees", type=int, default=100, metavar="N", help="trees of each forest (100)")
    command.add_argument("--engine", choices=ENGINES, default="shared", help="what trains the search (shared)")
    command.add_argument("--store", type=Path, metavar="FILE", help="keep the search here, to resume it when killed")
    command.add_argument("--jobs", type=int, metavar="N", help="worker processes (1)")
    command.add_argument("--rare", choices=("error", "keep"), default="error", help="classes and users with one row")
    command.add_argument("--constant", choices=("error", "drop"), default="error", help="features that never change")
    command.add_argument("--allow-long", action="store_true", help="start even if more than an hour is expected")
    command.add_argument("--seed", type=int, default=42)
    command.add_argument("--quiet", action="store_true", help="draw no progress bars")
    command.set_defaults(command=minimize_file)


def minimize_file(arguments: argparse.Namespace) -> int:
    """Minimize a table, print the report, write what is to be kept."""
    check_out(arguments.out, arguments.file)
    if arguments.trees < 1:
        raise ValueError(f"--trees {arguments.trees}: a forest has at least one tree")
    from sklearn.ensemble import RandomForestClassifier

    from sensorprivacy.datasets.own.tables import read_table, table_problem
    from sensorprivacy.minimize.minimizer import FeatureMinimizer

    problem = table_problem(arguments.file, task=arguments.task, user=arguments.user, groups=arguments.groups)
    minimizer = FeatureMinimizer(
        arguments.threshold,
        n_preselect=arguments.preselect,
        feature_score=arguments.score,
        by=arguments.by,
        estimator=RandomForestClassifier(n_estimators=arguments.trees),
        lazy=False,
        engine=arguments.engine,
        store=arguments.store,
        allow_long=arguments.allow_long,
        rare=arguments.rare,
        constant=arguments.constant,
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
        progress=not arguments.quiet,
    ).fit(problem.features, problem.task, users=problem.users, groups=problem.groups)
    print(page(minimizer, problem, arguments.task, arguments.user))
    if arguments.out is not None:
        kept = minimizer.summary()["kept"]
        write_table(read_table(arguments.file)[[*kept, arguments.task]], arguments.out)
        print(f"\nWritten: {arguments.out} ({len(kept)} features and {arguments.task}; not {arguments.user})")
    return 0


def page(minimizer: Any, problem: "Problem", task: str, user: str) -> str:
    """Return the report on a fitted minimizer: what to keep, what it costs, what an adversary still learns.

    Parameters
    ----------
    minimizer : FeatureMinimizer
        Fitted with users.
    problem : Problem
        What it was fitted to.
    task, user : str
        Names of the label columns.

    Returns
    -------
    str
        About one page of text.
    """
    told, kept, full = minimizer.summary(), minimizer.outcome_, minimizer.baseline_
    chosen_on = "validation rows" if told["part_chosen_on"] == "validation" else "the same rows"
    lines = [
        f"DATA MINIMIZATION OF {problem.name}",
        f"{problem.n_records:,} rows, {problem.n_features} features; {problem.task.nunique()} classes of {task}, "
        f"{problem.users.nunique()} users ({user}); tolerated loss of accuracy: {minimizer.threshold:.3g}",
        "",
        "What to keep",
        *_wrapped(f"keep {len(told['kept'])}:", told["kept"]),
        *_wrapped(f"drop {len(told['dropped'])}:", told["dropped"]),
        "",
        f"What it costs: accuracy on {told['n_test']:,} test rows",
        f"  all features     {_measure(full.task)}",
        f"  kept features    {_measure(kept.task)}",
        "",
        f"What an adversary still learns: share of test rows whose {user} a model of the same kind names",
        f"  all features     {_measure(full.adversary)}",
        f"  kept features    {_measure(kept.adversary)}",
        *textwrap.wrap(_verdict(kept.adversary), WIDTH, initial_indent="  ", subsequent_indent="  "),
        "",
        f"Other thresholds (on {chosen_on}, where the choice was made; identifiability is that of the adversary)",
        thresholds_table(minimizer.results_),
        "",
        *textwrap.wrap(f"How: {_how(minimizer)}.", WIDTH),
    ]
    return "\n".join(lines)


def thresholds_table(results: "pd.DataFrame") -> str:
    """Return the choice at each of the paper's six thresholds as a text table."""
    from tabulate import tabulate

    from sensorprivacy.minimize.select import select_table

    table = select_table(results)
    rows = [
        {
            "threshold": f"{threshold:g}",
            "accuracy": f"{row['accuracy']:.2%}",
            "identifiability": f"{row['identifiability']:.2%}",
            "rel. eff.": _effectiveness(row["relative_effectiveness"]),
            "features": len(row["features"]),
            "kept": textwrap.shorten(", ".join(map(str, row["features"])), 40, placeholder=" ..."),
        }
        for threshold, row in table.iterrows()
    ]
    return tabulate(rows, headers="keys", tablefmt="simple", disable_numparse=True)


def check_out(out: Path | None, file: Path) -> None:
    """Refuse an output of an unknown type, in a folder that does not exist, or that would replace the input.

    Raises
    ------
    ValueError
        Naming what to change.
    """
    if out is None:
        return
    if out.suffix.lower() not in TEXT_SUFFIXES + PARQUET_SUFFIXES:
        raise ValueError(f"{out}: its name must end in {', '.join(TEXT_SUFFIXES + PARQUET_SUFFIXES)}")
    if not out.absolute().parent.is_dir():
        raise ValueError(f"{out}: there is no folder {out.absolute().parent}")
    if out.resolve() == file.resolve():
        raise ValueError(f"{out} is the table itself: name another file")


def write_table(table: "pd.DataFrame", out: Path) -> None:
    """Write a table as CSV or Parquet, told by the end of its name."""
    if out.suffix.lower() in PARQUET_SUFFIXES:
        table.to_parquet(out, index=False)
    else:
        table.to_csv(out, index=False, sep="\t" if out.suffix.lower() == ".tsv" else ",")


def _measure(measure: "Measure") -> str:
    return f"{measure.score:7.2%}   ({measure.low:.2%} to {measure.high:.2%} at 95 %; chance {measure.chance:.2%})"


def _verdict(adversary: "Measure") -> str:
    if not adversary.beats_chance:
        return "No better than always naming the most frequent user: on these rows it learns nothing."
    times = adversary.score / adversary.chance if adversary.chance else float("inf")
    return (
        f"Still {times:.1f} times what always naming the most frequent user gets. Fewer columns make users harder to "
        "tell, they do not make the data anonymous."
    )


def _how(minimizer: Any) -> str:
    scores = minimizer.scores_
    if scores is None:
        stage = f"all {len(minimizer.preselected_)} features were searched"
    else:
        about = scores.attrs
        depth = f", depth {about['max_depth']}" if about.get("max_depth") else ""
        stage = (
            f"{len(minimizer.preselected_)} of {len(scores)} features preselected by {about['score']} {minimizer.by} "
            f"({about['rows']:,} of {about['rows_available']:,} rows{depth})"
        )
    return (
        f"{stage}, then {len(minimizer.results_):,} subsets with two models each "
        f"({minimizer.outcome_.model}, engine {minimizer.engine}); split {minimizer.split_.how}, seed "
        f"{minimizer.random_state}; intervals are Wilson's and do not cover the luck of the split"
    )


def _effectiveness(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _wrapped(title: str, names: list[str]) -> list[str]:
    text = ", ".join(names) or "none"
    return textwrap.wrap(f"{title} {text}", WIDTH, initial_indent="  ", subsequent_indent="    ")
