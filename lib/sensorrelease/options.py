"""Kinds of command-line options that click lacks."""

import math
from typing import Any

import click


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
