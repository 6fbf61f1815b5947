from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.datasets import Windows
from sensorprivacy.latent import Attacker, InferenceModels, LatentAnonymizer, Settings
from sensorprivacy.latent.frontier import activity_kept, attack_all, residual_leak, strongest
from sensorprivacy.latent.windows import replace_values

QUICK = Settings(epochs=15, batch=64, rate=3e-3)


def as_it_is(windows: Windows) -> Windows:
    return windows


def blank(windows: Windows) -> Windows:
    return replace_values(windows, np.random.default_rng(0).normal(size=windows.values.shape))


def test_every_release_meets_every_attacker(windows: Windows, unseen: Windows) -> None:
    adversaries = [Attacker("mlp", dropout=0.0, settings=QUICK), Attacker("trees", "trees")]
    found = attack_all({"raw": as_it_is, "blank": blank}, adversaries, windows, unseen, "gender", progress=False)
    assert found[["release", "attacker"]].to_numpy().tolist() == [
        ["raw", "mlp"],
        ["raw", "trees"],
        ["blank", "mlp"],
        ["blank", "trees"],
    ]
    best = strongest(found)
    assert best.loc["raw", "vote"] == 1
    assert best.loc["blank", "accuracy"] < 0.65


def test_all_adversaries_see_the_same_publications_and_each_run_new_ones(windows: Windows, unseen: Windows) -> None:
    generator, asked = np.random.default_rng(0), []

    def noise(some: Windows) -> Windows:
        asked.append(some.n_windows)
        return replace_values(some, generator.normal(size=some.values.shape))

    poor = Attacker("poor", "trees")
    twice = [poor, replace(poor, name="again"), replace(poor, name="averages", averaged=2)]
    found = attack_all({"noise": noise}, twice, windows, unseen, "gender", runs=2, progress=False).set_index("attacker")
    kept = ["accuracy", "deviation", "vote"]
    assert found.loc["poor", kept].tolist() == found.loc["again", kept].tolist()
    assert found.loc["poor", "deviation"] > 0
    # the test windows as often as the third needs; of the known ones, which every run draws anew, twice each
    assert [asked.count(size) for size in (unseen.n_windows, windows.n_windows // 2)] == [4, 4]


def test_the_strongest_is_the_best_voter_who_is_not_left_out() -> None:
    table = pd.DataFrame(
        {
            "release": "r",
            "attacker": ["a", "b", "identity"],
            "accuracy": [0.7, 0.6, 0.9],
            "vote": [0.8, 0.85, 0.99],
            "vote_low": 0.0,
            "vote_high": 1.0,
            "vote_chance": 0.5,
        }
    )
    best = strongest(table).loc["r"]
    assert (best["attacker"], best["vote"], best["accuracy"]) == ("b", 0.85, 0.7)


def test_activity_is_judged_by_others(models: InferenceModels, unseen: Windows) -> None:
    found = activity_kept({"raw": as_it_is, "blank": blank}, [models, models], unseen)
    assert found.loc["raw", "activity"] > 0.95
    assert found.loc["raw", "distortion"] == 0
    assert found.loc["blank", "activity"] < 0.8
    assert found.loc["blank", "distortion"] > 1
    assert found.loc["raw", "worst"] <= found.loc["raw", "activity"] == found.loc["raw", "by mlp"]


def test_the_leak_shrinks_as_less_is_kept(anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows) -> None:
    found = residual_leak(anonymizer, windows, unseen, cells=2)["accuracy"]
    assert found["latent z"] > 0.95
    assert found["chance"] == pytest.approx(0.5)
    assert found["cell of 2"] < found["latent z"]
    assert found.index.tolist() == ["latent z", "residual z - m(y, p)", "whitened residual", "cell of 2", "chance"]
