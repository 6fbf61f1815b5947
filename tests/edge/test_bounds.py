"""The lower bound against sums done by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.edge.bounds import PI3, bounds, lower_bound

DENSE = {"step": "public", "code": None, "weights": 1_000_000, "macs": 1_000_000}


def test_one_window_waits_for_its_weights_and_a_batch_for_arithmetic():
    # a megaweight is 4 MB: 1.111 ms at 3.6 GB/s; a mega-multiply-add takes 1e6 / 4 / 1.2e9 = 0.2083 ms on a core
    assert lower_bound(DENSE, 1) == pytest.approx(4e6 / 3.6e9)
    assert lower_bound(DENSE, 256) == pytest.approx(1e6 / 4.8e9)
    assert lower_bound(DENSE, 256, cores=4) == pytest.approx(1e6 / 19.2e9)
    assert lower_bound(DENSE, 1, precision="int8") == pytest.approx(1e6 / 3.6e9)
    assert PI3.cores * PI3.macs * PI3.clock * 2 == pytest.approx(38.4e9)  # operations a second at the peak
    found = [row["limited_by"] for batch in (1, 256) for row in bounds([DENSE], batch)]
    assert found == ["memory", "arithmetic"]


@given(st.integers(0, 10**8), st.integers(0, 10**8), st.integers(1, 512), st.integers(1, 4))
def test_larger_batches_and_more_cores_never_raise_the_bound(weights, macs, batch, cores):
    network = {"weights": weights, "macs": macs}
    assert lower_bound(network, batch + 1, cores=cores) <= lower_bound(network, batch, cores=cores) * (1 + 1e-12)
    assert lower_bound(network, batch, cores=4) <= lower_bound(network, batch, cores=cores) * (1 + 1e-12)


def test_a_board_has_only_so_many_cores():
    with pytest.raises(ValueError, match=r"cores=5: Raspberry Pi 3 Model B has 1 to 4 cores"):
        lower_bound(DENSE, 1, cores=5)
    with pytest.raises(ValueError, match="batch=0"):
        lower_bound(DENSE, 0)
