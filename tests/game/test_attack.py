"""The attack engine, on scenes whose answers are written down."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from sensorprivacy.game import Attack, Attacks, attack, attack_all
from sensorprivacy.game.attack import THROUGH, Prediction, Question
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.units import share
from sensorprivacy.game.wilson import wilson

RECORDINGS = np.array([0, 0, 0, 1, 1, 1, 2, 2])
ROWS = Question("user", "row", np.array(["a", "b", "a", "b"]), np.array(list("aaabbbaa")))
GROUPS = replace(ROWS, level="recording", truth=np.array(["a", "b", "a"]), groups=RECORDINGS, unit="recordings")
SURE = np.array([0.9, 0.9, 0.3, 0.2, 0.2, 0.7, 0.4, 0.4])  # probability of a: wrong in rows 2, 5, 6 and 7


@dataclass(frozen=True)
class Scene:
    """A scene in which the attackers are the answers, one for each run."""

    name: str = "r"
    runs: int = 1
    asked: list[Question] = field(default_factory=lambda: [ROWS, GROUPS])

    def questions(self, attacker):
        return self.asked

    def predict(self, attacker, run):
        if attacker is None:
            return None
        if isinstance(attacker, str):
            raise ValueError(attacker)
        belief = attacker[run]
        return Prediction(np.column_stack([belief, 1 - belief]), np.array([0.5, 0.5]), np.arange(2))


def test_rows_are_scored_one_by_one_and_recordings_by_the_product_of_their_odds():
    found = attack(Scene(), {"one": [SURE]}, draws=0)
    assert found.at("row").score == 4 / 8
    assert (found.at("row").low, found.at("row").high) == pytest.approx(wilson(4, 8))
    # odds of a: 9 * 9 * 3/7 in the first recording, 1/4 * 1/4 * 7/3 in the second, (2/3) ** 2 in the third
    assert found.at("recording").score == pytest.approx(2 / 3)
    assert found[1].right.tolist() == [True, True, False]
    assert found.at("recording").n == 3
    assert found.table["n"].tolist() == ["8 rows", "3 recordings"]


def test_chance_is_that_of_the_most_frequent_training_class_and_ties_are_halved():
    tie = attack(Scene(), {"one": [SURE]}, draws=0).at("row")
    assert tie.chance == 0.5
    often = replace(ROWS, known=np.array(["a", "a", "b"]))
    found = attack(Scene(asked=[often]), {"one": [SURE]}, draws=0).at("row")
    assert found.chance == 5 / 8
    assert found.above == pytest.approx(4 / 8 - 5 / 8)
    assert attack(Scene(asked=[replace(often, least=0.9)]), {"one": [SURE]}, draws=0).at("row").chance == 0.9


def test_results_of_runs_are_means_and_intervals_count_clusters():
    people = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    asked = [replace(ROWS, clusters=people, unit="people")]
    truth = np.array(list("aaabbbaa")) == "a"
    found = attack(Scene(runs=2, asked=asked), {"one": [SURE, truth * 0.8 + 0.1]}, draws=0)
    assert found[0].runs == (0.5, 1.0)
    assert found[0].right.tolist() == [1, 1, 0.5, 1, 1, 0.5, 0.5, 0.5]
    expected = share(found[0].right, people, unit="people")
    assert (found.at("row").score, found.at("row").low, found.at("row").high) == (0.75, expected.low, expected.high)
    row = found.table.iloc[0]
    assert (row["deviation"], row["runs"], row["n"]) == (pytest.approx(np.std([0.5, 1], ddof=1)), 2, "3 people")


def test_units_of_unknown_classes_are_left_out():
    asked = [replace(ROWS, truth=np.array(list("aaabbbxx")))]
    found = attack(Scene(asked=asked), {"one": [SURE]}, draws=0)
    assert (found.at("row").unseen, found.at("row").n) == (0.25, 6)
    assert len(found[0].right) == len(found[0].truth) == 6


def test_a_label_is_inferred_through_the_people_whom_the_attacker_thinks_likely():
    """Persons a and b are both female, and c is male: 0.35 + 0.25 beat 0.4."""
    question = Question(
        "gender", "window", np.array(["f", "m"]), np.array(["f"]), groups=np.array([0]), members=np.eye(2)[[0, 0, 1]]
    )
    third = np.full(3, 1 / 3)

    class Through(Scene):
        def predict(self, attacker, run):
            return Prediction(np.array([[0.35, 0.25, 0.4]]), third, np.arange(3) if attacker else np.array([0, 2]))

    found = attack(Through(asked=[question]), {"all": 1, "met two": 0}, draws=0)
    assert [one.attacker for one in found] == ["all" + THROUGH, "met two" + THROUGH]
    assert [one.measure.score for one in found] == [1, 0]  # b was not met: 0.35 < 0.4


def test_an_attacker_with_nothing_to_use_is_left_out_and_a_failure_has_its_reason():
    assert attack(Scene(), {"none": None}) == []
    scenes = [Scene("first"), Scene("second")]
    with pytest.warns(UserWarning, match="broken on first: a cell is empty"):
        found = attack_all(scenes, {"broken": "a cell is empty", "one": [SURE]})
    assert found.table.groupby("release")["reason"].first().tolist() == ["a cell is empty"] * 2
    assert found.table["score"].notna().sum() == 4
    assert found.strongest["attacker"].tolist() == ["one"] * 4
    assert Attacks(one for one in found if one.reason).strongest.empty


def test_folds_are_pooled_over_their_units():
    half = [replace(ROWS, truth=np.array([name] * 8), clusters=np.full(8, name), unit="people") for name in "ab"]
    found = Attacks(one for asked in half for one in attack(Scene(asked=[asked]), {"one": [SURE]}, draws=0))
    pooled = found.over_folds()
    assert len(pooled) == 1
    assert pooled.at("row").score == np.mean([one.measure.score for one in found])
    assert (pooled.at("row").n, pooled.at("row").chance) == (2, 0.5)


def test_the_strongest_is_the_best_at_each_level_for_the_attribute_and_for_identity():
    rows = [
        ("a", "gender", "window", 14),
        ("b", "gender", "window", 12),
        ("a", "gender", "person", 10),
        ("identity, through identity", "gender", "person", 18),
        ("identity", "subject", "person", 8),
    ]
    found = Attacks()
    for attacker, about, level, hits in rows:
        right = np.arange(20) < hits
        alone = share(right)
        measure = Measure(alone.score, alone.low, alone.high, 20, "people", 0.5, auc=hits / 40, balanced=0.5)
        found.append(Attack(attacker, about, level, "test", measure, right, release="r"))
    best = found.strongest.set_index(["about", "level"])
    assert best["attacker"].tolist() == ["a", "identity, through identity", "identity"]
    window, alone = best.loc[("gender", "window")], found[0].measure
    assert (window["score"], window["high"], window["auc"]) == (alone.score, alone.high, 14 / 40)
    assert wilson(14, 20, 0.975)[0] <= window["low"] < alone.low  # not wider than Bonferroni's
    assert best.loc[("subject", "person"), "low"] == found[4].measure.low  # one attacker: no choice
