"""Kinds of command-line options that click lacks, and the size of a table before anything is loaded."""

import math
from pathlib import Path
from typing import Any

import click

_CELL, _REST = 2.5e-6, 60  # seconds to read a cell, and for everything else
LARGE = 3_000_000  # cells


def expectation(file: Path) -> str:
    """Return the rows of a large CSV file and the time that `minimize` takes, by its first bytes; else nothing."""
    if not file.is_file() or file.suffix not in (".csv", ".tsv", ".txt"):
        return ""
    with file.open("rb") as stream:
        head = stream.read(2**16)
    columns = 1 + max(head.partition(b"\n")[0].count(mark) for mark in (b",", b";", b"\t", b"|"))
    rows = int(file.stat().st_size * head.count(b"\n") / max(1, len(head)))
    minutes = (_CELL * rows * columns + _REST) / 60
    said = f"about {rows:,} rows of {columns} columns: about {math.ceil(minutes)} minutes on two free cores"
    return said if rows * columns > LARGE else ""


class Command(click.Command):
    """A command whose options with several values also take them in a row: ``--defences none noise``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat such an option before each of its values."""
        several = {"--defences", "--batches"}
        words: list[str] = []
        option = ""
        for word in args:
            if word.startswith("--"):
                option = word
            elif option in several and words[-1] != option:
                words.append(option)
            words.append(word)
        return super().parse_args(ctx, words)


class Jobs(click.IntRange):
    """A number of workers: no zero, which joblib refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        if (number := super().convert(value, param, ctx)) == 0:
            self.fail("0 does no work: give 1 or more, or -1 for all cores.", param, ctx)
        return number


class Numbers(click.FloatRange):
    """A range of numbers, to which ``nan`` does not belong."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        if math.isnan(number := super().convert(value, param, ctx)):
            self.fail(f"{value} is no number.", param, ctx)
        return number
