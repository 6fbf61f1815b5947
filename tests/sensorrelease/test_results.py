"""Results: written to JSON and back without a difference."""

import dataclasses
import json

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.game.splits import default_split
from sensorprivacy.game.tables import PARTS, TABLE_ATTACKERS, TableScene, judge, table_question
from sensorrelease.chart import frontier
from sensorrelease.findings import Findings
from sensorrelease.results import Result, Store
from sensorrelease.words import parse


def one(problem, split, word):
    defence = parse(word)
    published = defence.publish(problem, split.train, 0)
    forest = RandomForestClassifier(8, random_state=0)
    lines = judge(TableScene(problem, published.values, split, forest, parts=PARTS), TABLE_ATTACKERS, draws=49)
    return Result(
        word, defence.family, defence.about, defence.trivial, 1.0, tuple(published.values), 0, published.guarantees,
        published.epsilon, 2.0, 1.0, lines,
    )  # fmt: skip


def test_a_result_survives_its_record(make):
    problem = make(240, groups=np.arange(240) // 4)
    split = default_split(problem, test=0.25, validation=0.25)
    result, raw = one(problem, split, "noise:epsilon=4"), one(problem, split, "none")
    text = json.dumps(result.to_record())
    again = Result.from_record(json.loads(text), lambda *about: table_question(problem, split, *about).judged_clusters)
    for name in ("defence", "columns", "guarantees", "epsilon", "seconds", "guaranteed", "levels"):
        assert getattr(again, name) == getattr(result, name)
    for first, second in zip(result.judged, again.judged, strict=True):
        assert dataclasses.replace(first.measure, exposed="") == dataclasses.replace(second.measure, exposed="")
        np.testing.assert_array_equal(first.right, second.right)
    for level in ("row", "group"):
        assert again.attack_minus(raw, level) == result.attack_minus(raw, level)
    assert again.loss(raw) == result.loss(raw)
    assert again.loss(raw).unit == "groups"


def test_a_record_of_another_version_is_ignored(tmp_path):
    (tmp_path / "kept.jsonl").write_text('{"key": "k", "result": {"judged": [], "defence": "none"}}\n')
    store = Store(tmp_path / "kept.jsonl")
    assert store.restore("k", lambda *about: None) is None
    assert store.restore("other", lambda *about: None) is None


def test_one_release_makes_a_frontier(problem):
    split = default_split(problem, test=0.25, validation=0.25)
    findings = Findings("toy", [one(problem, split, "none")], [], {"rows_of_a_person": 1})
    assert findings.recommend().text.startswith("No defence was judged, so there is no advice yet.")
    assert {text.get_text() for text in frontier(findings.frame).axes[0].texts} == {"raw data"}
