"""Repeats, summaries and timings of steps, and records of measurements."""

import itertools
import json
import math
import platform
import subprocess
import sys
import time

import numpy as np
import pytest

from sensorprivacy.edge.board import measurement
from sensorprivacy.edge.board.bundle import Bundle


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
    monkeypatch.setattr(
        measurement.Bound, "run", lambda self: time.sleep(0.04 * len(next(iter(self._arrays.values()))))
    )
    said, began = [], time.monotonic()
    record = measurement.measure(bundle.folder, batches=(1, 64), minutes=0.02, progress=said.append)
    assert time.monotonic() - began < 20
    steps = record["bundles"][0]["steps"]
    assert {row["batch"] for row in steps} == {1}
    assert any("round 1 of 3" in line for line in said)


def test_repeats_fill_the_time_between_least_and_most(monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(measurement, "perf_counter", lambda: next(clock))  # every call takes one second
    calls = []
    found = measurement.repeated(lambda: calls.append(1), seconds=8, warm=2)
    assert found.tolist() == [1.0] * 8
    assert len(calls) == 2 + 1 + 8
    assert len(measurement.repeated(lambda: None, seconds=0)) == measurement.LEAST
    assert len(measurement.repeated(lambda: None, seconds=1e9, most=7)) == 7


def test_a_summary_agrees_with_numpy():
    seconds = np.random.default_rng(0).random(1000)
    found = measurement.summary(seconds)
    assert found["median"] == pytest.approx(np.median(seconds))
    assert found["p99"] == pytest.approx(np.quantile(seconds, 0.99))
    assert found["least"] == seconds.min()
    assert found["repeats"] == 1000


def test_every_step_of_a_bundle_is_timed_at_every_batch(bundle: Bundle):
    lines = []
    found = measurement.time_bundle(bundle, batches=(1, 3), seconds=0.001, progress=lines.append)
    assert [(row["step"], row["code"], row["batch"]) for row in found["steps"]] == [
        (step.name, step.code, batch) for step in bundle.steps for batch in (1, 3)
    ]
    times = [row["median"] for row in (*found["steps"], *found["load"], found["window"])]
    assert all(math.isfinite(each) and each > 0 for each in times)
    assert all(0 < row["cpu"] < 50 * row["median"] for row in found["steps"])
    assert len(lines) == measurement.ROUNDS * 2 * len(bundle.steps)
    assert all(row["repeats"] >= measurement.ROUNDS * measurement.LEAST for row in found["steps"])
    assert found["memory"]["after"] >= found["memory"]["before"] > 0
    assert [network["macs"] for network in found["networks"]] == [step.macs for step in bundle.steps]


@pytest.mark.slow
def test_the_peak_of_memory_includes_freed_arrays():
    code = (
        "import numpy as np; from sensorprivacy.edge.board.hardware import process_memory\n"
        "before = process_memory(peak=True); np.ones(50_000_000); print(process_memory(peak=True) - before)"  # 400 MB
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 200e6 < int(done.stdout) < 600e6
