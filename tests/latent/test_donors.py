import numpy as np
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import Donor, LatentAnonymizer, Settings
from sensorprivacy.latent.measures import exposure, membership
from sensorprivacy.latent.releases import anonymized, trivial, unrandomized
from sensorprivacy.latent.study import Study


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
