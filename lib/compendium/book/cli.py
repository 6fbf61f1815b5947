"""The command ``compendium book``."""

import argparse
from pathlib import Path
from typing import Any


def add_book_command(commands: Any) -> None:
    """Add the command ``book`` to a command line.

    Parameters
    ----------
    commands : argparse subparsers action
        Result of ``parser.add_subparsers()``. The namespace gets ``command``, a function that returns the exit code.
    """
    book = commands.add_parser("book", help="build the book: all results as web pages that work without a network")
    book.set_defaults(command=_book)
    book.add_argument("--out", type=Path, metavar="FOLDER", help="folder to write (default: build/book)")
    book.add_argument("--only", nargs="+", default=[], metavar="RUN", help="runs to show; * stands for any part")


def _book(arguments: argparse.Namespace) -> int:
    from compendium.book.site import build, size_in_mb

    page = build(arguments.out, arguments.only)
    print(f"{page}  {size_in_mb(page.parent):.0f} MB")
    return 0
