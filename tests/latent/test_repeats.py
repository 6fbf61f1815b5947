from pathlib import Path

import pandas as pd
import pytest

from sensorprivacy.datasets import Windows
from sensorprivacy.latent import SeededSource, Settings, inference_table
from sensorprivacy.latent.repeats import SHARES, over_seeds, spread
from sensorprivacy.latent.study import Study


@pytest.fixture
def study(windows: Windows, unseen: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setattr("sensorprivacy.latent.study.build_dir", lambda: tmp_path / "build")
    short = Settings(epochs=2, batch=64)
    trains = {"network": "mlp", "alpha": 10.0, "beta": 0.1, "vae": short, "inference": short}
    return Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, **trains)  # type: ignore[arg-type]


def test_each_seed_is_a_training_of_its_own(study: Study) -> None:
    found = over_seeds(study, [0, 3], scales=[1.0, 2.0], redraws=[0, 2], progress=False)
    assert found[["seed", "change"]].drop_duplicates().to_numpy().tolist() == [
        [0, "mean shift"],
        [0, "chosen"],
        [3, "mean shift"],
        [3, "chosen"],
    ]
    assert found["public class"].unique().tolist() == ["jog", "walk", "all"]
    plain = found[found["change"] == "mean shift"]
    assert set(plain["shift"]) == {1.0}
    assert set(plain["redraws"]) == {0}
    three = study.with_seed(3)
    assert (three.vae.seed, three.inference.seed, study.vae.seed) == (3, 3, 0)
    assert three.folder != study.folder
    guesses = three.guesses()
    alone = inference_table(guesses, study.test, three.anonymizer(guesses).transform(study.test, SeededSource(3)))[
        SHARES
    ]
    ours = plain[plain["seed"] == 3].set_index("public class")[SHARES]
    pd.testing.assert_frame_equal(ours, alone)


def test_the_spread_over_seeds_by_hand() -> None:
    rows = [(seed, "chosen", "walk", 0.9, value, 0.8, value / 2) for seed, value in enumerate((0.2, 0.6, 0.4))]
    found = spread(pd.DataFrame(rows, columns=["seed", "change", "public class", *SHARES])).loc[("chosen", "walk")]
    assert found[["public_after", "public_after_min", "public_after_max"]].tolist() == pytest.approx([0.4, 0.2, 0.6])
    assert found[["private_after", "private_after_min", "private_after_max"]].tolist() == pytest.approx([0.2, 0.1, 0.3])
    assert found["seeds"] == 3


@pytest.mark.parametrize("seeds", [[], [1, 1]])
def test_seeds_are_named_once(study: Study, seeds: list[int]) -> None:
    with pytest.raises(ValueError, match="name at least one, each once"):
        over_seeds(study, seeds, progress=False)
