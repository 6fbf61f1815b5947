"""The least time that a step can take on a Raspberry Pi 3, from its multiply-adds and its bytes of weights.

A step is never faster than its multiply-adds at the processor's peak, or than the transfer of its weights from memory.
Real code reaches neither limit, so the bound is no forecast. The ratio of a printed time to the bound shows how much of
that time the networks explain.
"""

from collections.abc import Mapping

PI3 = "Raspberry Pi 3 Model B"
# Raspberry Pi documentation, processors: BCM2837, four Cortex-A53 at 1.2 GHz, 512 KB level 2 cache
CORES = 4
CLOCK = 1.2e9  # Hz
# ncnn, developer guide on Cortex-A53: a core starts one fmla of four float32 per cycle
MACS_PER_CYCLE = 4
# Raspberry Pi 3 Model B, product brief: 1 GB of LPDDR2 at 900 MT/s; a 32-bit bus moves at most 3.6 GB/s
BANDWIDTH = 3.6e9  # bytes per second
_BYTES = {"float32": 4, "int8": 1}


def lower_bound(network: Mapping[str, float], batch: int, *, cores: int = 1, precision: str = "float32") -> float:
    """Return the least seconds per window that a step can take on a Raspberry Pi 3.

    Parameters
    ----------
    network : mapping
        ``weights`` and ``macs`` (multiply-adds per window) of the step, as in a record.
    batch : int
        Windows per call. Every call reads the weights from memory once.
    cores : int
        Number of cores in use.
    precision : {"float32", "int8"}
        Precision of the weights. Multiply-adds count at the peak of float32 for both.

    Raises
    ------
    ValueError
        If the board has fewer cores, or the batch is empty.
    """
    if batch < 1 or not 1 <= cores <= CORES:
        raise ValueError(f"batch={batch}, cores={cores}: use a batch of at least 1; {PI3} has 1 to {CORES} cores")
    # A pipeline's weights are many times the cache, so every call reads them from memory. Windows and values between
    # layers may stay in the cache, and a lower bound must allow for that.
    memory = network["weights"] * _BYTES[precision] / BANDWIDTH
    arithmetic = network["macs"] * batch / (cores * MACS_PER_CYCLE * CLOCK)
    return max(arithmetic, memory) / batch  # the two overlap
