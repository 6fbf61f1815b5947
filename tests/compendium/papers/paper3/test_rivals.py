import itertools
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from compendium.papers.paper3 import rivals
from compendium.papers.paper3.rivals import (
    compared_over_trainings,
    halving,
    needed,
    search_rival,
    with_and_without_layer,
    with_rivals,
)
from sensorprivacy.data import Windows
from sensorprivacy.latent import InferenceModels, Settings, inference_table, networks
from sensorprivacy.latent.networks import Sizes
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import read_all


@pytest.fixture
def study(windows: Windows, unseen: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path / "build"))
    short = Settings(epochs=2, batch=64)
    trains = {"network": "mlp", "alpha": 10.0, "beta": 0.1, "vae": short, "inference": short}
    return Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, **trains)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_weights_of_a_rival_are_chosen_like_our_shift(study: Study, models: InferenceModels) -> None:
    table, chosen = search_rival(study, models, hides=[0.0, 50.0], changes=[1.0, 100.0], epochs=3)
    assert table[["hide", "change"]].to_numpy().tolist() == [[0, 1], [0, 100], [50, 1], [50, 100]]
    assert sorted(table["epochs"]) == [1, 1, 2, 3]
    finalists = table[table["epochs"] == 3]
    acceptable = finalists[finalists["public_after"] >= finalists["public_before"] - 0.02]
    best = acceptable["private_after"].idxmin() if len(acceptable) else finalists["public_after"].idxmax()
    assert table["chosen"].tolist() == [row == best for row in range(4)]
    assert chosen == table.loc[best, ["hide", "change"]].to_dict()
    again = search_rival(study, models, hides=[0.0, 50.0], changes=[1.0, 100.0], epochs=3)[0]
    assert again.equals(table)
    text = needed({"rival": table, "not searched": table[["hide", "chosen"]]})
    assert text.startswith(
        f"rival hides most with an accuracy of {table['private_after'].min():.0%} on the private class and"
    )
    assert "not searched" not in text


def test_one_pair_of_weights_needs_no_search(study: Study, models: InferenceModels) -> None:
    table, chosen = search_rival(study, models, hides=[2.0], changes=[1.0], epochs=5)
    assert chosen == {"hide": 2, "change": 1}
    assert table["chosen"].all()
    assert not study.folder.exists()


@pytest.mark.slow
def test_ours_and_the_rivals_are_compared_over_trainings(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(networks.GENERAL, 256, Sizes((16,), 2))
    budget = {"rival_epochs": 1, "general_epochs": 1, "thinned": 2}
    made = with_rivals(study, [0, 3], modify="deterministic", scales=[1.0], redraws=[0, 2], **budget)
    found = read_all(made)
    general = "general VAE, deterministic"
    names = ["raw", "mean shift", general, "Anonymization AE", "mean shift, chosen", f"{general}, chosen"]
    assert set(names) <= set(found)
    table = compared_over_trainings(found, "mean shift", study.test.subject.to_numpy())
    assert set(table["trainings"]) == {2}
    ours, rival = table.loc["mean shift"], table.loc["Anonymization AE"]
    assert rival["private_difference"] == pytest.approx(ours["private"] - rival["private"])
    assert rival["public_difference_low"] <= rival["public_difference"] <= rival["public_difference_high"]
    assert pd.isna(ours["private_difference"])
    ends = table[["public_low", "private_low", "public_high", "private_high"]]
    assert ends.to_numpy().min() >= 0
    assert ends.to_numpy().max() <= 1
    alone = inference_table(made[0].models, study.test, made[0].releases["mean shift"](study.test)).loc["all"]
    assert found["mean shift"].private[0].mean() == pytest.approx(alone["private_after"])
    one = compared_over_trainings(read_all(made[:1]), "mean shift", study.test.subject.to_numpy())
    assert one["private_low"].isna().all()


@pytest.mark.slow
def test_the_term_is_left_out_of_a_training_of_its_own(study: Study) -> None:
    made = with_and_without_layer(study, [0, 1], thinned=2, epochs=1)
    assert [tuple(one.releases) for one in made] == [("with the term", "without it")] * 2
    weights = [release.anonymizer.alpha for release in made[0].releases.values()]  # type: ignore[attr-defined]
    assert weights == [study.alpha, 0]


def test_a_thin_study_makes_as_many_updates_an_epoch(study: Study) -> None:
    few = study.thinned(4)
    assert few.train.n_windows * 4 == study.train.n_windows
    assert few.vae.batch * 4 == study.vae.batch
    assert few.test is study.test
    assert few.folder != study.folder
    assert study.thinned(1) is study


Pair = tuple[float, float]


class Learner:
    """A rival whose accuracies come nearer to those of its setting with each epoch, so that no two curves cross."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, last: Mapping[Pair, Pair]) -> None:
        self.last, self.trained = last, dict.fromkeys(last, 0)

        def train(_: Study, epochs: int, *, hide: float, change: float, after: int) -> object:
            assert self.trained[hide, change] == after, "a round goes on from the round before"
            self.trained[hide, change] = epochs
            return SimpleNamespace(transform=lambda windows: (hide, change, epochs))

        def read(models: object, windows: Windows, published: tuple[float, float, int]) -> pd.DataFrame:
            (public, private), share = self.last[published[:2]], 1 - 0.5 ** published[2]
            row = {"public_before": 0.9, "public_after": share * public, "private_after": 1 - share * (1 - private)}
            return pd.DataFrame({"all": row}).T

        monkeypatch.setattr(Study, "anonymization_autoencoder", train)
        monkeypatch.setattr(rivals, "inference_table", read)


@pytest.mark.parametrize("best", range(16))
def test_a_search_that_halves_its_settings_keeps_the_best_and_its_budget(
    study: Study, models: InferenceModels, monkeypatch: pytest.MonkeyPatch, best: int
) -> None:
    hides, changes = [0.1, 0.5, 1.0, 2.0], [1.0, 3.0, 10.0, 30.0]
    pairs = list(itertools.product(hides, changes))
    last = {pair: (0.95, 0.70 + 0.01 * ((at - best) % 16)) for at, pair in enumerate(pairs)}
    learner = Learner(monkeypatch, last)
    table, chosen = search_rival(study, models, hides=hides, changes=changes, epochs=15)
    assert (chosen["hide"], chosen["change"]) == pairs[best]
    assert table.loc[table["chosen"], ["hide", "change"]].to_numpy().tolist() == [list(pairs[best])]
    assert table[["hide", "change"]].to_numpy().tolist() == [list(pair) for pair in pairs]
    assert sorted(table["epochs"]) == [5] * 8 + [10] * 4 + [15] * 4
    assert table["epochs"].tolist() == list(learner.trained.values())
    assert sum(learner.trained.values()) == 140  # of 240


def test_a_setting_that_loses_the_activity_is_left_out_first(
    study: Study, models: InferenceModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = {(0.1, 1.0): (0.5, 0.1), (0.1, 2.0): (0.95, 0.8), (0.5, 1.0): (0.4, 0.1), (0.5, 2.0): (0.95, 0.7)}
    Learner(monkeypatch, last)
    table, chosen = search_rival(study, models, hides=[0.1, 0.5], changes=[1.0, 2.0], epochs=9)
    assert chosen == {"hide": 0.5, "change": 2.0}
    assert table["epochs"].tolist() == [3, 6, 3, 9]


@pytest.mark.parametrize(("pairs", "epochs"), [(2, 1), (3, 2), (16, 15), (16, 3), (5, 100)])
def test_rounds_end_with_all_epochs_and_never_without_a_setting(pairs: int, epochs: int) -> None:
    rounds = halving(pairs, epochs)
    assert rounds[0][0] == pairs
    assert rounds[-1][1] == epochs
    assert all(many >= 1 and reached >= 1 for many, reached in rounds)
    assert [reached for _, reached in rounds] == sorted({reached for _, reached in rounds})
