"""The stream's rules, on a pipeline that publishes windows unchanged, so that the correct output is known."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorprivacy.edge.board import stream as module
from sensorprivacy.edge.board.stream import StreamAnonymizer, StreamError

RATE, LENGTH, STRIDE = 50.0, 16, 4


class Plain:
    """Publish each window unchanged, or the n-th multiplied by n."""

    def __init__(self, *, numbered=False, length=LENGTH, stride=STRIDE):
        self.bundle = SimpleNamespace(
            rate=RATE, stride=stride, shape=(2, length), name="plain", budget=stride / RATE, channels=("turn", "shake")
        )
        self.numbered, self.seen = numbered, []

    def anonymize_one(self, window, out):
        self.seen.append(window.copy())
        out[:] = window * (len(self.seen) if self.numbered else 1)
        return 0


def signal(count):
    return np.stack([np.arange(count), 100 + np.arange(count) ** 1.5], axis=1).astype(np.float32)


def feed(stream, samples, times=None):
    times = np.arange(len(samples)) / RATE if times is None else times
    for time, sample in zip(times, samples, strict=True):
        stream.push(float(time), sample)


@pytest.mark.parametrize(
    ("speed", "clock", "own", "missed", "overrun"),
    [(1.0, 0.07, 0.07, 0, 0), (1.0, 0.09, 0.07, 13, 0), (1.0, 0.09, 0.09, 13, 13), (2.0, 0.05, 0.03, 13, 0)],
)
def test_missed_deadlines_are_counted_by_clock_and_processor_time(monkeypatch, speed, clock, own, missed, overrun):
    """The deadline is four samples at 50 Hz, 0.08 s. The test sets both clocks, because the machine may be busy."""
    monkeypatch.setattr(module, "perf_counter", itertools.count(step=clock).__next__)
    monkeypatch.setattr(module, "thread_time", itertools.count(step=own).__next__)
    stream = StreamAnonymizer(Plain(), rate=RATE, speed=speed)
    feed(stream, signal(LENGTH + 12 * STRIDE))
    assert (stream.counts.windows, stream.counts.missed, stream.counts.overrun) == (13, missed, overrun)
    assert stream.counts.slowest == pytest.approx(clock)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 20), st.integers(1, 20), st.integers(0, 70))
def test_windows_equal_those_cut_from_the_recording(length, stride, count):
    pipeline = Plain(length=length, stride=stride)
    stream = StreamAnonymizer(pipeline, rate=RATE)
    samples = signal(count)
    feed(stream, samples)
    expected = [samples[at : at + length].T for at in range(0, count - length + 1, stride)]
    assert len(pipeline.seen) == len(expected) == stream.counts.windows
    for ours, theirs in zip(pipeline.seen, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_merged_by_newest_each_sample_comes_from_the_first_window_that_holds_it():
    stream, samples, parts = StreamAnonymizer(Plain(), rate=RATE, merge="newest"), signal(40), []
    for at, sample in enumerate(samples):
        if (out := stream.push(at / RATE, sample)) is not None:
            parts.append(out.copy())
    np.testing.assert_array_equal(np.hstack(parts), samples[LENGTH - STRIDE : 40].T)


def test_missing_and_broken_samples_are_filled_by_a_line():
    pipeline, samples = Plain(), np.repeat(np.arange(24.0)[:, None], 2, axis=1)
    stream = StreamAnonymizer(pipeline, rate=RATE)
    for at, sample in enumerate(samples):
        if at in (5, 6, 18):
            continue  # lost
        stream.push(at / RATE, np.array([np.nan, 1.0]) if at in (9, 10) else sample)
    assert (stream.counts.filled, stream.counts.broken, stream.counts.restarts) == (5, 2, 0)
    for number, window in enumerate(pipeline.seen):
        np.testing.assert_allclose(window[0], np.arange(24)[number * STRIDE :][:LENGTH], atol=1e-5)


def test_after_a_long_gap_no_window_spans_it():
    pipeline = Plain()
    stream = StreamAnonymizer(pipeline, rate=RATE, gap=0.04)
    times = np.concatenate([np.arange(20), 30 + np.arange(20)]) / RATE
    feed(stream, signal(40), times)
    assert stream.counts.restarts == 1
    assert len(pipeline.seen) == 4
    np.testing.assert_array_equal(pipeline.seen[2], signal(40)[20 : 20 + LENGTH].T)


def test_late_samples_are_dropped_and_a_clock_that_goes_back_is_an_error():
    pipeline = Plain()
    stream = StreamAnonymizer(pipeline, rate=RATE)
    times = np.array([0, 1, 2, 3, 2, 3, 4, 5]) / RATE
    feed(stream, signal(8), times)
    assert stream.counts.late == 2
    with pytest.raises(StreamError, match=r"the clock went back: a sample of -1.000 s, 1.100 s behind the one before"):
        stream.push(-1.0, np.zeros(2))


def test_jitter_below_half_a_sample_changes_nothing():
    pipeline = Plain()
    stream = StreamAnonymizer(pipeline, rate=RATE)
    wobble = np.random.default_rng(0).uniform(-0.2, 0.2, 60)
    feed(stream, signal(60), 7.0 + (np.arange(60) + wobble) / RATE)
    assert (stream.counts.late, stream.counts.filled) == (0, 0)
    np.testing.assert_array_equal(pipeline.seen[-1], signal(60)[44:60].T)


@pytest.mark.parametrize("real", [25.0, 35.0, 70.0, 100.0])
def test_samples_at_another_rate_are_an_error(real):
    stream = StreamAnonymizer(Plain(), rate=RATE)
    with pytest.raises(StreamError, match=r"samples a second arrive, plain was trained at 50: resample") as caught:
        feed(stream, signal(200), np.arange(200) / real)
    assert float(str(caught.value).split()[0]) == pytest.approx(real, rel=0.1)


def test_very_rare_samples_are_an_error():
    stream = StreamAnonymizer(Plain(), rate=RATE)
    with pytest.raises(StreamError, match="8 samples in a row came alone"):
        feed(stream, signal(40), np.arange(40) / 4)


def test_a_slightly_different_rate_is_accepted():
    for real in (48.0, 52.0):
        stream = StreamAnonymizer(Plain(), rate=RATE)
        feed(stream, signal(500), np.arange(500) / real)
        assert stream.counts.windows > 100


def test_invalid_settings_and_samples_are_refused():
    with pytest.raises(StreamError, match="a stream of 20 samples a second, plain needs 50: resample it"):
        StreamAnonymizer(Plain(), rate=20)
    with pytest.raises(StreamError, match="merge 'sum' is unknown"):
        StreamAnonymizer(Plain(), rate=RATE, merge="sum")
    stream = StreamAnonymizer(Plain(), rate=RATE)
    with pytest.raises(StreamError, match=r"a sample of shape \(3,\), expected 2 channels: turn, shake"):
        stream.push(0.0, np.zeros(3))
    with pytest.raises(StreamError, match="a sample's time is nan"):
        stream.push(float("nan"), np.zeros(2))
