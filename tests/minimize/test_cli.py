"""The command: a page on stdout, a table on disk, errors before minutes are spent."""

import argparse
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sensorprivacy import minimize
from sensorprivacy.datasets.own import tables
from sensorprivacy.game import Measure
from sensorprivacy.minimize import cli, engines, greedy, scores
from sensorprivacy.minimize.cli import _verdict, add_minimize_command

FAST = ["--trees", "5", "--quiet"]


@pytest.fixture
def run():
    parser = argparse.ArgumentParser()
    add_minimize_command(parser.add_subparsers(required=True))

    def call(*words):
        arguments = parser.parse_args(["minimize", *map(str, words)])
        return arguments.command(arguments)

    return call


@pytest.fixture
def table(problem):
    place = np.where(problem.features["task2"] > 0.5, "kitchen", "hall")
    owner = [f"owner {number}" for number in problem.users]
    return problem.features.assign(place=place, device=np.where(problem.task, "tv", "fridge"), owner=owner)


@pytest.fixture
def file(table, tmp_path):
    table.to_csv(tmp_path / "home.csv", index=False)
    return tmp_path / "home.csv"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_page_and_table(run, file, table, tmp_path, capsys, suffix):
    out = tmp_path / f"small{suffix}"
    assert run(file, "--task", "device", "--user", "owner", "--threshold", ".05", "--out", out, *FAST) == 0
    said = capsys.readouterr().out
    for part in ("DATA MINIMIZATION OF home", "What to keep", "What it costs", "What an adversary still learns"):
        assert part in said
    assert max(len(line) for line in said.splitlines() if str(out) not in line) <= 120
    assert len(said.splitlines()) < 50
    written = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    kept = list(written.columns[:-1])
    assert written.columns[-1] == "device"
    assert "task" in kept
    assert not {"user", "owner"} & set(kept)
    pd.testing.assert_frame_equal(written, table[[*kept, "device"]], check_dtype=False)
    for name in kept:
        assert name in said.split("keep ")[1].split("drop ")[0]


def test_two_stages_groups_and_a_store(run, file, table, tmp_path, capsys):
    table.assign(day=np.arange(240) // 8).to_csv(file, index=False)
    words = [file, "--task", "device", "--user", "owner", "--groups", "day", "--preselect", "2", "--score", "gini"]
    assert run(*words, "--store", tmp_path / "scores.sqlite", *FAST) == 0
    said = capsys.readouterr().out
    assert "2 of 6 features preselected by gini ratio" in said
    assert "3 subsets" in said
    assert "grouped" in said
    assert (tmp_path / "scores.sqlite").exists()


def test_threshold_table_says_what_is_undefined(run, file, capsys):
    run(file, "--task", "device", "--user", "owner", *FAST)
    rows = capsys.readouterr().out.split("threshold")[-1].splitlines()
    assert "N/A" in rows[2]


def measure(score, low, chance):
    return Measure(score=score, low=low, high=1.0, chance=chance, balanced=score, unseen=0.0)


def test_an_adversary_that_does_not_beat_chance_is_reported_as_such():
    assert "No better than" in _verdict(measure(0.3, 0.2, 0.25))
    assert "Still 2.0 times" in _verdict(measure(0.5, 0.4, 0.25))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "small.xlsx"], "must end in"),
        (["--out", "no/such/small.csv"], "there is no folder"),
        (["--trees", "0"], "at least one tree"),
        (["--threshold", "2"], r"threshold=2\.0"),
        (["--groups", "owner"], "different columns"),
    ],
)
def test_wrong_words(run, file, words, message):
    with pytest.raises(ValueError, match=message):
        run(file, "--task", "device", "--user", "owner", "--quiet", *words)


def test_input_is_never_replaced(run, file):
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is the table itself"):
        run(file, "--task", "device", "--user", "owner", "--out", file)
    assert file.read_bytes() == before


def test_wrong_column_and_constant_feature(run, file, table):
    with pytest.raises((ValueError, LookupError), match="'room'"):
        run(file, "--task", "room", "--user", "owner", "--quiet")
    table.assign(floor=1).to_csv(file, index=False)
    with pytest.raises(ValueError, match="'floor'"):
        run(file, "--task", "device", "--user", "owner", *FAST)
    assert run(file, "--task", "device", "--user", "owner", "--constant", "drop", *FAST) == 0


def test_words_are_those_of_the_library():
    assert cli.SCORES == scores.SCORES
    assert cli.ORDERS == greedy.ORDERS
    assert cli.ENGINES == engines.ENGINES
    assert (cli.TEXT_SUFFIXES, cli.PARQUET_SUFFIXES) == (tables.TEXT_SUFFIXES, tables.PARQUET_SUFFIXES)


def test_saying_what_the_command_takes_loads_no_forest():
    code = (
        "import argparse, sys; from sensorprivacy.minimize.cli import add_minimize_command; "
        "add_minimize_command(argparse.ArgumentParser().add_subparsers()); "
        "print([name for name in ('sklearn', 'pandas', 'numba') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_names_of_the_package():
    assert all(getattr(minimize, name) is not None for name in minimize.__all__)
    assert set(minimize.__all__) <= set(dir(minimize))
    with pytest.raises(AttributeError, match="no attribute 'maximize'"):
        _ = minimize.maximize
