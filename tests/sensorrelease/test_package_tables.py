"""End to end on tables that ship in packages: `compare` keeps its budget, and a stranger finds the card's numbers."""

import importlib
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from sensorprivacy.game.units import share
from sensorrelease import card as card_module
from sensorrelease import compare, comparison
from sensorrelease.card import measure_table
from sensorrelease.publishing import tables as module
from sensorrelease.publishing.tables import publish
from sensorrelease.tables import own_problem
from sensorrelease.words import table_defences

TREES, MINUTES = 10, 0.06  # of a processor; on a busy machine, the first answer alone took more than half of this
ROLES = {"task": "task", "user": "user"}
ACCEPTED = ROLES | {"accept_draft": True}


def wine():
    """Return chemical measurements of wines; the user is the grower's cultivar, the task a strong wine."""
    table = datasets.load_wine(as_frame=True).frame.rename(columns={"target": "user"})
    return table.assign(task=table["alcohol"] > 13).drop(columns="alcohol")


def diabetes():
    """Return measurements of patients; the user is their sex, the task a fast progression."""
    table = datasets.load_diabetes(as_frame=True, scaled=False).frame.rename(columns={"sex": "user"})
    return table.assign(task=table["target"] > table["target"].median()).drop(columns="target")


def of_statsmodels(name):
    pytest.importorskip("statsmodels", reason="statsmodels is in the extra dev")
    return importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data


def grunfeld():
    """Return years of companies; the user is the company, the task a large investment."""
    table = of_statsmodels("grunfeld").rename(columns={"firm": "user"})
    return table.assign(task=table["invest"] > table["invest"].median()).drop(columns=["invest", "year"])


def modechoice():
    """Return four ways to travel for each of 210 individuals; the user is the individual, the task the way."""
    return of_statsmodels("modechoice").rename(columns={"individual": "user", "mode": "task"})


def anes96():
    """Return voters; the user is the party they identify with, the task their vote."""
    return of_statsmodels("anes96").rename(columns={"PID": "user", "vote": "task"})


def attacked(table, label):
    """Return which rows a stranger's forest predicts, each row by forests that have not seen it."""
    X = table.drop(columns=label).to_numpy(float)
    folds = StratifiedKFold(2, shuffle=True, random_state=1)
    forest = RandomForestClassifier(20, random_state=1)
    return cross_val_predict(forest, X, table[label], cv=folds) == table[label].to_numpy()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*identify rows", "ignore:The least populated class")
@pytest.mark.parametrize(
    ("make", "defence"),
    [
        (wine, "minimize:threshold=.03,preselect=5"),
        (diabetes, "noise:epsilon=30"),
        (grunfeld, "none"),
        (modechoice, "threeway:epsilon=2"),
        (anes96, "method:gini_utility,columns=3"),
    ],
)
def test_the_budget_is_kept_and_the_published_file_gives_the_cards_numbers(make, defence, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "measure_table", partial(measure_table, trees=TREES))
    monkeypatch.setattr(card_module, "DRAWS", 99)
    table = make()
    table.to_csv(tmp_path / "table.csv", index=False)

    monkeypatch.setattr(comparison.time, "monotonic", time.process_time)  # other processes may share the cores
    began = time.process_time()
    problem = own_problem(tmp_path / "table.csv", **ROLES)
    options = {"model": RandomForestClassifier(TREES), "draws": 360, "max_rows": 200, "progress": False}
    found = compare(problem, minutes=MINUTES, **options)
    assert time.process_time() - began < 60 * MINUTES * 1.1 + 4
    assert len(found.results) > 1
    assert len(found.results) + len(found.untried) == len(table_defences())
    assert found.recommend().text

    card = publish(
        tmp_path / "table.csv",
        defence=defence,
        out=tmp_path / "out",
        in_order=True,
        although_identifying=True,
        **ACCEPTED,
    )
    written = pd.read_csv(tmp_path / "out" / "data.csv")
    assert "user" not in written
    rows = pd.DataFrame(card.facts["measured"]).query("data == 'published' and level == 'row'").set_index("attacker")
    linked = written.assign(task=pd.factorize(written["task"])[0])  # the rows are in order, which links them
    for attacker, about, X, label in (
        ("task model: forest", "task task", linked, "task"),
        ("adaptive forest", "user user", linked.assign(user=table["user"]), "user"),
    ):
        told, ours = rows.loc[attacker], share(attacked(X, label), confidence=0.99)
        assert (told["about"], told["unit"]) == (about, "rows")
        assert told["low"] <= ours.high, (told, ours)
        assert told["high"] >= ours.low, (told, ours)
    assert np.isfinite(rows["score"]).all()
