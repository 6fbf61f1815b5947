import platform
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
from sensorprivacy.latent.training import Settings, apply_in_chunks, by_onednn, evaluate, pick_device, seeded, train

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


@pytest.mark.parametrize(
    ("has", "expected"),
    [
        ({"amx_bf16": True, "avx512_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": True, "cpu_name": "AMD EPYC"}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": False, "cpu_name": "AMD EPYC"}, "float32"),
        ({"amx_bf16": False, "avx512_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}, "float32"),
        ({}, "float32"),
    ],
)
def test_auto_is_the_precision_that_is_faster_on_this_cpu(
    has: dict[str, object], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bfloat16 took 1.7 times as long as float32 on an Intel machine without AMX, and .55 times on an AMD machine."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has, raising=False)
    assert Settings(precision="auto", device="cpu").precision == expected
    assert Settings(precision="bfloat16", device="cpu").precision == "bfloat16"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert Settings(precision="auto").precision == "bfloat16"
    monkeypatch.delattr(torch.cpu, "get_capabilities")
    assert Settings(precision="auto", device="cpu").precision == "float32"


FAST = {"avx512_f": True, "cpu_name": "AMD EPYC"}  # an AMD CPU, on which MKL does not use AVX-512
MATMUL = getattr(torch.backends.mkldnn, "matmul", None)
needs_setting = pytest.mark.skipif(MATMUL is None, reason="PyTorch below 2.9 has no such setting")


@needs_setting
@pytest.mark.parametrize(
    ("has", "inside"),
    [
        (FAST, "bf16"),
        (FAST | {"avx512_bf16": True}, "bf16"),
        (FAST | {"avx512_bf16": True, "amx_bf16": True}, "none"),  # these would really multiply in 16 bits
        ({"avx512_f": True, "amx_bf16": True, "cpu_name": "Intel(R) Xeon(R)"}, "none"),
        ({"avx512_f": True, "cpu_name": "Intel(R) Xeon(R)"}, "none"),
        ({"avx2": True, "cpu_name": "AMD EPYC"}, "none"),
        ({}, "none"),
    ],
)
def test_onednn_multiplies_where_it_is_faster_and_as_exact(
    has: dict[str, object], inside: str, data: tuple[Tensor, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has, raising=False)
    seen: list[str] = []

    def watched(model: nn.Module, x: Tensor, y: Tensor) -> Squared:
        seen.append(MATMUL.fp32_precision)
        return step(model, x, y)

    model = network()
    train(model, watched, data, replace(SETTINGS, epochs=1), progress=False)
    apply_in_chunks(model, lambda x: (seen.append(MATMUL.fp32_precision), model(x))[1], data[0].numpy(), "cpu")
    assert set(seen) == {inside}
    assert MATMUL.fp32_precision == "none"


def fails_inside_two_contexts() -> None:
    with by_onednn():
        with by_onednn():
            pass
        assert MATMUL.fp32_precision == "bf16"  # an inner context does not end an outer one
        raise KeyboardInterrupt


@needs_setting
def test_the_choice_of_a_library_ends_with_its_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: FAST, raising=False)
    with pytest.raises(KeyboardInterrupt):
        fails_inside_two_contexts()
    assert MATMUL.fp32_precision == "none"
    try:
        MATMUL.fp32_precision = "ieee"  # the user's own choice stays
        with by_onednn():
            assert MATMUL.fp32_precision == "ieee"
        assert MATMUL.fp32_precision == "ieee"
    finally:
        MATMUL.fp32_precision = "none"


@pytest.mark.parametrize("rows", [1, 64, 512])
def test_products_have_the_accuracy_of_float32_on_this_cpu(rows: int) -> None:
    left, right = torch.randn(rows, 512), torch.randn(512, 256)
    exact = left.double() @ right.double()
    with by_onednn():
        error = (left @ right - exact).abs().max() / exact.abs().max()
    assert error < 1e-5  # bfloat16: 2e-3


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library decides what it keeps")
def test_steps_take_the_memory_of_the_steps_before() -> None:
    """Each step of a general autoencoder had its gradients cleared anew by the system, a fifth of its time."""
    import resource

    def cleared() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    with by_onednn():
        torch.ones(2**24)
        before = cleared()
        for _ in range(4):
            torch.ones(2**24)  # 64 MB are 16,384 pages
    assert cleared() - before < 8000


def test_auto_is_a_device_that_is_there() -> None:
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert pick_device("cpu").type == "cpu"
