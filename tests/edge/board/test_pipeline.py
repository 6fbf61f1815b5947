"""One window at a time gives the same result as many at once, and does not leak memory."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sensorprivacy.edge.board.bundle import BundleError
from sensorprivacy.edge.board.pipeline import Pipeline


def test_one_at_a_time_is_the_same_as_many(bundle, windows):
    plain = replace(bundle, sampled=False)
    pipeline = Pipeline(plain)
    pipeline.arrays["noise"][:] = 0
    values = windows.values[::5]
    expected = Pipeline(plain).anonymize(values)
    out, before = np.zeros(bundle.shape, dtype=np.float32), values.copy()
    for at, window in enumerate(values):
        assert pipeline.anonymize_one(window, out) == expected.public[at]
        np.testing.assert_allclose(out, expected.values[at], atol=1e-4)
    np.testing.assert_array_equal(values, before)


def test_drawn_latents_differ_from_time_to_time(bundle, windows):
    pipeline, first, second = Pipeline(bundle), *np.zeros((2, *bundle.shape), dtype=np.float32)
    pipeline.anonymize_one(windows.values[0], first)
    pipeline.anonymize_one(windows.values[0], second)
    assert np.abs(first - second).max() > 0


_STEADY = """
import gc, sys, tracemalloc
import numpy as np
from sensorprivacy.edge.board.bundle import read_bundle
from sensorprivacy.edge.board.pipeline import Pipeline

bundle = read_bundle(sys.argv[1])
pipeline, out, window = Pipeline(bundle), np.zeros(bundle.shape, dtype=np.float32), np.load(sys.argv[2])
tracemalloc.start()
for _ in range(100):  # allocates everything that stays
    pipeline.anonymize_one(window, out)
for _ in range(3):
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    for _ in range(4000):
        pipeline.anonymize_one(window, out)
    _, peak = tracemalloc.get_traced_memory()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    print((after - before) / 4000, peak - before)
"""


@pytest.mark.slow
def test_the_steady_state_allocates_nothing_that_stays(bundle, windows, tmp_path):
    """A leak shows in every round. The process is its own: threads of other tests allocate, too."""
    np.save(tmp_path / "window.npy", windows.values[0])
    words = [sys.executable, "-c", _STEADY, str(bundle.folder), str(tmp_path / "window.npy")]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    growth, peaks = zip(*(map(float, line.split()) for line in said.splitlines()), strict=True)
    assert len(growth) == 3
    assert min(growth) < 1  # bytes per window
    assert min(peaks) < 8000


def test_unfit_input_is_refused(bundle, windows):
    with pytest.raises(ValueError, match=r"windows of shape \(1, 3, 32\): this bundle takes n x \(2, 32\)"):
        Pipeline(bundle).anonymize(np.zeros((1, 3, 32), dtype=np.float32))
    with pytest.raises(ValueError, match="modify 'sometimes' is unknown"):
        Pipeline(replace(bundle, modify="sometimes"))
    short = replace(bundle, steps=tuple(step for step in bundle.steps if step.name != "transformation"))
    with pytest.raises(BundleError, match="holds a part of the pipeline only"):
        Pipeline(short)
