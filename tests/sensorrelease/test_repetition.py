"""The choice is repeated on other rows: clear choices stay, chance choices change."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import FunctionTransformer

from sensorrelease import compare
from sensorrelease.advice import repeat_advice
from sensorrelease.compare_page import page

FAST = {"model": RandomForestClassifier(8), "draws": 360, "progress": False}


def keep(*columns):
    return FunctionTransformer(lambda X: X[list(columns)])


@pytest.mark.first(1)
@pytest.mark.parametrize("grouped", [False, True])
def test_a_clear_choice_is_always_made_again(make, grouped):
    problem = make(240, groups=np.arange(240) // 4 if grouped else None)
    found = compare(problem, {"task": keep("task"), "user": keep("task", "user")}, **FAST)
    repeated = found.repeated(0.05)
    assert repeated.chosen == {"task": 20}
    assert repeat_advice(found.results, 0.05) == repeated
    assert "20 of 20: task." in " ".join(page(found, 0.05).split())
    assert "depends on the rows" not in repeated.text


def test_a_loss_at_the_limit_changes_the_choice(make):
    problem = make(240)
    blur = FunctionTransformer(lambda X: X[["task"]] + np.random.default_rng(0).normal(0, 0.5, (len(X), 1)))
    found = compare(problem, {"blurred": blur, "all": keep("task", "user")}, **FAST)
    loss = found["blurred"].loss(found.raw, "validation").value
    repeated = found.repeated(max(loss, 0))
    assert sum(repeated.chosen.values()) == 20
    assert len(repeated.chosen) > 1
    assert "prefer a defence that is often chosen" in repeated.text


def test_the_warning_names_the_class_and_the_balanced_accuracy(make):
    found = compare(make(240), {"task": keep("task")}, **FAST)
    assert found.imbalance == ""
    found.facts["most_frequent_class"] = {"class": "tv", "share": 1.0}
    assert "most frequent class (tv: 100.0% of the rows). The balanced accuracy" in found.imbalance
    assert "Warning: The accuracy on the raw table" in " ".join(page(found).split())
