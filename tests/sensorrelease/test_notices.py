"""Warnings become plain lines on the command line."""

import warnings

import pandas as pd
import pytest

from sensorrelease.running import plain_notices


def test_a_warning_is_one_plain_line_and_is_said_once(capsys):
    with plain_notices():
        for _ in range(2):
            warnings.warn("3 gaps in 't'", stacklevel=1)
    assert capsys.readouterr().err == "note: 3 gaps in 't'\n"


def test_warnings_for_programmers_stay():
    with pytest.warns(RuntimeWarning, match="overflow"), plain_notices():
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def test_a_wide_table_is_no_reason_for_a_warning_of_pandas(recwarn):
    """`compare` of 2,000 columns showed a line of pandas about fragmented frames."""
    with plain_notices():
        frame = pd.DataFrame({0: [1]})
        for name in range(1, 300):
            frame[name] = 1
    assert not recwarn.list
