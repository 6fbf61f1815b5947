"""Answers are compared as a teacher would, and wrong ones get the hint of the mistake behind them."""

import math

import numpy as np
import pandas as pd
import pytest

from checks.hints import NO_ANSWER, NO_RETURN, HintError, agree, exercise, same_function, same_value

TABLE = pd.DataFrame({"person": ["Ann", "Ben"], "epsilon": [0.5, 0.25]})


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


@exercise
def logarithm(answer):
    """Check a natural logarithm."""
    same_function(answer, math.log, [(1,), (2,)], {"base": math.log2})


@exercise
def largest(answer):
    """Check a largest number, of which a check must make a number first."""
    same_function(lambda values: float(answer(values)), np.max, [(np.array([1.0, 2.0]),)])


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
        logarithm(answer)
    assert str(caught.value).startswith(hint)
    same_function(math.log, math.log, [(1,), (2,)])
    same_function(math.log2, math.log, [(1,), (2,)], accepted=math.log2)


@pytest.mark.parametrize("answer", [nothing, lambda values: print(values.max())])
def test_a_forgotten_return_is_named_although_the_check_reads_the_result(answer):
    with pytest.raises(HintError, match=r"returns nothing \(None\)\. Did you forget `return`\?"):
        largest(answer)


def test_a_result_of_another_type_is_shown():
    with pytest.raises(HintError, match=r"returns array\(\[1\., 2\.\]\), and the check cannot read this"):
        largest(lambda values: values)


def test_the_line_that_stops_is_shown(tmp_path):
    path = tmp_path / "cell.py"
    path.write_text("def answer(values):\n    total = values.max()\n    return total / missing\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(HintError, match=r"NameError: name 'missing' is not defined.*line 3.*`return total / missing`"):
        largest(names["answer"])


def test_a_notebook_shows_the_hint_without_lines_of_the_check():
    """A traceback would show the right solution, which is an argument of `same_function`."""
    pytest.importorskip("IPython", reason="needs IPython: install the extra notebooks")
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell()
    shell.user_ns["logarithm"] = logarithm
    for answer, hint in (
        ("lambda x: x", "For the input 1, your function"),
        ("lambda x: y", "NameError"),
        ("...", NO_ANSWER),
    ):
        with capture_output() as captured:
            result = shell.run_cell(f"logarithm({answer})", store_history=False)
        assert isinstance(result.error_in_exec, HintError)  # so the cell fails, and a run of the notebook stops
        assert captured.stdout.strip() == f"HintError: {result.error_in_exec}"
        assert hint in captured.stdout


def test_a_small_table_is_shown():
    def wrong(table):
        return 1

    with pytest.raises(HintError, match=r"(?s)For the input.*Ann +0\.50.*Ben +0\.25.*your function returns 1"):
        same_function(wrong, len, [(TABLE,)])
    with pytest.raises(HintError, match=r"(?s)Count\..*Ben +0\.25.*your function returns 1\. The correct result is 2"):
        same_function(wrong, len, [(TABLE,)], {"Count.": wrong}, show_case=True)


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
