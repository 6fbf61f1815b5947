"""A replayed recording meets its deadlines, and memory and delays do not grow."""

from time import thread_time

import numpy as np
import pytest

from sensorprivacy.edge.board import commands
from sensorprivacy.edge.board.hardware import process_memory
from sensorprivacy.edge.board.stream import StreamAnonymizer, recording, replay


def test_a_recording_is_the_samples_end_to_end(bundle):
    signal = recording(bundle, 3.0)
    assert signal.shape == (150, 2)
    assert np.array_equal(signal[:32].T, bundle.samples(1)[0])


@pytest.mark.slow
def test_a_replay_keeps_time_and_memory(pipeline):
    bundle = pipeline.bundle
    replay(pipeline, recording(bundle, 20.0), speed=100)  # allocates everything that stays
    found = replay(pipeline, recording(bundle, 120.0), speed=60)
    assert found["windows"] == (120 * 50 - 32) // 8 + 1
    assert (found["filled"], found["restarts"]) == (0, 0)
    assert found["late"] == 0  # samples; windows that were late do not overwrite them
    assert 0 <= found["late_windows"] <= found["windows"]
    assert found["grown"] < 1e6
    assert found["seconds"] >= 120 / 60 * 0.99


@pytest.mark.slow
def test_its_own_work_takes_less_than_the_step_between_windows(pipeline):
    """By processor time, at 60 times real time. A virtual machine's stolen time counts in it, so a few may be over."""
    replay(pipeline, recording(pipeline.bundle, 20.0), speed=100)
    found = [replay(pipeline, recording(pipeline.bundle, 120.0), speed=60) for _ in range(2)]
    assert min(each["overrun"] / each["windows"] for each in found) < 0.01


def test_nothing_piles_up(pipeline):
    """The last windows of a long stream are anonymized as fast as its first."""
    made, spent = StreamAnonymizer(pipeline, rate=pipeline.bundle.rate, merge="newest"), []
    for at, sample in enumerate(recording(pipeline.bundle, 240.0)):
        used = thread_time()
        if made.push(at / pipeline.bundle.rate, sample) is not None:
            spent.append(thread_time() - used)
    assert np.percentile(spent[-300:], 10) < 2 * np.percentile(spent[:300], 10)


def test_the_memory_in_use_grows_with_an_array(pipeline):
    before = process_memory(peak=False)
    held = np.ones(8_000_000)
    assert process_memory(peak=False) - before > 32e6
    assert held.any()


def test_the_command_replays_every_whole_bundle(bundle, capsys):
    code = commands.main(["replay", "--bundles", str(bundle.folder), "--minutes", "0.1", "--speed", "10"])
    printed = capsys.readouterr().out
    assert "34 windows at 10 times real time: " in printed
    assert code == (0 if " 0 late" in printed else 1)


def test_every_window_of_a_short_recording_is_counted(pipeline):
    found = replay(pipeline, recording(pipeline.bundle, 4.0), speed=100)
    assert found["windows"] == 22
