from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compendium.papers.paper3.causes import Causes, balanced, every_nth, experiments, recognized
from sensorprivacy.data import Windows
from sensorprivacy.latent import InferenceModels, LatentAnonymizer, Settings
from sensorprivacy.latent.study import Study

LOST = ["lost by decoding", "lost by shift", "lost by inference"]


@pytest.fixture
def causes(
    windows: Windows, unseen: Windows, models: InferenceModels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Causes:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path / "build"))
    short = Settings(epochs=2, batch=64)
    trains = {"network": "mlp", "alpha": 10.0, "beta": 0.1, "vae": short, "inference": short}
    study = Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, **trains)  # type: ignore[arg-type]
    return Causes(study, models)


@pytest.mark.slow
def test_the_losses_of_the_steps_add_up(causes: Causes, anonymizer: LatentAnonymizer) -> None:
    found = pd.Series(causes.row(anonymizer))
    assert found[LOST].sum() == pytest.approx(found["public raw"] - found["public published"])
    assert found["private decoded"] > 0.9 > 0.5 > found["private shifted"]  # decoding alone hides nothing


@pytest.mark.slow
def test_a_wrong_inference_is_told_from_the_other_steps(
    causes: Causes, anonymizer: LatentAnonymizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = causes.row(anonymizer)
    public, private = causes.models.codes(causes.study.test)
    # the device takes every jog for a walk
    monkeypatch.setattr(LatentAnonymizer, "infer", lambda self, windows: (1 - public, private))
    wrong = causes.row(anonymizer, "test")
    assert wrong["lost by inference"] > 0.5
    assert [wrong[name] for name in LOST[:2]] == [plain[name] for name in LOST[:2]]  # validation is the test part here


@pytest.mark.slow
def test_a_retrained_judge_reads_the_class_that_the_shift_moved(causes: Causes, anonymizer: LatentAnonymizer) -> None:
    shown = causes.published(anonymizer, "test")
    naive = recognized(causes.models, shown)["private"].mean()
    informed = recognized(causes.retrained(anonymizer, "mlp", 12), shown)["private"].mean()
    assert naive < 0.3 < 0.8 < informed


@pytest.mark.slow
def test_chance_is_the_most_frequent_class_of_both_attributes(
    causes: Causes, anonymizer: LatentAnonymizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Causes, "retrained", lambda self, anonymizer: self.models)
    chance = causes.judged(anonymizer).loc["chance"]
    for about, test, train in zip(
        ("public", "private"),
        causes.models.codes(causes.study.test),
        causes.models.codes(causes.study.train),
        strict=True,
    ):
        assert chance[about] == (test == np.bincount(train).argmax()).mean()


@pytest.mark.slow
def test_an_experiment_changes_what_it_names(causes: Causes) -> None:
    fitted = causes.fit(latents=3, vae_epochs=1, alpha=0.0)
    assert len(list(causes.study.folder.glob("cause-*/vae-*.safetensors"))) == 2
    assert (fitted.latents_[0][0].shape[1], fitted.vae.epochs, fitted.vae.batch, fitted.alpha) == (3, 1, 64, 0.0)
    assert (causes.study.vae.epochs, causes.study.alpha) == (2, 10.0)


def test_each_experiment_changes_one_thing() -> None:
    found = experiments([3], [0.0], [0.01, 1.0], [5], True)
    assert found == {
        "as printed": {},
        "3 latents": {"latents": 3},
        "alpha 0": {"alpha": 0.0},
        "beta 0.01": {"beta": 0.01},
        "beta 1": {"beta": 1.0},
        "5 epochs": {"vae_epochs": 5},
        "equal classes": {"balance": True},
    }


@pytest.mark.slow
def test_an_experiment_is_the_mean_of_its_trainings(causes: Causes) -> None:
    fitted, table = causes.compare({"as printed": {}, "beta 5": {"beta": 5.0}}, trainings=2)
    assert (fitted["as printed"].beta, fitted["beta 5"].beta) == (0.1, 5.0)
    alone = [causes.row(causes.fit(vae_seed=seed)) for seed in (0, 1)]
    published = [one["public published"] for one in alone]
    assert table.loc["as printed", "public published"] == pytest.approx(np.mean(published))
    assert table.loc["as printed", "public published, deviation"] == pytest.approx(np.std(published, ddof=1))
    assert alone[0]["validation loss"] != alone[1]["validation loss"]
    with pytest.raises(ValueError, match="trainings=0"):
        causes.compare({"as printed": {}}, 0)


def test_balanced_classes_have_equally_many_windows() -> None:
    public, private = np.array([0] * 9 + [1] * 6), np.array([0] * 6 + [1] * 3 + [0, 0, 1, 1, 1, 1])
    rows = balanced(public, private)
    assert rows.tolist() == sorted(set(rows.tolist()))
    table = pd.crosstab(public[rows], private[rows])
    assert table.to_numpy().tolist() == [[3, 3], [2, 2]]


def test_a_thinned_study_keeps_every_third_window(causes: Causes) -> None:
    found, whole = every_nth(causes.study, 3), causes.study
    assert np.array_equal(found.train.values, whole.train.values[::3])
    assert np.array_equal(found.validation.values, whole.validation.values[::6])
    assert found.folder != whole.folder  # networks of fewer windows are other networks
