"""The words of the command review."""

import argparse

import pytest
from compendium.review.cli import add_review_command


def parsed(*words):
    parser = argparse.ArgumentParser()
    add_review_command(parser.add_subparsers())
    return parser.parse_args(["review", *words])


def test_a_cell_is_optional_and_quick_is_the_profile():
    assert (parsed().cell, parsed().profile) == (None, "quick")
    assert (parsed("2-T2-age", "--profile", "paper").cell) == "2-T2-age"


def test_an_unknown_profile_is_refused(capsys):
    with pytest.raises(SystemExit):
        parsed("--profile", "fast")
    assert "invalid choice: 'fast'" in capsys.readouterr().err
