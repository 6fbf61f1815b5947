"""An anonymizer of own recordings, of any number of channels, becomes a bundle for a device."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from compendium.datasets import windows
from sensorprivacy import latent
from sensorrelease.boards import check_shape, own_bundles

WORDS = ("--recording", "day", "--hide", "sex", "--rate", 32)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, declare: Any) -> Path:
    folder, draw, parts = tmp_path_factory.mktemp("own"), np.random.default_rng(0), []
    for person in range(4):
        for what, frequency in (("walk", 2), ("run", 4)):
            for day in range(4):
                wave = np.sin(2 * np.pi * frequency * np.arange(700) / 32) + person % 2
                signal = {name: wave * at + draw.normal(0, 0.1, 700) for at, name in enumerate("abcdef", 1)}
                labels = {"who": person, "what": what, "sex": "fm"[person % 2], "day": day}
                parts.append(pd.DataFrame(signal | labels))
    (folder / "own").mkdir()
    pd.concat(parts).to_csv(folder / "own" / "all.csv", index=False)
    return declare(folder / "own", *WORDS, task="what", user="who")


@pytest.mark.slow
def test_six_channels_are_exported_and_the_saved_model_again(
    described: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REVIEW E13: an own six-channel model ended in an ONNX shape traceback, and no command saved one."""
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    saved = tmp_path / "own.safetensors"
    made = own_bundles(described, "sex", tmp_path / "edge", keep=saved, epochs=1, inference_epochs=1)
    assert {name: bundle.shape for name, bundle in made.items()} == {"recordings-sex": (6, 128)}
    again = own_bundles(described, None, tmp_path / "again", model=saved)
    assert again["recordings-sex"].shape == (6, 128)
    assert again["recordings-sex"].public == ("run", "walk")
    with pytest.raises(ValueError, match="windows of 6 channels and 128 samples, but recordings has 6 and 64"):
        check_shape(latent.load(saved), windows(described, length=64), saved)
    with pytest.raises(ValueError, match="'age' is no private attribute of the schema: choose from sex, who"):
        own_bundles(described, "age", tmp_path / "none")
    assert not (tmp_path / "none").exists(), "an error leaves no empty folder"


def test_short_recordings_are_exported_with_a_smaller_batch(described: Path, tmp_path: Path, declare: Any) -> None:
    """`publish` trains on the same recordings, so that the guide's last command must not fail."""
    table = pd.read_csv(described / "all.csv").query("day < 2")
    (tmp_path / "own").mkdir()
    table.groupby(["who", "what", "day"]).head(450).to_csv(tmp_path / "own" / "all.csv", index=False)
    made = own_bundles(
        declare(tmp_path / "own", *WORDS, task="what", user="who"),
        "sex",
        tmp_path / "edge",
        epochs=1,
        inference_epochs=1,
    )
    assert set(made) == {"recordings-sex"}
