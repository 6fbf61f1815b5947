"""From recommendation to release: each ranked defence has a word of `publish`, and the page prints the command."""

import json
import shlex

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier

import sensorprivacy
from sensorrelease import cli, compare, table_defences
from sensorrelease.compare_page import page
from sensorrelease.publishing import tables
from sensorrelease.publishing.tables import publish
from sensorrelease.tables import own_problem

FAST = {"model": RandomForestClassifier(5), "draws": 360, "progress": False}
ROLES = {"task": "device", "user": "owner"}
ACCEPTED = ROLES | {"accept_draft": True}


@pytest.fixture
def table(problem):
    return problem.features.round(3).assign(device=problem.task, owner=problem.users, hour=np.arange(240) // 4)


@pytest.mark.slow
def test_every_ranked_defence_of_a_table_can_be_published(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "measure_table", lambda *_, **__: [])
    for at, one in enumerate(table_defences()):
        card = publish(table, defence=one.word, out=tmp_path / str(at), **ACCEPTED)
        assert card.facts["defence"]["name"] == one.name == one.word


@pytest.mark.slow
def test_tables_and_files_can_be_compared_in_python(table, problem, tmp_path):
    """REVIEW D6: `compare("home.csv")` and `compare(df)` were AttributeErrors, and `Problem` was not exported."""
    table.to_csv(tmp_path / "home.csv", index=False)
    chosen = ["minimize:threshold=.1"]
    found = [compare(one, chosen, **ROLES, **FAST) for one in (tmp_path / "home.csv", table)]
    assert found[0].frame["attack"].tolist() == found[1].frame["attack"].tolist()
    with pytest.raises(ValueError, match=r"name the columns of the table: task=\.\.\. and user=\.\.\."):
        compare(table)
    with pytest.raises(ValueError, match="a Problem has its own labels and features: leave task, user out"):
        compare(problem, **ROLES)
    assert isinstance(problem, sensorprivacy.Problem)


def test_the_command_on_the_page_publishes_what_was_recommended(table, tmp_path, monkeypatch, capsys):
    """As printed, with a column and a file whose names need quotes, and the options that read the table."""
    monkeypatch.chdir(tmp_path)
    table.rename(columns={"noise": "a b"}).to_csv("my home.csv", index=False)
    words = ["--trees", "5", "--quiet", "--defences", "minimize:threshold=.2", "--max-loss", ".2", "--json", "all.json"]
    given = ["--task", "device", "--user", "owner", "--recording", "hour"]
    assert cli.main(["compare", "my home.csv", *given, *words]) == 0
    said = capsys.readouterr().out
    line = next(line.strip() for line in said.splitlines() if "sensorprivacy publish" in line)
    assert line == (
        "sensorprivacy publish 'my home.csv' --defence minimize:threshold=0.2 --task device --user owner "
        "--recording hour --accept-draft --out release"
    )
    content = json.loads((tmp_path / "all.json").read_text())
    assert content["words"] == {"none": "none", "minimize:threshold=0.2": "minimize:threshold=0.2"}
    assert cli.main(shlex.split(line)[1:]) == 0
    card = json.loads((tmp_path / "release" / "card.json").read_text())
    assert card["columns"]["published"] == [*content["columns"]["minimize:threshold=0.2"], "device"]


@pytest.mark.first(1)
@pytest.mark.parametrize("threshold", [0, 0.1])
def test_compare_and_publish_choose_the_same_columns(table, tmp_path, monkeypatch, threshold):
    """As the guide says: also of numbers with gaps, and of texts without."""
    monkeypatch.setattr(tables, "measure_table", lambda *_, **__: [])
    texts = np.where(table["day"] > 3, "late", "early")
    table = table.assign(part=texts, noise=table["noise"].where(table.index % 9 > 0))
    word = f"minimize:threshold={threshold:g}"
    found = compare(table, [word], **ROLES, **FAST)
    card = publish(table, defence=word, out=tmp_path / "out", **ACCEPTED)
    assert card.facts["columns"]["published"] == [*found[word].columns, "device"]


def test_advice_prints_as_text_with_the_call_for_a_table_in_memory(table, tmp_path):
    """REVIEW D6: `print(found.recommend())` was a raw repr."""
    found = compare(table, ["minimize:threshold=.2"], **ROLES, **FAST)
    advice = found.recommend(0.2)
    assert repr(advice) == f"{advice.text}\n\n{advice.command}"
    assert advice.command.startswith("publish(table, defence='minimize:threshold=0.2', task='device', user='owner', ")
    card = eval(advice.command.replace("'release'", "tmp_path / 'out'"))
    assert card.facts["columns"]["published"] == [*found["minimize:threshold=0.2"].columns, "device"]
    assert "Publish it" in page(found, 0.2)
    assert "can keep other columns" in " ".join(page(found, 0.2).split())


@pytest.mark.slow
def test_no_command_is_printed_where_none_would_work(table, problem):
    """Own transformers have no word, hand-made problems no file; a divided task is not published."""
    own = compare(table, {"minimize": PCA(2)}, **ROLES, **FAST)
    assert (own.facts["words"], own.recommend(1).command) == ({"none": "none", "minimize": ""}, "")
    assert compare(problem, ["noise:epsilon=50"], **FAST).recommend(1).command == ""
    numbers = table.assign(device=np.arange(240.0) % 50 + (table["device"] == "tv") * 50)
    assert "publish" not in own_problem(numbers, bins=2, **ROLES).provenance
