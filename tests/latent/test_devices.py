import platform

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sensorprivacy.latent.classifiers import CrossEntropy
from sensorprivacy.latent.devices import by_onednn, pick_device
from sensorprivacy.latent.training import Settings, apply_in_chunks, train


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
    has: dict[str, object], inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has, raising=False)
    seen: list[str] = []

    def watched(model: nn.Module, x: Tensor, y: Tensor) -> CrossEntropy:
        seen.append(MATMUL.fp32_precision)
        return CrossEntropy(functional.cross_entropy(model(x), y), torch.zeros(()))

    model, x, y = nn.Linear(3, 2), torch.randn(8, 3), torch.arange(8) % 2
    train(model, watched, (x, y), Settings(epochs=1, batch=4, device="cpu"), progress=False)
    apply_in_chunks(model, lambda x: (seen.append(MATMUL.fp32_precision), model(x))[1], x.numpy(), "cpu")
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

    layer, x = nn.Linear(4096, 4096), torch.ones(4, 4096)  # its gradient of 64 MB has 16,384 pages
    with by_onednn():
        for step in range(12):
            if step == 4:  # the first steps ask for memory
                before = cleared()
            layer.zero_grad(set_to_none=True)
            layer(x).sum().backward()
    assert (cleared() - before) / 8 < 8192


def test_auto_is_a_device_that_is_there() -> None:
    assert pick_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert pick_device("cpu").type == "cpu"
