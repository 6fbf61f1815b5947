"""Records of measurements, and the command that writes them."""

import json
import platform
import time

import pytest

from sensorprivacy.edge.board import measurement, timing


@pytest.fixture(scope="module")
def record(bundle):
    return measurement.measure(bundle.folder, batches=(1, 2), seconds=0.001)


def test_a_record_does_not_name_the_machine(record):
    text = json.dumps(record["hardware"])
    assert platform.node() not in text.split('"') or platform.node() in ("localhost", "")


def test_settings_out_of_range_are_refused(bundle):
    with pytest.raises(ValueError, match="threads=0"):
        measurement.measure(bundle.folder, threads=0)


@pytest.mark.slow
def test_a_slow_board_ends_in_time_and_leaves_out_large_batches(bundle, monkeypatch, tmp_path):
    """A board on which each call takes four hundredths of a second for each window."""
    monkeypatch.setattr(timing.Bound, "run", lambda self: time.sleep(0.04 * len(next(iter(self._arrays.values())))))
    said, began = [], time.monotonic()
    record = measurement.measure(bundle.folder, batches=(1, 64), minutes=0.02, progress=said.append)
    assert time.monotonic() - began < 20
    steps = record["bundles"][0]["steps"]
    assert {row["batch"] for row in steps} == {1}
    assert any("round 1 of 3" in line for line in said)
