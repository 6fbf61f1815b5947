"""The options of `sensorprivacy edge`; the commands themselves are tested beside what they call."""

from pathlib import Path

import pytest

from sensorrelease import board, cli, commands


@pytest.fixture
def called(monkeypatch):
    """Return the options that the last command was called with."""
    found = {}

    def remember(namespace=None, **options):
        found.clear()
        found.update(options if namespace is None else vars(namespace))
        return 0

    monkeypatch.setattr(commands, "export", remember)
    monkeypatch.setattr(board, "measure_bundles", remember)
    return found


def test_export_and_measure_are_commands(called):
    assert cli.main(["edge", "export", "own", "--epochs", "2"]) == 0
    assert (called["epochs"], called["inference_epochs"], called["out"]) == (2, 5, Path("edge"))
    assert (called["recordings"], called["model"]) == (Path("own"), None)
    assert cli.main(["edge", "measure", "--out", "a.json", "--batches", "1", "32", "--seconds", "2"]) == 0
    assert (called["batches"], called["seconds"], called["bundles"]) == ((1, 32), 2, Path("edge"))
    assert cli.main(["edge", "measure", "--out", "a.json"]) == 0
    assert called["batches"] == (1, 128, 256)


def test_an_unknown_command_is_refused(capsys):
    assert cli.main(["edge", "install"]) == 2
    assert "install" in capsys.readouterr().err
