"""The options of `sensorprivacy edge`; the commands themselves are tested beside what they call."""

import argparse

import pytest

from sensorprivacy.own.edge_cli import add_edge_command


@pytest.fixture
def parse():
    parser = argparse.ArgumentParser()
    add_edge_command(parser.add_subparsers())
    return parser.parse_args


def test_export_measure_and_replay_are_commands(parse):
    export = parse(["edge", "export", "own.toml", "--epochs", "2"])
    assert (export.epochs, export.inference_epochs, export.out, export.model) == (2, 5, None, None)
    assert all(callable(parse(words).command) for words in (["edge", "measure", "--out", "a.json"], ["edge", "replay"]))


def test_an_unknown_command_is_refused(parse, capsys):
    with pytest.raises(SystemExit):
        parse(["edge", "install"])
    assert "install" in capsys.readouterr().err
