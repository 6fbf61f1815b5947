from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from sensorprivacy.data import Windows
from sensorprivacy.game import attack
from sensorprivacy.latent import (
    AnonymizationAutoencoder,
    Attacker,
    InferenceModels,
    ReplacementAutoencoder,
    Settings,
    WindowScene,
    inference_table,
)
from sensorprivacy.latent.files import CheckpointError
from sensorprivacy.latent.windows import replace_values

SETTINGS = Settings(epochs=60, batch=64, rate=3e-3)


@pytest.fixture(scope="module")
def replaced(windows: Windows) -> ReplacementAutoencoder:
    return ReplacementAutoencoder(["jog"], ["walk"], hidden=(64, 32), settings=SETTINGS).fit(windows, progress=False)


def test_sensitive_windows_pass_for_neutral_ones(
    replaced: ReplacementAutoencoder, models: InferenceModels, unseen: Windows
) -> None:
    table = inference_table(models, unseen, replaced.transform(unseen))
    assert table.loc["jog", "public_before"] > 0.9
    assert table.loc["jog", "public_after"] < 0.3
    assert table.loc["walk", "public_after"] > 0.9


def test_without_sensitive_windows_it_copies(windows: Windows, unseen: Windows) -> None:
    copy = ReplacementAutoencoder(hidden=(64, 32), settings=SETTINGS).fit(windows, progress=False)
    published = copy.transform(unseen)
    assert np.mean((published.values - unseen.values) ** 2) < 0.2 * unseen.values.var()


def test_the_anonymization_autoencoder_keeps_activity_and_fools_its_adversary(
    windows: Windows, unseen: Windows, models: InferenceModels
) -> None:
    settings = Settings(epochs=30, batch=64, rate=6e-3)
    rival = AnonymizationAutoencoder("gender", keep=4, hide=1, filters=(16, 16), settings=settings)
    rival.fit(windows, progress=False)
    assert rival.history_["private"].iloc[-1] < rival.history_["private"].max() / 2
    table = inference_table(models, unseen, rival.transform(unseen)).loc["all"]
    assert table["public_after"] > 0.85
    assert table["private_after"] < table["private_before"] - 0.1


def test_a_rival_can_be_attacked(replaced: ReplacementAutoencoder, windows: Windows, unseen: Windows) -> None:
    quick = Attacker("quick", dropout=0.0, settings=Settings(epochs=10, batch=64, rate=3e-3))
    found = attack(WindowScene(replaced.transform, windows, unseen, "gender"), [quick], draws=0)
    assert 0 <= found.at("window").score <= 1


@pytest.mark.parametrize(
    ("sensitive", "neutral", "words"),
    [
        (["swim"], ["walk"], "'swim' is not in sines: it has jog, walk"),
        (["jog"], ["jog"], "'jog' is both sensitive and neutral"),
        (["jog"], [], "name a neutral public class"),
    ],
)
def test_lists_are_checked(windows: Windows, sensitive: list[str], neutral: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ReplacementAutoencoder(sensitive, neutral).fit(windows, progress=False)


def test_a_length_that_cannot_be_halved(windows: Windows) -> None:
    with pytest.raises(ValueError, match="32 samples cannot be halved 6 times"):
        AnonymizationAutoencoder(filters=(8,) * 6).fit(windows, progress=False)


def test_a_diverging_loss_names_the_epoch_and_the_remedy(windows: Windows) -> None:
    settings = Settings(epochs=2, batch=64, rate=1e30)
    with pytest.raises(FloatingPointError, match=r"loss \[.*nan.*\] in epoch [12]: lower the learning rate"):
        AnonymizationAutoencoder("gender", filters=(4,), settings=settings).fit(windows, progress=False)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_windows_that_are_not_finite_are_refused_before_any_training(windows: Windows, broken: float) -> None:
    values = windows.values.copy()
    values[3, 0, 5] = broken
    with pytest.raises(ValueError, match=r"1 of \d+ windows have missing or infinite values \(first: window 3\)"):
        AnonymizationAutoencoder("gender").fit(replace_values(windows, values), progress=False)


def test_a_trained_anonymization_autoencoder_is_taken_up_again(
    windows: Windows, unseen: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notebooks 30 and 31 trained the same one twice."""
    rival = AnonymizationAutoencoder("gender", filters=(8,), settings=Settings(epochs=2, batch=64))
    saved = tmp_path / "rival.safetensors"
    first = rival.fit(windows, progress=False, checkpoint=saved).transform(unseen)
    trained, train = [], AnonymizationAutoencoder._epoch
    monkeypatch.setattr(AnonymizationAutoencoder, "_epoch", lambda *given: trained.append(1) or train(*given))
    again = AnonymizationAutoencoder("gender", filters=(8,), settings=Settings(epochs=2, batch=64))
    again.fit(windows, progress=False, checkpoint=saved)
    assert not trained
    assert np.array_equal(again.transform(unseen).values, first.values)
    assert again.history_.equals(rival.history_)
    for other, known in (
        (replace(rival, keep=3.0), windows),
        (replace(rival, settings=Settings(epochs=2, batch=64, seed=1)), windows),
        (rival, windows.take(np.arange(windows.n_windows - 1))),
    ):
        with pytest.raises(CheckpointError, match="another training"):
            other.fit(known, progress=False, checkpoint=saved)
    longer = AnonymizationAutoencoder("gender", filters=(8,), settings=Settings(epochs=4, batch=64))
    longer.fit(windows, progress=False, checkpoint=saved)
    assert len(trained) == 2, "two of four epochs were there"
    whole = clone(longer).fit(windows, progress=False)
    assert whole.history_.equals(longer.history_)
    assert np.array_equal(whole.transform(unseen).values, longer.transform(unseen).values)
    with pytest.raises(CheckpointError, match="4 epochs, more than the 2 asked for"):
        again.fit(windows, progress=False, checkpoint=saved)
