"""The attackers of a release see what the sum over rows misses, and find nothing where there is nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game import RELEASE_ATTACKERS, TABLE_ATTACKERS, TableScene, attack
from sensorprivacy.game.outcome import strongest
from sensorprivacy.game.panel import AllLabels, WholeGroups
from sensorprivacy.game.splits import Split, grouped_split, random_split
from sensorprivacy.game.tables import tuned_model

WHOLE = RELEASE_ATTACKERS["statistics of groups"]
FOREST = RandomForestClassifier(20, random_state=0)


def scene_of(values, users, groups, seed=0, **more):
    problem = Problem(pd.DataFrame(values).add_prefix("x"), np.arange(len(users)) % 2, users, groups)
    split = grouped_split(groups, users, test=0.25, validation=0.25, seed=seed)
    return TableScene(problem, problem.features, split, FOREST, **more)


def varying(spread, seed=0, per_user=24, rows=20):
    """Six users, whose groups have equal rows on average, and vary by a factor of their user."""
    draw = np.random.default_rng(seed)
    users = np.repeat(np.arange(6), per_user)
    level = draw.normal(0, 3, len(users))  # of each group: single rows are of anybody
    scale = 1 + spread * users
    values = level[:, None] + scale[:, None] * draw.normal(size=(len(users), rows))
    groups = np.repeat(np.arange(len(users)), rows)
    return values.reshape(-1, 1), np.repeat(users, rows).astype(str), groups


def test_groups_that_differ_in_how_rows_vary_are_found_by_whole_statistics():
    scene = scene_of(*varying(0.6))
    rows = strongest(attack(scene, TABLE_ATTACKERS, levels=["group"], draws=0)).measure
    whole = attack(scene, {"statistics of groups": WHOLE}, levels=["group"], draws=0)[0].measure
    assert whole.n == rows.n
    assert whole.score > rows.score + 0.15


def test_whole_groups_have_no_answer_for_rows_and_tasks():
    scene = scene_of(*varying(0.6))
    found = attack(scene, {"statistics of groups": WHOLE}, draws=0)
    assert [one.level for one in found] == ["group", "person"]
    assert not attack(scene, {"statistics of groups": WHOLE}, levels=["row"], draws=0)
    rows = np.arange(60)
    alone = TableScene(scene.problem, scene.table, Split(rows[:30], rows[30:]), FOREST)
    assert WholeGroups(tuned_model)(alone) is None
    assert AllLabels("extra trees")(alone) is None


@pytest.mark.parametrize("name", ["statistics of groups", "statistics of groups, tuned", "boosting"])
def test_no_validation_row_is_predicted_by_a_model_that_learned_it(name):
    """The test part is the same whether or not the validation part is attacked, and noise is not recognized."""
    values, users, groups = varying(0.0)
    parts = {"parts": ("validation", "test")}
    both, alone = scene_of(values, users, groups, **parts), scene_of(values, users, groups)
    some = RELEASE_ATTACKERS[name]
    checked = len(both.split.validation)
    np.testing.assert_array_equal(some(both)[checked:], some(alone))
    for one in attack(both, {name: some}, levels=["group"], draws=0):
        assert one.measure.low < 1 / 6 + 0.1


def test_users_share_a_group():
    """The rows of each user in a group are a unit, as in the question."""
    values, users, groups = varying(0.6)
    scene = scene_of(values, users, groups // 2)  # neighbours of one group, at the border of users of two
    found = attack(scene, {"whole": WHOLE}, levels=["group"], draws=0)[0]
    assert len(found.right) == len({*zip(users[scene.held], scene.split.groups[scene.held], strict=True)})


def test_all_labels_help():
    draw = np.random.default_rng(4)
    who = draw.integers(0, 6, 1200)
    values = np.c_[np.cos(who), np.sin(who)] + draw.normal(0, 0.4, (1200, 2))
    problem = Problem(pd.DataFrame(values).add_prefix("x"), who % 2, who.astype(str))
    drawn = random_split(1200, test=0.5, validation=0.45, seed=0)
    scene = TableScene(problem, problem.features, drawn, FOREST)
    found = {one.attacker: one.measure.score for one in attack(scene, RELEASE_ATTACKERS, levels=["row"], draws=0)}
    assert found["extra trees"] > found["adaptive forest"] + 0.03
    assert "statistics of groups" not in found  # rows without groups


def test_boosting_of_many_classes_is_left_out():
    users = np.repeat(np.arange(1200), 2).astype(str)
    problem = Problem(pd.DataFrame({"x": np.arange(2400.0)}), np.arange(2400) % 2, users)
    split = Split(np.arange(0, 2400, 2), np.arange(1, 1200, 2), validation=np.arange(1201, 2400, 2))
    assert AllLabels("boosting")(TableScene(problem, problem.features, split, FOREST)) is None
