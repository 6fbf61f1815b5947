"""The command ``publish FILE --task COLUMN --user COLUMN --defence WORD --out FOLDER``."""

import argparse
import re
import sys
from pathlib import Path

from sensorprivacy.own.minimize_cli import FORMATS, INTERRUPTED, TABLE_OPTIONS, in_options

# importing forests takes seconds, so the function below imports them: help and wrong options need no forest

_EXAMPLES = (
    "minimize:threshold=.01, threeway:epsilon=1, minimize+noise:epsilon=4, noise:epsilon=4; on recordings latent, or "
    "guaranteed:activity=3,cell=1 (synthetic windows of one randomized response for each recording)"
)


def add_publish_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``publish`` to a command line; see `minimize.cli.add_minimize_command`."""
    command = subparsers.add_parser(
        "publish",
        usage="%(prog)s FILE --task COLUMN (--user COLUMN | --hide ATTRIBUTE) --defence WORD --out FOLDER [options]\n"
        "       %(prog)s FILE --fitted FOLDER --out FOLDER [options]",
        help="write a table or recordings that may be handed on, with a data card",
        description="Publish your own data with a defence. A table loses the user, the recording, copies of them and "
        "identifiers, and its rows are shuffled. Recordings, described by a TOML file, are rewritten window by window. "
        "The data card states the guarantee, the utility, and what attackers infer.",
    )
    add = command.add_argument
    add("file", type=Path, metavar="FILE", help=f"{FORMATS}, one record per row; or recordings.toml")
    add("--task", metavar="COLUMN", help="column to predict (the task); it is published")
    add("--user", metavar="COLUMN", help="column with the user of each record (tables)")
    add(
        "--groups", metavar="COLUMN", help="column with the recording of each record; recordings are not split (tables)"
    )
    add("--hide", metavar="ATTRIBUTE", help="private attribute to hide (recordings)")
    add("--defence", metavar="WORD", help=f"required without --fitted; `compare` ranks them; for example {_EXAMPLES}")
    add("--out", required=True, type=Path, metavar="FOLDER", help="new folder for the data and the card")
    add("--save", type=Path, metavar="FOLDER", help="new folder for the fitted defence")
    add("--fitted", type=Path, metavar="FOLDER", help="publish with a saved defence, without fitting")
    add("--keep", action="append", default=[], metavar="COLUMN", help="publish a column that looks like an identifier")
    add("--drop", action="append", default=[], metavar="COLUMN", help="do not publish a column (tables)")
    add(
        "--bounds",
        nargs="+",
        default=[],
        metavar="COLUMN=LOW:HIGH",
        help="for noise: what a column can hold, such as lux=0:1000. Other bounds are read from the data, which "
        "epsilon does not cover (tables)",
    )
    add(
        "--missing",
        choices=("impute", "drop", "error"),
        default="impute",
        help="missing numbers: fill them with the median of the training rows, leave their rows out, or stop (impute; "
        "tables)",
    )
    add(
        "--rare",
        choices=("aside", "keep", "error"),
        default="aside",
        help="users and classes with one row: leave them out, publish them, or stop (aside; tables)",
    )
    add("--sample", type=int, default=20_000, metavar="N", help="rows to fit and measure the defence on (20000)")
    add("--keep-order", action="store_true", help="do not shuffle rows; a known order identifies them")
    add("--seed", type=int, default=42, help="seed of sample, split and models; noise is never seeded (42)")
    add("--quiet", action="store_true", help="show no progress bars")
    command.set_defaults(command=publish_file)


def publish_file(arguments: argparse.Namespace) -> int:
    """Publish a file, print what was written, and return the exit code; see `minimize.cli.minimize_file`."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except (FileNotFoundError, LookupError) as error:
        raise ValueError(str(error)) from error
    except ValueError as error:
        # errors name parameters of Python; the options of the command have the same names
        raise ValueError(re.sub(r"^(?=(?:out|save|bounds) )", "--", in_options(str(error), TABLE_OPTIONS))) from error


def _run(arguments: argparse.Namespace) -> int:
    common = {name: getattr(arguments, name) for name in ("task", "defence", "out", "save", "fitted", "seed")}
    if arguments.sample < 20:
        raise ValueError(f"--sample {arguments.sample}: give at least 20 rows")
    if arguments.defence is None and arguments.fitted is None:
        first = "latent" if arguments.file.suffix.lower() == ".toml" else "minimize:threshold=.01"
        raise ValueError(
            f"--defence is missing: {first} is a good first choice, and `sensorprivacy compare` finds the best one for "
            "your data; or name a folder with --fitted"
        )
    if arguments.file.suffix.lower() == ".toml":
        tables: dict[str, object] = {
            "user": None,
            "groups": None,
            "keep": [],
            "drop": [],
            "bounds": [],
            "keep_order": False,
        }
        _refuse(arguments, tables | {"missing": "impute", "rare": "aside"}, "tables")
        from sensorprivacy.own.notices import plain_notices
        from sensorprivacy.own.published_recordings import publish_recordings

        with plain_notices():
            card = publish_recordings(arguments.file, hide=arguments.hide, progress=not arguments.quiet, **common)
    else:
        _refuse(arguments, {"hide": None}, "recordings")
        from sensorprivacy.own.bounds import parse_bounds
        from sensorprivacy.own.publish import publish

        card = publish(
            arguments.file,
            user=arguments.user,
            groups=arguments.groups,
            keep=arguments.keep,
            drop=arguments.drop,
            bounds=parse_bounds(arguments.bounds),
            rare=arguments.rare,
            sample=arguments.sample,
            missing=arguments.missing,
            in_order=arguments.keep_order,
            **common,
        )
    print(card.to_markdown())
    print(f"Written: {arguments.out} ({', '.join(card.facts['size'])}, card.md, card.json)")
    if arguments.save is not None:
        print(f"Saved: {arguments.save} (keep it private: it describes the training rows)")
    return 0


def _refuse(arguments: argparse.Namespace, options: dict[str, object], kind: str) -> None:
    """Raise ValueError for options that are for tables or for recordings only."""
    for name, default in options.items():
        if getattr(arguments, name) != default:
            other = {"tables": "describes recordings", "recordings": "is a table"}[kind]
            raise ValueError(f"--{name.replace('_', '-')} is for {kind}, but {arguments.file} {other}: leave it out")
