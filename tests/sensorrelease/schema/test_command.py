"""The command drafts, shows and confirms a schema."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.cli import main
from sensorrelease.schema import load

DRAW = np.random.default_rng(0)


@pytest.fixture
def home(tmp_path):
    columns = {
        "load": DRAW.normal(size=90).round(2),
        "room": DRAW.choice(["a", "b"], 90),
        "owner": DRAW.choice([*"pqrs"], 90),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "home.csv", index=False)
    return tmp_path / "home.csv"


def test_a_draft_is_shown_and_confirmed(home, capsys):
    assert main(["schema", str(home), "--task", "room", "--user", "owner"]) == 0
    file = home.with_name("home.schema.yaml")
    said = capsys.readouterr().out
    assert "load" in said
    assert f"sensorprivacy schema {file} --confirm" in said
    assert not load(file).is_confirmed
    assert main(["schema", str(file), "--confirm"]) == 0
    assert "load, room" in capsys.readouterr().out
    assert load(file).is_confirmed


def test_a_schema_is_not_overwritten(home, capsys):
    words = ["schema", str(home), "--task", "room", "--user", "owner", "--quiet"]
    assert main(words) == 0
    assert main(words) == 1
    assert "exists already" in capsys.readouterr().err
    assert main([*words, "--out", str(home.with_name("other.yaml"))]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["home.csv"], "give --task and --user"),
        (["home.csv", "--confirm"], "home.csv"),
        (["none.csv", "--task", "room", "--user", "owner"], "there is no file"),
        (["home.csv", "--task", "rooms", "--user", "owner"], "has no column 'rooms'"),
    ],
)
def test_errors_are_one_line(home, words, said, capsys):
    assert main(["schema", str(home.with_name(words[0])), *words[1:]]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
