"""The command ``compendium lessons``."""

import argparse
import sys
from pathlib import Path

from compendium.paths import build_dir


def add_lessons_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``lessons`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        Result of ``parser.add_subparsers()``. The namespace gets ``command``, a function that returns the exit code.
    """
    lessons = subparsers.add_parser("lessons", help="make the student versions of the lessons with nbgrader")
    lessons.set_defaults(command=_lessons)
    lessons.add_argument("--out", type=Path, metavar="FOLDER", help="course folder to write (default: build/lessons)")


def _lessons(arguments: argparse.Namespace) -> int:
    from compendium.lessons.release import make_course

    for path in make_course(arguments.out or build_dir() / "lessons", lambda line: print(line, file=sys.stderr)):
        print(path)
    return 0
