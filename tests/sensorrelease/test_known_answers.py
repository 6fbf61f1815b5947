"""More than twenty small problems whose best release is known: each expected recommendation is asserted.

Users are `u0` to `u3` unless a problem says otherwise. A column `task` predicts the task and nobody.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import FunctionTransformer

from sensorprivacy.data import Problem
from sensorrelease import compare
from sensorrelease.compare_page import page
from sensorrelease.defences import Defence

N = 480
FOREST = RandomForestClassifier(10, min_samples_leaf=3)


def keep(*columns, cost=1.0):
    """Return a defence that keeps the named columns."""
    step = FunctionTransformer(lambda X: X[list(columns)])
    return Defence("+".join(columns), "+".join(columns), lambda seed: step, lambda d: cost)


class Toy:
    """Draws columns of a problem."""

    def __init__(self, n=N, users=4, seed=0):
        self.draw, self.n = np.random.default_rng(seed), n
        self.task, self.user = self.draw.integers(0, 2, n), self.draw.integers(0, users, n)
        self.columns = {"task": self.near(self.task)}

    def near(self, values, spread=0.15):
        return values + self.draw.normal(0, spread, self.n)

    def noise(self):
        return self.draw.normal(size=self.n)

    def problem(self, groups=None, **columns):
        return Problem(
            pd.DataFrame(self.columns | columns), self.task, [f"u{user}" for user in self.user], groups, name="toy"
        )


def judged(problem, *defences):
    return compare(problem, defences, draws=360, model=FOREST, progress=False)


def protected(found, name, loss=0.03, *, keeps=True):
    """Assert that a release is recommended, keeps the task, and is attacked less than the raw table.

    No changed prediction in 120 rows shows a loss of at most 2.4 points; none in 20 groups shows much less.
    """
    advice = found.recommend(loss)
    assert (advice.defence, advice.protects, advice.keeps_task) == (name, True, keeps), advice.text


def test_a_column_that_equals_the_user():
    toy = Toy()
    found = judged(toy.problem(owner=toy.user, extra=toy.noise()), keep("task"), keep("task", "owner"), keep("owner"))
    protected(found, "task")
    assert found["task+owner"].strongest().measure.score == 1


def test_a_rare_user_marked_by_one_column():
    """The average attack hardly shows it, but the most exposed user does."""
    toy = Toy()
    toy.user = np.where(toy.draw.random(N) < 0.06, 4, toy.user)
    problem = toy.problem(marker=(toy.user == 4) * 1, extra=toy.noise())
    found = judged(problem, keep("task", "extra", cost=2.0), keep("task", "marker"))
    advice = found.recommend(0.02)
    assert advice.defence == "task+extra"
    assert "task+marker" in advice.alike  # on average
    shown = found["task+marker"].exposure().measure
    assert (shown.exposed, shown.exposed_recall) == ("u4", 1)
    assert found["task+extra"].exposure() is None


def test_two_columns_that_identify_only_jointly():
    toy = Toy(users=2)
    half = toy.draw.integers(0, 2, N)
    columns = {"a": toy.near(half), "b": toy.near(half ^ toy.user)}
    found = judged(toy.problem(**columns), keep("task", "a"), keep("task", "b"), keep("task", "a", "b"))
    advice = found.recommend(0.02)
    assert advice.defence in ("task+a", "task+b")
    assert set(advice.alike) == {"task+a", "task+b"}
    assert advice.protects


@pytest.mark.slow
def test_few_recordings_per_user():
    toy = Toy()
    toy.user = np.repeat(np.arange(80), 6) % 40  # two recordings of six rows each
    found = judged(toy.problem(np.arange(N) // 6, voice=toy.near(toy.user)), keep("task"), keep("task", "voice"))
    protected(found, "task", keeps=None)
    assert found.frame["unit"].eq("groups").all()


@pytest.mark.slow
def test_the_task_equals_the_user():
    toy = Toy(users=2)
    toy.task = toy.user
    toy.columns = {"task": toy.near(toy.task)}
    found = judged(toy.problem(extra=toy.noise()), keep("task"), "prediction")
    assert not found.recommend(0.02).protects
    assert "No protection is shown" in found.recommend(0.02).text
    assert found["prediction"].strongest().measure.score > 0.95  # the task itself identifies


def test_a_unique_column_is_no_harmless_column():
    """Models learn nothing from it, but anyone with the original table joins it."""
    toy = Toy()
    found = judged(toy.problem(serial=toy.draw.permutation(N)), keep("task"), keep("task", "serial"))
    protected(found, "task")
    assert found["task+serial"].strongest().attacker == "exact values"
    assert found["task+serial"].strongest().measure.score == 1


def test_points_in_time_are_joined_too():
    toy = Toy()
    found = judged(toy.problem(time=1.7e9 + np.arange(N) * 60), keep("task"), keep("task", "time"))
    protected(found, "task")
    assert found.raw.strongest().attacker == "exact values"


def test_users_differ_by_a_constant_offset():
    toy = Toy()
    protected(judged(toy.problem(level=0.3 * toy.noise() + toy.user), keep("task"), keep("task", "level")), "task")


def test_dropping_one_of_two_copies_protects_nobody():
    toy = Toy()
    voice = toy.near(toy.user)
    found = judged(toy.problem(voice=voice, copy=voice), keep("task", "copy"), keep("task", "voice"), keep("task"))
    protected(found, "task")
    assert found.recommend(0.02).alike == ("task",)


def test_noise_only_is_refused():
    toy = Toy(seed=1)
    toy.columns = {"a": toy.noise(), "b": toy.noise()}
    with pytest.raises(ValueError, match="the task of toy cannot be learned from the columns: accuracy"):
        judged(toy.problem(), keep("a"))


@pytest.fixture(scope="module")
def entangled():
    """Return a comparison in which the task needs the column that identifies."""
    toy = Toy()
    toy.columns = {"both": toy.near(toy.task + 2 * toy.user)}
    return judged(toy.problem(extra=toy.noise()), keep("both"), keep("extra"), "prediction")


def test_the_task_needs_the_identifying_column(entangled):
    advice = entangled.recommend(0.02)
    assert (advice.defence, advice.protects) == ("both", False)


def test_a_large_loss_buys_protection(entangled):
    advice = entangled.recommend(0.7)
    assert (advice.defence, advice.protects) == ("extra", True)


def test_the_prediction_alone_helps_if_it_may_be_chosen(entangled):
    advice = entangled.recommend(0.1, trivial=True)
    assert (advice.defence, advice.protects, advice.leads) == ("prediction", True, True)


def test_nobody_can_be_identified():
    toy = Toy()
    found = judged(toy.problem(extra=toy.noise()), keep("task"), keep("task", "extra"))
    advice = found.recommend(0.02)
    assert (set(advice.alike), advice.protects) == ({"task", "task+extra"}, False)
    assert advice.text.startswith("The raw table shows no leak")
    assert found.frame["exposed"].isna().all()


def test_a_release_that_exposes_nobody_says_so_beside_one_that_does():
    """A table of both has no text for the first, which was printed as "nan: nan%, nan%"."""
    toy = Toy()
    found = judged(toy.problem(voice=toy.near(toy.user)), keep("task"), keep("voice"))
    text = page(found)
    assert "nobody" in text
    assert "nan" not in text


def test_weak_rows_make_strong_recordings():
    toy = Toy()
    toy.user = np.arange(N) // 8 % 4
    problem = toy.problem(np.arange(N) // 8, gait=toy.near(toy.user, 0.7))
    found = judged(problem, keep("task"), keep("task", "gait"))
    protected(found, "task", keeps=None)
    row = found.frame.iloc[0]
    assert row["attack"] > row["row_attack"] + 0.15
    assert (row["unit"], row["n"]) == ("groups", 15)


def test_coarser_values_hide_the_user():
    toy = Toy()
    toy.columns = {"task": 10.0 * toy.task + toy.user + toy.near(0 * toy.user, 0.1)}
    rounded = FunctionTransformer(lambda X: 10 * (X / 10).round())
    found = judged(toy.problem(), Defence("rounded", "rounded", lambda seed: rounded), keep("task"))
    protected(found, "rounded")


def test_principal_components_keep_the_loudest_column():
    toy = Toy()
    protected(judged(toy.problem(voice=5 * toy.near(toy.user)), keep("task"), "method:pca,columns=1"), "task", 0.05)


def test_weak_noise_and_no_noise_are_alike():
    found = judged(Toy().problem(), keep("task"), "noise:epsilon=80")
    advice = found.recommend(0.05)
    assert set(advice.alike) == {"task", "noise:epsilon=80"}
    assert found.frame.set_index("defence").loc["noise:epsilon=80", "epsilon_person"] > 80


def test_of_two_useful_columns_the_one_without_the_user():
    toy = Toy()
    mixed = toy.near(3 * toy.task + 0.7 * toy.user, 0.1)
    protected(judged(toy.problem(mixed=mixed), keep("mixed"), keep("task"), keep("task", "mixed")), "task")


def test_one_user_has_almost_all_rows():
    toy = Toy()
    toy.user = np.where(toy.draw.random(N) < 0.9, 0, toy.user)
    found = judged(toy.problem(voice=toy.near(toy.user)), keep("task"), keep("task", "voice"))
    protected(found, "task")
    assert found.frame["chance"].gt(0.85).all()


def test_minimization_finds_the_column():
    toy = Toy()
    found = judged(toy.problem(voice=toy.near(toy.user)), "minimize:threshold=.05", "method:gini_utility,columns=2")
    protected(found, "minimize:threshold=0.05")
    assert found["minimize:threshold=0.05"].columns == ("task",)


def test_noise_that_hides_the_user_costs_the_task():
    toy = Toy()
    found = judged(toy.problem(voice=toy.near(toy.user)), "noise:epsilon=1", keep("task"))
    protected(found, "task")
    assert found["noise:epsilon=1"].loss(found.raw).value > 0.2


def test_no_defence_qualifies():
    toy = Toy()
    found = judged(toy.problem(voice=toy.near(toy.user)), keep("voice"))
    advice = found.recommend(0.05)
    assert advice.defence is None
    assert "No defence loses at most 5.0 points of accuracy on validation rows. voice loses least." in advice.text


def test_a_small_loss_on_few_rows_is_undecided():
    toy = Toy(n=200)
    toy.columns["task"] = toy.near(toy.task, 0.45)
    weaker = toy.near(toy.task, 0.47)
    found = judged(toy.problem(voice=toy.near(toy.user), weaker=weaker), keep("weaker"), keep("task"))
    advice = found.recommend(0.08)
    assert advice.protects
    assert advice.keeps_task is None
    assert "is undecided" in advice.text
