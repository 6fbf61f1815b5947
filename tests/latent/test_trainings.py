"""Several trainings: intervals over people and trainings, and methods compared on the same windows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sensorprivacy.data import Windows
from sensorprivacy.game import attack
from sensorprivacy.game.units import difference
from sensorprivacy.latent import Attacker, InferenceModels, Settings, WindowScene, inference_table
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import Made, Rights, mean_over_trainings, pooled, read_all, rights_of

PEOPLE = np.repeat(np.arange(12), 5)


def test_trainings_that_agree_leave_the_interval_over_people() -> None:
    each = np.random.default_rng(0).random(60) - 0.3
    found, people = mean_over_trainings(np.stack([each] * 4), PEOPLE), difference(each, np.zeros(60), PEOPLE)
    assert (found.value, found.low, found.high, found.p) == pytest.approx(
        (people.value, people.low, people.high, people.p)
    )
    assert (found.n, found.unit) == (12, "people")


def test_trainings_that_differ_widen_the_interval_over_people() -> None:
    """The oracle adds the variances, with the degrees of freedom of Welch and Satterthwaite."""
    people, generator = np.repeat(np.arange(30), 4), np.random.default_rng(0)
    values = generator.uniform(-0.5, 0.5, 30)[people] + np.array([[-0.1], [0.06], [0.04], [0.08]])
    found = mean_over_trainings(values, people)
    sums, means = stats.sem(values.mean(axis=0).reshape(30, 4).mean(axis=1)), stats.sem(values.mean(axis=1))
    error = np.hypot(sums, means)
    df = error**4 / (sums**4 / 29 + means**4 / 3)
    assert (found.low, found.high) == pytest.approx(stats.t(df, values.mean(), error).interval(0.95))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(values.mean()) / error, df))


def test_one_training_says_nothing_about_others() -> None:
    found = mean_over_trainings(np.full((1, 60), 0.4), PEOPLE)
    assert (found.value, found.p) == (pytest.approx(0.4), 1.0)
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_the_interval_covers_the_mean_over_people_and_trainings() -> None:
    """Effects of 20 people and of 4 trainings: an interval over people alone covers the truth far less often."""
    generator, hits = np.random.default_rng(1), np.zeros(2)
    people = np.repeat(np.arange(20), 3)
    for _ in range(400):
        values = generator.normal(0, 0.1, (4, 1)) + generator.normal(0, 0.1, 20)[people]
        values = values + generator.normal(0, 0.1, values.shape)
        both, alone = mean_over_trainings(values, people), difference(values.mean(axis=0), np.zeros(60), people)
        hits += [both.low < 0 < both.high, alone.low < 0 < alone.high]
    assert hits[0] / 400 > 0.93
    assert hits[1] / 400 < 0.75


@pytest.fixture
def study(windows: Windows, unseen: Windows, tmp_path: Path) -> Study:
    quick = Settings(epochs=1, batch=64, patience=2)
    parts = {"windows": windows, "train": windows, "validation": unseen, "test": unseen}
    trains = {"network": "mlp", "alpha": 10.0, "beta": 0.1, "vae": quick, "inference": quick}
    return Study("sines", "sines-gender", "gender", **parts, **trains, networks=tmp_path)  # type: ignore[arg-type]


def test_all_methods_are_read_on_the_same_windows(study: Study, models: InferenceModels, unseen: Windows) -> None:
    made = [Made(study.with_seed(seed), models, {"swapped": lambda some: replace(some)}) for seed in (0, 1)]
    found = read_all(made)
    table = inference_table(models, unseen, unseen).loc["all"]
    assert list(found) == ["raw", "swapped"]
    for rights in found.values():
        assert rights.public.shape == rights.private.shape == (2, unseen.n_windows)
        assert rights.public.mean() == pytest.approx(table["public_before"])
        assert rights.private.mean() == pytest.approx(table["private_before"])
    assert not (found["raw"] - found["swapped"]).private.any()
    assert isinstance(found["raw"], Rights)


def test_attacks_on_several_trainings_are_pooled(windows: Windows, unseen: Windows) -> None:
    quick = Attacker("paper's", settings=Settings(epochs=2, batch=64))
    parts = [
        attack(WindowScene(lambda x: x, windows, unseen, "gender", seed=seed), [quick], draws=0) for seed in (0, 7, 9)
    ]
    found = pooled(parts)
    matrix = rights_of(parts, "", "window")
    assert matrix.shape == (3, unseen.n_windows)
    own, clusters = found.at("window"), unseen.subject.to_numpy()
    expected = mean_over_trainings(matrix, clusters)
    assert own.score == pytest.approx(matrix.mean())
    assert own.low <= expected.value <= own.high
    assert own.high - own.low > 0.5 * min(expected.high - expected.low, 1)
    assert found.table["runs"].tolist() == [3, 3, 3]
    assert own.chance == parts[0].at("window").chance
    only = pooled(parts[:1])
    assert only.table.drop(columns="runs").equals(parts[0].table.drop(columns="runs"))
