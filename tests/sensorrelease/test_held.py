"""Which part of a recording measures a release."""

import pytest

from sensorrelease.publishing.held import ends_in_window


@pytest.mark.parametrize(
    ("samples", "length", "whole"),
    [(400, 100, True), (399, 100, False), (500, 100, True), (130, 100, False), (1000, 128, True)],
)
def test_a_recording_is_long_enough_if_a_window_fits_behind_its_training_part(samples, length, whole):
    """By hand: 399 samples train up to 299; the next window begins at 300 and ends at 400, one too late."""
    assert bool(ends_in_window(samples, length)) == whole
