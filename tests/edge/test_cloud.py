"""Section 6.4's calculation agrees with sums by hand."""

import pytest

from sensorprivacy.edge.comparison import HEADER, LINKS, Link, offloading


def test_a_link_is_added_up():
    link = Link("x", round_trip=0.1, up=8000.0, down=16000.0)  # 1 kB/s up, 2 kB/s down
    (row,) = offloading(0.002, 256, 10, cloud=0.001, links=(link,))
    short, window = 4 * 11 + HEADER, 4 * 256 + HEADER
    assert row["device"] == 0.002
    assert row["cloud_back"] == pytest.approx(0.1 + short / 1000 + 0.001 + window / 2000)
    assert row["device_up"] == pytest.approx(0.002 + 0.05 + window / 1000)
    assert row["cloud_stays"] == pytest.approx(0.05 + short / 1000 + 0.001)


def test_a_round_trip_is_longer_than_a_fast_decoder_and_a_slow_link_favours_latents():
    rows = offloading(0.001, 256, 10)
    assert [row["link"] for row in rows] == [link.name for link in LINKS]
    assert all(row["cloud_back"] > row["device"] for row in rows)
    assert rows[-1]["device_up"] - rows[-1]["cloud_stays"] > 0.1
