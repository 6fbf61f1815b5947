"""Attackers: what each knows, and how rows are pooled."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game import attack
from sensorprivacy.game.splits import Split, default_split
from sensorprivacy.game.tables import (
    PARTS,
    TABLE_ATTACKERS,
    TableScene,
    adaptive_forest,
    as_numbers,
    exact_values,
    judge,
    naive_forest,
    recovers_code,
    who_is_missing,
)
from sensorprivacy.game.tables import nearest_row as nearest

FOREST = RandomForestClassifier(8, random_state=0)
HALVES = Split(np.arange(120), np.arange(120, 240))


def judged(problem, table, split, attackers):
    return judge(TableScene(problem, table, split, FOREST, parts=PARTS), attackers, draws=49)


def make_problem(n=240, seed=0, name="toy", groups=None):
    """`task` predicts the task only, `user` the user only, the rest nothing."""
    draw = np.random.default_rng(seed)
    task, users = draw.integers(0, 2, n), draw.integers(0, 4, n)
    features = pd.DataFrame(
        {
            "user": users + draw.normal(0, 0.2, n),
            "task": task + draw.normal(0, 0.2, n),
            "noise": draw.normal(size=n),
            "day": draw.integers(0, 7, n),  # of few values, so that three-way division has entropies to compare
        }
    )
    return Problem(features, np.where(task, "tv", "fridge"), [f"u{user}" for user in users], groups, name=name)


@pytest.fixture(scope="session")
def problem():
    return make_problem()


@pytest.fixture(scope="session")
def make():
    return make_problem


@pytest.fixture
def scene(problem):
    def seen(table):
        return TableScene(problem, table, HALVES, FOREST)

    return seen


def accuracy(scene, probabilities):
    predicted = np.unique(scene.known)[probabilities.argmax(axis=1)]
    return np.mean(predicted == scene.problem.users.to_numpy()[scene.held])


def test_forest_and_neighbour_find_users_in_a_revealing_column(scene, problem):
    shown = scene(problem.features[["user"]])
    assert accuracy(shown, adaptive_forest(shown)) > 0.9
    assert accuracy(shown, nearest(shown)) > 0.9
    hidden = scene(problem.features[["noise"]])
    assert accuracy(hidden, adaptive_forest(hidden)) < 0.5


def test_no_attack_is_weaker_than_guessing_the_most_frequent_user(make):
    problem = make(400)
    users = pd.Series(np.where(np.random.default_rng(1).random(400) < 0.9, "often", "rarely"))
    table = problem.features[["noise"]]
    unequal, split = Problem(table, problem.task, users), default_split(problem, validation=0.3, seed=0)
    lines = judged(unequal, table, split, TABLE_ATTACKERS)
    attacks = [line for line in lines if line.about == "user" and line.part == "test"]
    best = max(line.measure.score for line in attacks)
    assert best >= np.mean(users[split.test] == "often")
    assert "most frequent user" in {line.attacker for line in attacks if line.measure.score == best}


def test_the_naive_forest_needs_rewritten_columns_that_keep_their_name(scene, problem):
    raw = problem.features[["user", "task"]]
    assert naive_forest(scene(raw)) is None
    assert naive_forest(scene(raw.set_axis(["a", "b"], axis=1))) is None
    shifted = scene(raw.assign(task=raw["task"] + 5, other=1.0))
    assert accuracy(shifted, naive_forest(shifted)) > 0.9


def test_a_user_whose_rows_are_never_published_in_their_name_is_found_by_that(make):
    """A release of other users' raw rows: no attacker who looks for the user among the donors finds them."""
    problem, draw = make(400), np.random.default_rng(0)
    values = pd.DataFrame({"x": draw.random(400), "y": draw.random(400)})
    users, train, held = problem.users.to_numpy(), np.arange(200), np.arange(200, 400)
    donors = np.array([draw.choice(train[users[train] != user]) for user in users])
    raw = Problem(values, problem.task, problem.users)
    shown = TableScene(raw, values.iloc[donors].reset_index(drop=True), Split(train, held), FOREST)

    def found(attack):
        classes, evidence = np.unique(users), np.log(attack(shown) + 1e-9)
        return [classes[evidence[users[held] == user].sum(axis=0).argmax()] == user for user in classes]

    assert all(found(who_is_missing))
    assert sum(found(nearest)) < 2  # one of four by chance


def test_codes_that_the_networks_read_are_counted(problem):
    rows, users = np.arange(240), problem.users.to_numpy()
    view = pd.factorize(users, sort=True)[0]
    shown = TableScene(problem, problem.features[["noise"]], HALVES, FOREST, np.c_[rows * 0, view])
    assert accuracy(shown, recovers_code(shown)) == 1
    assert recovers_code(replace(shown, codes=None)) is None


def test_nobody_is_missing_where_no_row_was_rewritten(scene, problem):
    assert who_is_missing(scene(problem.features)) is None
    assert who_is_missing(scene(problem.features.set_axis(list("abcd"), axis=1))) is None


@pytest.fixture
def numbered(problem):
    table = problem.features.assign(serial=np.random.default_rng(0).permutation(240) + 1000)
    return Problem(table, problem.task, problem.users)


def test_exact_values_join_identifiers_only(numbered):
    def seen(table):
        return TableScene(numbered, table, HALVES, FOREST, identifying=["serial"])

    assert exact_values(seen(numbered.features[["user", "noise"]])) is None  # measurements
    whole = seen(numbered.features)
    assert accuracy(whole, exact_values(whole)) == 1
    blurred = seen(numbered.features[["serial"]] + 0.5)
    assert accuracy(blurred, exact_values(blurred)) < 0.5
    np.testing.assert_allclose(exact_values(blurred).sum(axis=1), 1)


def test_pooling_adds_the_evidence_of_a_users_rows_in_a_group():
    """Weak evidence in every row: three of four rows point to the user."""
    users = np.repeat(["a", "b"], 20)
    table = pd.DataFrame({"x": np.r_[np.tile([0, 0, 0, 1], 5), np.tile([1, 1, 1, 0], 5)].astype(float)})
    groups = pd.Series(np.arange(40) // 4)
    problem = Problem(table, np.tile(["s", "t"], 20), users, groups)
    parts = [np.flatnonzero(groups.isin(some)) for some in ([0, 1, 5, 6], [2, 7], [3, 4, 8, 9])]
    split = Split(parts[0], parts[2], validation=parts[1], groups=groups.to_numpy())

    def unsure(scene):
        belief = 0.6 - 0.2 * scene.table["x"].to_numpy()[scene.held]
        return np.column_stack([belief, 1 - belief])

    lines = judged(problem, table, split, {"unsure": unsure})
    score = {(line.level, line.part): line.measure for line in lines if line.attacker == "unsure"}
    assert score["row", "test"].score == 0.75
    assert (score["group", "test"].score, score["group", "test"].n) == (1, 4)
    assert score["row", "test"].n == 4  # groups are the unit


def test_exposure_counts_false_alarms(problem):
    """An attacker who always names one user has recall 1 for this user, but exposes nobody."""
    split = default_split(problem, test=0.25, validation=0.25)

    def always(scene):
        return np.tile([1.0, 0, 0, 0], (len(scene.held), 1))

    lines = judged(problem, problem.features, split, {"always": always})
    line = next(line for line in lines if (line.attacker, line.part) == ("always", "test"))
    assert line.exposure < 0.5
    assert line.exposure_low < line.exposure


def test_texts_become_numbers_and_gaps_are_refused():
    table = as_numbers(pd.DataFrame({"word": ["b", "a"], "flag": [True, False]}))
    assert table.to_numpy().tolist() == [[1, 1], [0, 0]]
    with pytest.raises(ValueError, match="released columns x have missing or infinite values"):
        as_numbers(pd.DataFrame({"x": [1, np.inf]}))


def test_a_person_is_all_rows_of_a_user_or_of_one_of_the_people_in_a_class():
    """One of six rows misleads; pooled over all rows of a user, both users are found."""
    table = pd.DataFrame({"x": [0.0, 0, 1, 1, 1, 0, 0, 0, 1, 1]})
    problem = Problem(table, list("st") * 5, list("abababaabb"))
    split = Split(np.arange(4), np.arange(4, 10))

    def unsure(scene):
        users = scene.problem.users.to_numpy()[scene.held]
        belief = np.where((users == "a") ^ (np.arange(6) == 0), 0.6, 0.4)
        return np.column_stack([belief, 1 - belief])

    found = attack(TableScene(problem, table, split, FOREST), {"unsure": unsure}, draws=0)
    assert (found.at("row").score, found.at("row").n) == (5 / 6, 6)
    assert (found.at("person").score, found.at("person").n, found.at("person").unit) == (1, 2, "people")
    people = np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 5])  # the person of row 4 has no other row
    scene = TableScene(problem, table, replace(split, people=people), FOREST)
    found = attack(scene, {"unsure": unsure}, levels=["person"], draws=0)
    assert [one.level for one in found] == ["person"]
    assert (found.at("person").score, found.at("person").n) == (4 / 5, 5)
