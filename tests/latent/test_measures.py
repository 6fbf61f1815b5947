import numpy as np
import pytest

from sensorprivacy.datasets import Windows
from sensorprivacy.game.units import wilson
from sensorprivacy.latent import InferenceModels, inference_table, share
from sensorprivacy.latent.measures import chance


def test_the_interval_grows_with_likeness_inside_recordings() -> None:
    """When all windows of a recording agree, a recording is one trial; when they do not, each window is."""
    generator = np.random.default_rng(0)
    recordings = np.repeat(np.arange(60), 50)
    alike = share(np.repeat(generator.random(60) < 0.7, 50), recordings)
    apart = share(generator.random(3000) < 0.7, recordings)
    assert alike.recordings == 60
    assert alike.windows == 3000
    for found, trials in ((alike, 60), (apart, 3000)):
        low, high = wilson(found.score * trials, trials)
        assert found.high - found.low == pytest.approx(high - low, rel=0.2)


def test_all_right_still_has_an_interval() -> None:
    found = share(np.ones(100), np.repeat(np.arange(10), 10))
    assert (found.low, found.high) == pytest.approx(wilson(10, 10))


def test_few_recordings_count_as_few_trials() -> None:
    found = share(np.array([1, 1, 0, 1]), np.array([0, 0, 1, 1]))
    assert (found.low, found.high) == pytest.approx(wilson(1.5, 2))


def test_chance_is_the_class_most_frequent_in_training() -> None:
    assert chance(np.array([0, 0, 1]), np.array([0, 1, 1, 1])) == 0.25


def test_the_table_has_a_row_a_class_and_one_for_all(models: InferenceModels, unseen: Windows) -> None:
    table = inference_table(models, unseen, unseen)
    assert table.index.tolist() == ["jog", "walk", "all"]
    assert table["windows"].tolist() == [192, 192, 384]
    assert table["chance"].tolist() == [0.5] * 3
    pooled = (table["public_before"].iloc[:2] * 192).sum() / 384
    assert table.loc["all", "public_before"] == pytest.approx(pooled)
    assert (table["private_before"] == table["private_after"]).all()
    assert (table["public_after_low"] <= table["public_after"]).all()
    assert (table["public_after"] <= table["public_after_high"]).all()
