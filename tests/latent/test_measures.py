import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.game.chance import guessed
from sensorprivacy.game.units import share
from sensorprivacy.latent import Donor, InferenceModels, LatentAnonymizer, Settings, inference_table, residual_leak
from sensorprivacy.latent.measures import activity_lost, exposure, membership
from sensorprivacy.latent.releases import anonymized, trivial, unrandomized
from sensorprivacy.latent.study import Study


def test_chance_is_the_class_most_frequent_in_training() -> None:
    assert guessed(np.array([0, 0, 1]), np.array([0, 1, 1, 1])).mean() == 0.25


def test_equally_frequent_classes_are_guessed_by_a_coin() -> None:
    assert guessed(np.arange(24), np.arange(24)).mean() == pytest.approx(1 / 24)


def test_intervals_of_the_table_count_people(models: InferenceModels, unseen: Windows) -> None:
    """Windows of one person are alike: recordings, of which there are four per person, are no independent units."""
    row = inference_table(models, unseen, unseen).loc["all"]
    right = models.private_model.predict(models.scaled(unseen)) == models.codes(unseen)[1]
    found = share(right, unseen.subject.to_numpy(), unit="people")
    assert row["n"] == "6 people"
    assert (row["private_before_low"], row["private_before_high"]) == pytest.approx((found.low, found.high))


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


def test_a_run_that_lost_an_activity_says_so() -> None:
    found = pd.DataFrame(
        {"public_before": [0.95, 0.97, 0.96], "public_after": [0.55, 0.96, 0.91]}, index=["dws", "jog", "all"]
    )
    assert activity_lost(found).startswith("the shift loses much activity accuracy on dws (from 0.95 to 0.55): raise")
    assert activity_lost(found.drop(index="dws")) == ""


def test_the_leak_shrinks_as_less_is_kept(anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows) -> None:
    found = residual_leak(anonymizer, windows, unseen, cells=2)["accuracy"]
    assert found["latent z"] > 0.95
    assert found["chance"] == pytest.approx(0.5)
    assert found["cell of 2"] < found["latent z"]
    assert found.index.tolist() == ["latent z", "residual z - m(y, p)", "whitened residual", "cell of 2", "chance"]


def test_membership_is_seen_if_training_windows_are_published() -> None:
    generator = np.random.default_rng(0)
    members, others, new = generator.normal(size=(3, 300, 8))
    assert membership(members, others, members) == 1
    assert membership(members, others, new) == pytest.approx(0.5, abs=0.06)


def test_donors_are_named_if_their_windows_are_published(
    anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows
) -> None:
    quick = Settings(epochs=2, batch=64)
    study = Study("sines", "s", "gender", windows, windows, unseen, unseen, "mlp", 10.0, 0.1, quick, quick)
    releases = {
        "raw": unrandomized(lambda some: some),
        "random training window": trivial(anonymizer, windows)["random training window"],
        "donor, own": anonymized(anonymizer.with_(transfer=Donor(own=True), modify="uniform")),
        "synthetic": anonymized(anonymizer.with_(transfer=Donor(synthetic=True))),
    }
    found = exposure(releases, study, settings=quick)
    assert found.loc["random training window", "nearest"] == 1
    assert found.loc["random training window", "membership"] > 0.8
    assert found.loc["random training window", "own"] == 0
    assert found.loc["donor, own", "own"] > 0.1
    assert found.loc[["raw", "synthetic"], "named"].isna().all()
    assert found.loc["synthetic", "membership"] < found.loc["random training window", "membership"]
    assert found.loc["random training window", "n"] == "6 people"
