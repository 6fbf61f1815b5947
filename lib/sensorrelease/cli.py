"""The command line ``sensorprivacy``, also called as ``python -m sensorrelease``: its words, options and exit codes.

The work itself is in `sensorrelease.commands`, which is imported when a command runs: help and wrong words need not
wait for pandas.
"""

import errno
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from sensorprivacy import __version__
from sensorprivacy.extras import remedy
from sensorprivacy.minimize.settings import ENGINES, ORDERS, SCORES
from sensorprivacy.paths import temporary_files
from sensorrelease.options import Command, Jobs, Numbers, expectation
from sensorrelease.printing import steadily, visible
from sensorrelease.running import unwound_by_sigterm

_LONGEST = 5000  # characters of an error
INTERRUPTED = 130  # exit code of a process that Ctrl-C ended
_COUNT, _SEED = click.IntRange(1, 100_000), click.IntRange(0, 2**32 - 1)
_ROWS, _THREADS = 100_000_000, 1024
_SPECIAL = {  # words of errors that are no parameter of the same name, by command
    "minimize": {"n_preselect": "--preselect", "n_features=": "--preselect ", "race=False": "--exhaustive"},
    "compare": {"max_rows": "--max-rows", "a smaller model": "fewer --trees"},
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 after a failure, 2 for wrong words, 130 after an interrupt."""
    return steadily(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if wrong := [word for word in map(str, words) if "\0" in word]:
        print(f"error: {visible(wrong[0])} has a null byte, which no path and no name has", file=sys.stderr)
        return 2
    try:
        with unwound_by_sigterm(), group.make_context("sensorprivacy", words[:]) as context, temporary_files():
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as ended:  # after --help and --version
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"error: {missing}", file=sys.stderr)
        return 1
    except (LookupError, OSError, ValueError, RuntimeError, MemoryError) as error:
        # Our own errors explain themselves. SENSORPRIVACY_DEBUG shows the traceback of the others.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
        if full and isinstance(error, OSError) and error.filename is None:
            error = OSError(f"a result cannot be written: {error.strerror}")
        said = str(error)[:_LONGEST] or "there is not enough memory: give fewer rows or columns"
        print(f"error: {visible(_in_options(said, words[0]), one_line=True)}", file=sys.stderr)
        return 2 if isinstance(error, ValueError | LookupError | FileNotFoundError) else 1


def _in_options(message: str, command: str) -> str:
    """Return an error message that names options of a command instead of parameters of Python.

    Examples
    --------
    >>> _in_options("publish with accept_draft=True, or leave out `user`", "publish")
    'publish with --accept-draft, or leave out --user'
    """
    for parameter, option in _SPECIAL.get(command, {}).items():
        message = message.replace(parameter, option)
    for known in getattr(group.commands.get(command), "params", ()):
        name, option = known.name, f"--{known.name.replace('_', '-')}"
        message = re.sub(rf"`{name}`|(?<![\w:,-]){name}=True", option, message)
        message = re.sub(rf"(?<![\w:,-]){name}='?([^ ',.;:)]*(?:\.\d+)?)'?", rf"{option} \1", message)
    return re.sub("^(?=(?:out|save) )", "--", message)


def _option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    metavar = {"metavar": "N"} if isinstance(settings.get("type"), click.IntRange | click.FloatRange) else {}
    return click.option(*names, **({"show_default": True} | metavar | settings))


def _all(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds several options, in this order."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_file = click.argument("file", type=Path, metavar="FILE")
_task = _option("--task", metavar="COLUMN", help="Column to predict (the task); a schema names it, too.")
_user = _option("--user", metavar="COLUMN", help="Column with the user of each record; a schema names it, too.")
_hide = _option("--hide", metavar="ATTRIBUTE", help="Private attribute to hide (recordings); by default the user.")
_seed = _option("--seed", type=_SEED, default=42, help="Random seed of samples, splits and models.")
_quiet = _option("--quiet", is_flag=True, help="Show no progress bars.", show_default=False)
_recording = _option("--recording", metavar="COLUMN", help="Column with the recording of each record; never split.")
_schema = _option("--schema", type=Path, metavar="FILE", help="What the data hold; by default home.schema.yaml.")
_tables = _all(_task, _user, _recording, _schema)
_bins = _option(
    "--bins", type=click.IntRange(2, 1000), help="Divide a task of numbers in so many classes of about equal size."
)
_leaves = _all(
    _option(
        "--accept-draft", is_flag=True, help="Publish by a schema that nobody confirmed; what it declares is printed, "
        "and the card says so.", show_default=False,
    ),
    _option(
        "--although-identifying", is_flag=True, help="Publish although the strongest attack identifies more than 90 % "
        "of the users.", show_default=False,
    ),
)  # fmt: skip


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(version)s")
def group() -> None:
    """Publish your own sensor data so that people are hard to identify.

    First `compare` finds out which defence suits your data, then `publish` writes the data that you can hand on.
    `minimize` finds the columns that a service should collect. `edge` runs on a device.
    """


def _work(name: str, options: Mapping[str, Any]) -> int:
    """Call a function of `sensorrelease.commands`; ``given`` has the names of the options on the command line."""
    source = click.get_current_context().get_parameter_source
    given = {option for option in options if source(option) is click.core.ParameterSource.COMMANDLINE}
    return int(getattr(import_module("sensorrelease.commands"), name)(SimpleNamespace(**options, given=given)))


@group.command(cls=Command)
@_file
@_tables
@_bins
@_option("--threshold", type=Numbers(0, 1), default=0.01, help="Share of accuracy that may be lost.")
@_option("--out", type=Path, metavar="FOLDER", help="New folder: publish the kept columns and the task, with a card.")
@_leaves
@_option("--json", type=Path, metavar="FILE", help="Write all numbers, and how each column was read and coded.")
@_option("--preselect", type=click.IntRange(1, 20), default=10, help="Number of features to search.")
@_option("--score", type=click.Choice(SCORES), default="shap", help="Score for preselecting features.")
@_option("--by", type=click.Choice(ORDERS), default="ratio", help="Order for preselecting features.")
@_option("--trees", type=_COUNT, default=100, help="Trees per forest.")
@_option("--engine", type=click.Choice(ENGINES), default="shared", help="What trains the models of the search.")
@_option("--store", type=Path, metavar="FILE", help="Save search results here, to continue after an interruption.")
@_option("--jobs", type=Jobs(-1, _THREADS), help="Worker processes; by default one. -1 uses all cores.")
@_option("--max-rows", type=click.IntRange(1, _ROWS), default=3000, help="Training rows of the search.")
@_option("--repeat", type=click.IntRange(0, 1000), default=5, help="Repetitions that show how stable the choice is.")
@_option("--allow-long", is_flag=True, help="Start even if the search takes more than an hour.", show_default=False)
@_option(
    "--race/--exhaustive",
    default=None,
    help="Drop subsets early if they cannot be chosen, or finish the models of all subsets. By default, searches of "
    "more than about ten minutes race.",
    show_default=False,
)
@_seed
@_quiet
def minimize(**options: Any) -> int:
    """Find the columns of a table that a service should collect.

    FILE is a CSV, JSON lines, Parquet, Feather or Excel file with one record per row.

    Features are preselected by their scores. Then a model for the task and an adversary for the users are trained on
    every subset. One page says which columns to keep, how much accuracy that costs, and how well an adversary still
    identifies users. The loss of accuracy counts from all columns, as in `compare`. Fewer columns win unless they are
    clearly worse.
    """
    if not options["quiet"] and (said := expectation(options["file"])):
        print(said, file=sys.stderr, flush=True)  # before the libraries are loaded
    return _work("minimize", options)


@group.command(cls=Command)
@_file
@_tables
@_hide
@_bins
@_option("--defences", multiple=True, metavar="DEFENCE...", help="Such as minimize:threshold=.01 noise:epsilon=4; by "
    "default about 20.")  # fmt: skip
@_option("--max-loss", type=Numbers(0, 1), default=0.01, help="Accuracy that may be lost; .01 is one point.")
@_option(
    "--minutes",
    type=Numbers(0, 10_080, min_open=True),
    default=10,
    help="Time budget; defences that still run then are stopped.",
)
@_option("--report", type=Path, metavar="FILE", help="Write a self-contained HTML page.")
@_option("--json", type=Path, metavar="FILE", help="Write all numbers.")
@_option("--store", type=Path, metavar="FILE", help="File that keeps results; by default in your cache folder.")
@_option("--trees", type=_COUNT, default=100, help="Trees of the judge and of the attackers.")
@_option("--jobs", type=Jobs(-1, _THREADS), default=-1, help="Threads that train each forest; -1 uses all cores.")
@_option("--max-rows", type=click.IntRange(1, _ROWS), default=10_000, help="Largest number of training rows.")
@_seed
@_quiet
def compare(**options: Any) -> int:
    """Find out which defence suits your data, what it costs, and what attackers still learn.

    FILE is a CSV, JSON lines, Parquet, Feather or Excel file with one record per row, or a folder
    of recordings.

    For each defence: how well the task still works, and how well the strongest of several attackers identifies the
    users. One defence of each kind comes before its variants. The page prints the command that publishes with the
    recommended one. Ctrl-C shows the best answer so far, and the same command continues later.
    """
    return _work("compare", options)


@group.command(cls=Command, options_metavar="--defence WORD --out FOLDER")
@_file
@_tables
@_hide
@_leaves
@_option(
    "--defence",
    metavar="WORD",
    help="Needed without --fitted; `compare` ranks them. For example minimize:threshold=.01, threeway:epsilon=1, "
    "minimize+noise:epsilon=4, noise:epsilon=4, round:digits=2 (on recordings, they publish a table of window "
    "statistics); on recordings latent:transfer=codebook,cells=8,synthetic=yes, or guaranteed:activity=3,cell=1 "
    "(synthetic windows of one randomized response for each recording).",
)
@_option("--out", required=True, type=Path, metavar="FOLDER", help="New folder for the data and the card.")
@_option("--save", type=Path, metavar="FOLDER", help="New folder for the fitted defence.")
@_option("--fitted", type=Path, metavar="FOLDER", help="Publish with a saved defence, without fitting.")
@_option("--sample", type=click.IntRange(20, _ROWS), default=20_000, help="Rows to fit and measure the defence on.")
@_option("--keep-order", is_flag=True, help="Do not shuffle rows; a known order identifies them.", show_default=False)
@_option("--purpose", metavar="TEXT", help="For the card: what the release may be used for.")
@_option("--publisher", metavar="TEXT", help="For the card: who publishes.")
@_option("--contact", metavar="TEXT", help="For the card: whom to ask.")
@_option("--seed", type=_SEED, help="Repeat samples, splits and models; by default, the seed is secret.")
@_quiet
def publish(**options: Any) -> int:
    """Write a table or recordings that you can hand on, with a data card.

    FILE is a CSV, JSON lines, Parquet, Feather or Excel file with one record per row, or a folder
    of recordings.

    Only what a schema declares leaves, and the rows of a table are shuffled. A person confirms the schema first, see
    `sensorprivacy schema`. Recordings are rewritten window by window, or become a table of window statistics. The data
    card states the guarantee, the utility, and what attackers infer. Noise is never seeded.
    """
    return _work("publish", options)


@group.command()
@_file
@_all(_task, _user, _recording)
@_option("--hide", multiple=True, metavar="COLUMN", help="Column with a private attribute (recordings).")
@_option(
    "--names", metavar="PATTERN", help="Labels in the names of files (recordings), such as {activity}_{person}.csv."
)
@_option("--rate", type=Numbers(0, 1e6, min_open=True), help="Samples per second, if there are no times (recordings).")
@_option("--out", type=Path, metavar="FILE", help="Schema to write; by default home.schema.yaml beside home.csv.")
@_option("--confirm", is_flag=True, help="FILE is a schema that you read: confirm it.", show_default=False)
@_quiet
def schema(**options: Any) -> int:
    """Draft the schema of a table or of recordings: how they are read, and which columns may leave.

    FILE is a CSV, JSON lines, Parquet, Feather or Excel file with one record per row, or a folder of recordings: a file
    for each, or long tables. Task, user and recording are columns, or labels in the names of the files. Attributes of
    people can be in a file people.csv in the folder. Read the schema and change it.
    Then confirm it with `sensorprivacy schema home.schema.yaml --confirm`. `publish` asks for a confirmed schema.
    """
    from sensorrelease.schema import command

    return command.confirm_schema(options["file"]) if options["confirm"] else command.draft_schema(**options)


@group.group()
def edge() -> None:
    """Run paper 3 on a device: export its networks, measure a board."""


@edge.command()
@click.argument("recordings", type=Path, metavar="FILE")
@_option("--hide", metavar="ATTRIBUTE", help="Private attribute of your recordings; by default the user.")
@_option("--save", type=Path, metavar="FILE", help="Save the anonymizer trained on your recordings.")
@_option("--out", type=Path, default=Path("edge"), metavar="FOLDER", help="Folder to write.")
@_option("--model", type=Path, metavar="FILE", help="Use a saved anonymizer instead of training one.")
@_option("--epochs", type=_COUNT, default=5, help="Training epochs of each autoencoder.")
@_option("--inference-epochs", type=_COUNT, default=5, help="Training epochs of each inference model.")
def export(**options: Any) -> int:
    """Write the networks and edge.pyz into a folder to copy to a board.

    FILE is the folder of your recordings, with a schema beside it. For MotionSense: .venv/bin/compendium export.
    """
    return _work("export", options)


@edge.command(cls=Command)
@_option("--out", type=Path, required=True, metavar="FILE", help="File for the record (JSON).")
@_option("--threads", type=click.IntRange(1, _THREADS), default=1, help="Threads of onnxruntime.")
@_option("--batches", type=_COUNT, multiple=True, default=[1, 128, 256], metavar="N...", help="Windows per call.")
@_option("--seconds", type=Numbers(0, 3600, min_open=True), default=1.0, help="Time for each step and batch size.")
@_option("--minutes", type=Numbers(0, 1440, min_open=True), default=5.0, help="Time for everything.")
@_option("--bundles", type=Path, default=Path("edge"), metavar="FOLDER", help="A bundle, or their folder.")
def measure(**options: Any) -> int:
    """Measure the time and memory of every step on this machine."""
    from sensorrelease.board import measure_bundles

    return measure_bundles(**options)


if __name__ == "__main__":
    sys.exit(main())
