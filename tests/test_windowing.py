"""Windows, held against the loop that everyone writes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.windowing import cut, window_starts

lengths = st.lists(st.integers(1, 30), max_size=6)


@given(lengths, st.integers(2, 12), st.integers(1, 7))
def test_by_file(sizes, length, stride):
    recording = np.repeat(np.arange(len(sizes)), sizes)
    expected, base = [], 0
    for size in sizes:
        expected += [base + start for start in range(0, size - length + 1, stride)]
        base += size
    assert window_starts(recording, length, stride).tolist() == expected


@given(lengths, st.integers(2, 12), st.integers(1, 7))
def test_as_the_authors_do(sizes, length, stride):
    recording = np.repeat(np.arange(len(sizes)), sizes)
    expected = [
        start
        for start in range(0, len(recording) - length + 1, stride)
        if recording[start] == recording[start + length - 2]
    ]
    assert window_starts(recording, length, stride, "authors").tolist() == expected


@given(st.integers(2, 9), st.integers(1, 4))
def test_cut(length, stride):
    signal = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    starts = window_starts(np.zeros(30, dtype=int), length, stride)
    found = cut(signal, starts, length)
    assert found.dtype == np.float32
    assert found.flags.c_contiguous  # or else `Windows` copies it again, sample by sample
    np.testing.assert_array_equal(found, np.stack([signal[at : at + length].T for at in starts]))
    found[:] = 0  # a copy: the signal is not touched
    assert signal.any()


def test_too_short_a_signal_gives_no_window():
    assert cut(np.zeros((3, 2)), np.array([], dtype=int), 5).shape == (0, 2, 5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((1, 1), "got length 1"), ((4, 0), "stride 0"), ((4, 1, "overlap"), "'overlap' is unknown, one of authors, file")],
)
def test_bad_choices_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        window_starts(np.zeros(9, dtype=int), *arguments)
