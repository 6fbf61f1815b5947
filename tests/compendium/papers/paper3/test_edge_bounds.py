"""The lower bound agrees with sums by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.papers.paper3.edge_tables import CLOCK, CORES, MACS_PER_CYCLE, lower_bound

DENSE = {"step": "public", "code": None, "weights": 1_000_000, "macs": 1_000_000}


def test_memory_limits_one_window_and_arithmetic_limits_a_batch():
    # a megaweight is 4 MB: 1.111 ms at 3.6 GB/s; a mega-multiply-add takes 1e6 / 4 / 1.2e9 = 0.2083 ms on a core
    assert lower_bound(DENSE, 1) == pytest.approx(4e6 / 3.6e9)
    assert lower_bound(DENSE, 256) == pytest.approx(1e6 / 4.8e9)
    assert lower_bound(DENSE, 256, cores=4) == pytest.approx(1e6 / 19.2e9)
    assert lower_bound(DENSE, 1, precision="int8") == pytest.approx(1e6 / 3.6e9)
    assert pytest.approx(38.4e9) == CORES * MACS_PER_CYCLE * CLOCK * 2  # operations a second at the peak


@given(st.integers(0, 10**8), st.integers(0, 10**8), st.integers(1, 512), st.integers(1, 4))
def test_larger_batches_and_more_cores_never_raise_the_bound(weights, macs, batch, cores):
    network = {"weights": weights, "macs": macs}
    assert lower_bound(network, batch + 1, cores=cores) <= lower_bound(network, batch, cores=cores) * (1 + 1e-12)
    assert lower_bound(network, batch, cores=4) <= lower_bound(network, batch, cores=cores) * (1 + 1e-12)


def test_an_empty_batch_and_too_many_cores_are_refused():
    with pytest.raises(ValueError, match=r"cores=5: .* Raspberry Pi 3 Model B has 1 to 4 cores"):
        lower_bound(DENSE, 1, cores=5)
    with pytest.raises(ValueError, match="batch=0"):
        lower_bound(DENSE, 0)
