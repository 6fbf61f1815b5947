"""Choose the device, the precision and the library with which networks multiply, by what the processor can do."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import torch

Precision = Literal["float32", "bfloat16", "auto"]
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt in glibc's malloc.h


def pick_device(name: str = "auto") -> torch.device:
    """Return the device of a name; ``auto`` is a GPU if there is one."""
    return torch.device(("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name)


def faster_precision(device: str = "auto") -> Precision:
    """Return ``bfloat16`` on a GPU, on a CPU with AMX and on an AMD CPU with AVX-512 BF16, ``float32`` elsewhere.

    With AMX, bfloat16 trains an autoencoder twice as fast as float32 (`bench/latent_training.py`), and on an AMD CPU
    with AVX-512 BF16 1.2 to 1.8 times as fast. On an Intel CPU without AMX, float32 is 1.7 times as fast
    (`bench/latent_precision.py`).
    """
    if pick_device(device).type == "cuda":
        return "bfloat16"
    has = _processor()
    return "bfloat16" if has.get("amx_bf16") or (has.get("avx512_bf16") and has["amd"]) else "float32"


def _processor() -> dict[str, Any]:
    """Return what this processor can do, and whether it is of AMD."""
    has: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # PyTorch 2.6 has none
    return has | {"amd": str(has.get("cpu_name", "")).startswith("AMD")}


@contextmanager
def by_onednn() -> Iterator[None]:
    """Multiply 32-bit matrices with oneDNN inside, on an AMD CPU with AVX-512; elsewhere multiply as usual.

    MKL, PyTorch's default, does not use AVX-512 on AMD CPUs, and a training step takes up to twice as long. PyTorch
    names the setting ``bf16``. But oneDNN multiplies in 16 bits only on a CPU with AMX; on others the products have the
    accuracy of float32 (`bench/latent_precision.py` measures both). A choice that the user made is kept.
    """
    _keep_memory()
    has = _processor()
    setting: Any = getattr(torch.backends.mkldnn, "matmul", None)  # since PyTorch 2.9
    fits = has["amd"] and has.get("avx512_f") and not has.get("amx_bf16")
    chosen = fits and setting is not None and setting.fp32_precision == "none"
    if chosen:
        setting.fp32_precision = "bf16"
    try:
        yield
    finally:
        if chosen:
            setting.fp32_precision = "none"


@cache
def _keep_memory() -> None:
    """Let the C library of Linux keep up to 2 GB of freed memory for the next step of a training.

    By default it returns blocks of more than 32 MB, such as the gradients of a large layer, to the system, which clears
    them anew in each step: up to a third of a step's time (`bench/results/paper_hours.md`). Results are the same.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another system
        return
    mallopt(_MMAP_THRESHOLD, 2**30)
    mallopt(_TRIM_THRESHOLD, 2**31 - 1)


def multiplying(device: torch.device, precision: Precision) -> torch.autocast:
    """Return a context in which networks multiply in this precision."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bfloat16")
