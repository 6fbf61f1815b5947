"""An anonymizer of own recordings, of any number of channels, becomes a bundle for a device."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compendium.datasets import windows
from sensorprivacy import latent
from sensorrelease.boards import check_shape, own_bundles


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw, parts = tmp_path_factory.mktemp("own"), np.random.default_rng(0), []
    for person in range(4):
        for what, frequency in (("walk", 2), ("run", 4)):
            for day in range(4):
                wave = np.sin(2 * np.pi * frequency * np.arange(700) / 32) + person % 2
                signal = {name: wave * at + draw.normal(0, 0.1, 700) for at, name in enumerate("abcdef", 1)}
                labels = {"who": person, "what": what, "sex": "fm"[person % 2], "day": day}
                parts.append(pd.DataFrame(signal | labels))
    pd.concat(parts).to_csv(folder / "all.csv", index=False)
    keys = ['name = "own"', 'files = "all.csv"', "rate = 32", 'channels = ["a", "b", "c", "d", "e", "f"]']
    keys += ['subject = "who"', 'trial = "day"', 'public = "what"', 'private = ["sex"]']
    (folder / "own.toml").write_text("\n".join(keys))
    return folder / "own.toml"


@pytest.mark.slow
def test_six_channels_are_exported_and_the_saved_model_again(
    described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REVIEW E13: an own six-channel model ended in an ONNX shape traceback, and no command saved one."""
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    saved = tmp_path / "own.safetensors"
    made = own_bundles(described, "sex", tmp_path / "edge", keep=saved, epochs=1, inference_epochs=1)
    assert {name: bundle.shape for name, bundle in made.items()} == {"own-sex": (6, 128)}
    again = own_bundles(described, None, tmp_path / "again", model=saved)
    assert again["own-sex"].shape == (6, 128)
    assert again["own-sex"].public == ("run", "walk")
    with pytest.raises(ValueError, match="it anonymizes windows of 6 channels and 128 samples, but own has 6 and 64"):
        check_shape(latent.load(saved), windows(described, length=64), saved)
    with pytest.raises(ValueError, match="--hide is missing"):
        own_bundles(described, None, tmp_path / "none")
    assert not (tmp_path / "none").exists(), "an error leaves no empty folder"


def test_short_recordings_are_exported_with_a_smaller_batch(described: Path, tmp_path: Path) -> None:
    """`publish` trains on the same recordings, so that the guide's last command must not fail."""
    table = pd.read_csv(described.with_name("all.csv")).query("day < 2")
    table.groupby(["who", "what", "day"]).head(450).to_csv(tmp_path / "all.csv", index=False)
    (tmp_path / "own.toml").write_text(described.read_text())
    made = own_bundles(tmp_path / "own.toml", "sex", tmp_path / "edge", epochs=1, inference_epochs=1)
    assert set(made) == {"own-sex"}
