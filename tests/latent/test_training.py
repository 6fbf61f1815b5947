from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.files import CheckpointError
from sensorprivacy.latent.training import Settings, evaluate, seeded, train

SETTINGS = Settings(epochs=8, batch=32, rate=1e-2, seed=3)


class Squared(NamedTuple):
    total: Tensor


def step(model: nn.Module, x: Tensor, y: Tensor) -> Squared:
    return Squared((model(x).float() - y).square().mean())


def network() -> nn.Module:
    return seeded(lambda: nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1)), 5)


@pytest.fixture
def data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(200, 3, generator=generator)
    return x, (x @ torch.tensor([[1.0], [-2.0], [0.5]]))


def test_training_lowers_the_loss_and_repeats_itself(data: tuple[Tensor, Tensor]) -> None:
    curves = [train(network(), step, data, SETTINGS, progress=False) for _ in range(2)]
    assert curves[0]["total"].iloc[-1] < curves[0]["total"].iloc[0] / 2
    pd.testing.assert_frame_equal(*curves)
    other = train(network(), step, data, replace(SETTINGS, seed=4), progress=False)
    assert other["total"].tolist() != curves[0]["total"].tolist()


def test_training_leaves_the_sessions_random_state(data: tuple[Tensor, Tensor]) -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    train(network(), step, data, SETTINGS, progress=False)
    assert torch.rand(1) == expected


def test_an_interrupted_training_resumes_to_the_same_loss_curve(data: tuple[Tensor, Tensor], tmp_path: Path) -> None:
    whole_model = network()
    whole = train(whole_model, step, data, SETTINGS, validation=data, progress=False)
    calls = 0

    def interrupted(model: nn.Module, x: Tensor, y: Tensor) -> Squared:
        nonlocal calls
        calls += 1
        if calls == 45:  # in the midst of epoch 6 of 8 (7 batches, 1 validation)
            raise KeyboardInterrupt
        return step(model, x, y)

    kept, model = tmp_path / "kept.safetensors", network()
    with pytest.raises(KeyboardInterrupt):
        train(model, interrupted, data, SETTINGS, validation=data, checkpoint=kept, every=0, progress=False)
    assert kept.is_file()
    model = network()
    resumed = train(model, step, data, SETTINGS, validation=data, checkpoint=kept, every=0, progress=False)
    pd.testing.assert_frame_equal(resumed, whole)
    for a, b in zip(model.parameters(), whole_model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_cnn_continues_from_a_checkpoint(tmp_path: Path) -> None:
    """Its weights lie in another order in memory, which a fused optimizer does not check."""
    rng = np.random.default_rng(0)
    values, codes = rng.normal(size=(64, 2, 16)).astype(np.float32), rng.integers(0, 2, 64)
    kept, settings = tmp_path / "kept.safetensors", Settings(epochs=4, batch=16)
    whole = Classifier("cnn", settings=settings).fit(values, codes, progress=False)
    Classifier("cnn", settings=replace(settings, epochs=2)).fit(values, codes, checkpoint=kept, progress=False)
    again = Classifier("cnn", settings=settings).fit(values, codes, checkpoint=kept, progress=False)
    pd.testing.assert_frame_equal(again.history_, whole.history_)
    assert np.array_equal(again.probabilities(values), whole.probabilities(values))


def test_a_finished_checkpoint_continues_to_more_epochs(data: tuple[Tensor, Tensor], tmp_path: Path) -> None:
    kept = tmp_path / "kept.safetensors"
    train(network(), step, data, replace(SETTINGS, epochs=3), checkpoint=kept, progress=False)
    longer = train(network(), step, data, SETTINGS, checkpoint=kept, progress=False)
    pd.testing.assert_frame_equal(longer, train(network(), step, data, SETTINGS, progress=False))


def test_a_checkpoint_with_more_epochs_than_asked_is_refused(data: tuple[Tensor, Tensor], tmp_path: Path) -> None:
    kept = tmp_path / "kept.safetensors"
    train(network(), step, data, replace(SETTINGS, epochs=3), checkpoint=kept, progress=False)
    with pytest.raises(CheckpointError, match="has 3 epochs, more than the 2 asked for"):
        train(network(), step, data, replace(SETTINGS, epochs=2), checkpoint=kept, progress=False)


def test_a_checkpoint_of_other_settings_or_data_is_refused(data: tuple[Tensor, Tensor], tmp_path: Path) -> None:
    kept = tmp_path / "kept.safetensors"
    train(network(), step, data, replace(SETTINGS, epochs=1), checkpoint=kept, progress=False)
    with pytest.raises(CheckpointError, match="another training"):
        train(network(), step, data, replace(SETTINGS, rate=0.5), checkpoint=kept, progress=False)
    with pytest.raises(CheckpointError, match="another training"):
        train(network(), step, (data[0] + 1, data[1]), SETTINGS, checkpoint=kept, progress=False)
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="cannot be read"):
        train(network(), step, data, SETTINGS, checkpoint=kept, progress=False)


def test_early_stopping_keeps_the_best_weights(data: tuple[Tensor, Tensor]) -> None:
    held = data[0][:50], -data[1][:50]  # the better the training, the worse on these
    model = network()
    curve = train(model, step, data, replace(SETTINGS, epochs=50, patience=3), validation=held, progress=False)
    assert len(curve) < 50
    best = curve["validation_total"].min()
    assert len(curve) - curve["validation_total"].idxmin() - 1 == 3
    assert evaluate(model, step, held)["total"] == pytest.approx(best, rel=1e-6)


def test_bfloat16_reaches_a_similar_loss(data: tuple[Tensor, Tensor]) -> None:
    full = train(network(), step, data, SETTINGS, progress=False)["total"].iloc[-1]
    half = train(network(), step, data, replace(SETTINGS, precision="bfloat16"), progress=False)["total"]
    assert half.iloc[-1] != full  # it did run in another precision
    assert half.iloc[-1] == pytest.approx(full, rel=0.1)


def test_too_few_windows_for_a_batch(data: tuple[Tensor, Tensor]) -> None:
    with pytest.raises(ValueError, match="stairs: 200 windows are too few for a batch of 512"):
        train(network(), step, data, replace(SETTINGS, batch=512), progress=False, label="stairs")


def test_every_window_is_used_in_batches_of_like_size(data: tuple[Tensor, Tensor]) -> None:
    sizes: list[int] = []

    def noting(model: nn.Module, x: Tensor, y: Tensor) -> Squared:
        sizes.append(len(x))
        return step(model, x, y)

    train(network(), noting, data, replace(SETTINGS, epochs=1, batch=64), progress=False)
    assert sum(sizes) == 200
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= 64


def test_an_exploding_loss_is_reported(data: tuple[Tensor, Tensor]) -> None:
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        train(network(), step, (data[0], data[1] * float("inf")), SETTINGS, progress=False)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"batch": 1}, "batch=1"),
        ({"rate": 0.0}, "rate=0"),
        ({"patience": 0}, "patience=0"),
        ({"precision": "float8"}, "'float8' is unknown"),
        ({"start": "xavier"}, "start 'xavier' is unknown: choose from pytorch, he"),
    ],
)
def test_settings_are_checked(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(**wrong)  # type: ignore[arg-type]


def test_early_stopping_needs_validation(data: tuple[Tensor, Tensor]) -> None:
    with pytest.raises(ValueError, match="needs validation windows"):
        train(network(), step, data, replace(SETTINGS, patience=2), progress=False)
