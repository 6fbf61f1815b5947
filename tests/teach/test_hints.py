"""Answers are compared as a teacher would, and wrong ones get the hint of the mistake behind them."""

import math

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.teach.hints import NO_ANSWER, NO_RETURN, HintError, agree, exercise, same_function, same_value


@exercise
def quarter(answer):
    """Check a quarter."""
    same_value(answer, 0.25, {"one of ten": 0.1})


def test_a_right_answer_prints_one_line(capsys):
    quarter(1 / 4)
    assert capsys.readouterr().out == "Correct.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, NO_ANSWER),
        (..., NO_ANSWER),
        (0.1, "one of ten"),
        (25, "25 is a percentage"),
        (0.3, "0.3 is too large"),
        (0.2, "0.2 is rounded"),
        (0.05, "0.05 is too small"),
        ("0.25", "'0.25' is no number"),
    ],
)
def test_a_wrong_value_gets_its_hint(answer, hint):
    with pytest.raises(HintError) as caught:
        quarter(answer)
    assert str(caught.value).startswith(hint)


def nothing(x):
    """Return nothing."""


def empty(x):
    stub = NotImplementedError()
    raise stub


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (math.log2, "base"),
        (math.log10, "For the input 2, your function returns 0.30103. The correct result is 0.693147."),
        (lambda x: 1 / 0, "For the input 1, your function stops with ZeroDivisionError: division by zero"),
        (nothing, NO_RETURN),
        (empty, NO_ANSWER),
        (0.5, "0.5 is not a function"),
    ],
)
def test_a_wrong_function_gets_its_hint(answer, hint):
    with pytest.raises(HintError) as caught:
        same_function(answer, math.log, [(1,), (2,)], {"base": math.log2})
    assert str(caught.value).startswith(hint)
    same_function(math.log, math.log, [(1,), (2,)])
    same_function(math.log2, math.log, [(1,), (2,)], accepted=math.log2)


def test_a_function_cannot_spoil_the_next_case():
    def spoil(values):
        total = values.sum()
        values[:] = 0
        return total

    values = np.array([1.0, 2.0])
    same_function(spoil, np.sum, [(values,), (values,)])
    assert values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1.0, 1.0 + 1e-9, True),
        (np.float64(2), 2, True),
        (1.0, 1.1, False),
        (math.nan, 1.0, False),
        ("a", "a", True),
        ("1", 1, False),
        ({"a"}, {"a"}, True),
        (["a"], {"a"}, False),
        ([1, 2], (1, 2), True),
        ([1, 2], [1, 2, 3], False),
        ([[1], [1, 2]], [1, 2], False),
        ([[1], [1, 2]], ([1], [1, 2]), True),
        ([[1], [1, 2]], [[1], [1, 3]], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        (pd.Series([1, 2], ["a", "b"]), pd.Series([2.0, 1.0], ["b", "a"]), True),
        (pd.Series([1, 2], ["a", "b"]), pd.Series([1, 2], ["a", "c"]), False),
        ([1, 2], pd.Series([1, 2]), False),
        (np.array(["x", "y"]), np.array(["x", "y"], dtype=object), True),
        (1.0, {"a": 1}, False),
        (True, 1, True),
    ],
)
def test_values_agree(one, other, same):
    assert agree(one, other) is same
