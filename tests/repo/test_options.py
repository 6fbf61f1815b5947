"""Every option of the command lines that takes a number has bounds, and refuses what lies outside them."""

import re
from collections.abc import Iterator

import click
import pytest

from compendium import cli as compendium
from sensorrelease import board
from sensorrelease import cli as own

RANGES = (click.IntRange, click.FloatRange)


def options(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Option]]:
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, (*words, name))
    for option in command.params:
        if isinstance(option, click.Option) and isinstance(option.type, type(click.INT) | type(click.FLOAT)):
            yield words, option


CASES = [(main, *found) for main, group in ((own.main, own.group), (compendium.main, compendium.compendium))
         for found in options(group)]  # fmt: skip
NAMES = [" ".join([*words, option.opts[-1]]) for _, words, option in CASES]


def test_options_are_found():
    assert {"minimize --bins", "compare --minutes", "edge measure --batches", "reproduce --cores"} <= set(NAMES)


@pytest.mark.parametrize(("main", "words", "option"), CASES, ids=NAMES)
def test_a_number_outside_the_bounds_is_refused_in_a_line_that_names_the_option(main, words, option, capsys):
    assert isinstance(option.type, RANGES)
    outside = ["-2", "1000000000000", "x", ""] + ["nan", "inf", "1e12"] * isinstance(option.type, click.FloatRange)
    outside += ["-1"] * ("jobs" not in option.name)  # -1 means all cores
    outside += ["0"] * (option.name not in ("threshold", "max_loss", "seed", "repeat"))
    for value in outside:
        assert main([*words, f"{option.opts[-1]}={value}"]) == 2, value
        said = capsys.readouterr().err.splitlines()
        assert re.search(f"Error: Invalid value for '{option.opts[-1]}", said[-1]), said


@pytest.mark.parametrize("value", ["-1", "0", "1000000000000", "1e12", "nan", "inf", "x"])
@pytest.mark.parametrize("words", ["measure --threads", "measure --batches", "measure --seconds", "measure --minutes"])
def test_the_program_of_a_board_refuses_the_same(words, value, capsys, tmp_path):
    command, option = words.split()
    try:
        code = board.main([command, "--out", str(tmp_path / "record.json"), f"{option}={value}"])
    except SystemExit as ended:  # of argparse
        code = ended.code
    assert code == 2
    assert option in capsys.readouterr().err.splitlines()[-1]
