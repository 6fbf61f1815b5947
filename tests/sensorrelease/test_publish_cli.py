"""The command publishes, says what it wrote, and refuses wrong words with one line."""

import pandas as pd
import pytest

from sensorrelease import cli
from sensorrelease.publishing import tables as module


@pytest.fixture
def file(tmp_path, problem, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "measure_table", lambda *_, **__: [])
    table = problem.features.assign(device=problem.task, owner=problem.users)
    table.to_csv("home.csv", index=False)
    return "home.csv"


def test_publish_save_and_publish_again(file, capsys, tmp_path):
    words = ["publish", file, "--defence", "noise:epsilon=8", "--out", "published", "--save", "fitted"]
    assert cli.main([*words, "--task", "device", "--user", "owner"]) == 2
    assert "data leave only by a schema that a person confirmed" in capsys.readouterr().err
    assert cli.main(["schema", file, "--task", "device", "--user", "owner"]) == 0
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "this one is written, not confirmed: read it, and confirm it with" in said
    assert "--accept-draft" in said
    assert cli.main(["schema", "home.schema.yaml", "--confirm"]) == 0
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert "Accepted" not in said
    for part in ("# Data card: data", "Written: published (240 rows,", "Saved: fitted (keep it private"):
        assert part in said
    assert "owner" not in pd.read_csv("published/data.csv")
    assert cli.main(["publish", file, "--fitted", "fitted", "--out", "again"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "again",
        "fitted",
        "home.csv",
        "home.schema.yaml",
        "published",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv"], "there is no file none.csv"),
        (["home.csv", "--user", "nobody"], "has no column 'nobody'"),
        (["home.csv", "--defence", "hide"], "unknown defence 'hide'"),
        (["home.csv", "--defence", "latent:epochs=9"], "'latent:epochs=9' is for recordings; for tables, choose from"),
        (["home.csv", "--defence", "noise:epsilon=-1"], "epsilon=-1 must be"),
        (["home.csv", "--out", "home.csv"], "--out home.csv exists already"),
        (["home.csv", "--save", "no/where"], "--save no/where: there is no folder"),
        (["home.csv", "--hide", "gender"], "--hide is for recordings"),
        (["mine.toml"], "descriptions in TOML are no longer read"),
        (["home.csv", "--fitted", "home.csv"], "has its own defence and task and user"),
        (["home.csv", "--schema", "home.csv"], "home.csv: a schema needs keys such as fields"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(file, capsys, tmp_path, words, said):
    given = {"--task": "device", "--user": "owner", "--defence": "none", "--out": "out"}
    options = given | dict(zip(words[1::2], words[2::2], strict=True))
    assert cli.main(["publish", words[0], *(word for pair in options.items() for word in pair), "--accept-draft"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert said in error
    assert len(error.splitlines()) == 1
    assert capsys.readouterr().out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["home.csv"]


def test_an_interrupt_leaves_nothing(file, capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_rows", interrupted)
    words = [
        "publish",
        file,
        "--task",
        "device",
        "--user",
        "owner",
        "--defence",
        "none",
        "--out",
        "out",
        "--accept-draft",
    ]
    assert cli.main(words) == 130
    assert "interrupted; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["home.csv"]


@pytest.mark.parametrize(("file", "first"), [("home.csv", "minimize:threshold=.01"), ("own.schema.yaml", "latent")])
def test_a_missing_defence_is_answered_with_a_first_choice(tmp_path, capsys, file, first):
    assert cli.main(["publish", file, "--task", "room", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"--defence is missing: {first} is a good first choice, and `sensorprivacy compare` finds" in said


def test_the_usage_shows_what_is_needed(capsys):
    assert cli.main(["publish", "--help"]) == 0
    assert "--defence WORD --out FOLDER" in " ".join(capsys.readouterr().out.split())
