"""Compare a student's answer with the right one, and turn the mistake behind a wrong answer into a hint."""

import functools
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

NO_ANSWER = "There is no answer yet. Put your code in place of the line that raises NotImplementedError."
NO_RETURN = "Your function returns None. End it with a line that begins with `return`."
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 6


class HintError(AssertionError):
    """A missing or wrong answer. The message is the hint."""


def exercise(check: Callable[..., None]) -> Callable[..., None]:
    """Make a check from a function that raises `HintError` for a wrong answer.

    Parameters
    ----------
    check : callable
        Its first argument is the student's answer.

    Returns
    -------
    callable
        The same check. It refuses a missing answer with a hint, and prints one line for a right answer.
    """

    @functools.wraps(check)
    def checked(answer: Any, *given: Any, **named: Any) -> None:
        if answer is None or answer is ...:
            raise HintError(NO_ANSWER)
        check(answer, *given, **named)
        print("Correct.")

    return checked


def require(fulfilled: bool, hint: str) -> None:
    """Raise `HintError` with the hint unless the condition is fulfilled."""
    if not fulfilled:
        raise HintError(hint)


def same_value(
    answer: Any, expected: Any, mistakes: Mapping[str, Any] | None = None, *, tolerance: float = 1e-6
) -> None:
    """Raise `HintError` unless an answer is the expected value.

    Parameters
    ----------
    answer, expected : number, text, set, list, dict, array or Series
        A Series is compared by its index, in any order.
    mistakes : dict, optional
        The wrong value that each typical mistake gives, by its hint.
    tolerance : float, default 1e-6
        Largest difference of numbers, relative to the larger of 1 and the expected number.

    Raises
    ------
    HintError
        With the hint of the mistake that gives this answer, or else with the direction of the error.

    Examples
    --------
    >>> same_value(0.1, 0.25, {"Count the classes of the training rows.": 0.1})
    Traceback (most recent call last):
    sensorprivacy.teach.hints.HintError: Count the classes of the training rows.
    """
    if agree(answer, expected, tolerance):
        return
    for hint, wrong in (mistakes or {}).items():
        if agree(answer, wrong, tolerance):
            raise HintError(hint)
    raise HintError(_difference(answer, expected))


def same_function(
    answer: Any,
    reference: Callable[..., Any],
    cases: Sequence[tuple[Any, ...]],
    mistakes: Mapping[str, Callable[..., Any]] | None = None,
    *,
    accepted: Callable[..., Any] | None = None,
    tolerance: float = 1e-6,
) -> None:
    """Raise `HintError` unless a function returns the same as the reference in all cases.

    Parameters
    ----------
    answer : callable
        The student's function.
    reference : callable
        A right solution.
    cases : sequence of tuple
        Arguments of the calls. Each function gets its own copy.
    mistakes : dict, optional
        A wrong solution by the hint against it. The hint is given if the answer agrees with it in all cases.
    accepted : callable, optional
        A second right solution.
    tolerance : float, default 1e-6
        See `same_value`.

    Raises
    ------
    HintError
        With the hint of a typical mistake, or else with the first case and both results.

    Examples
    --------
    >>> same_function(lambda x: x + x, lambda x: x**2, [(2,), (3,)])
    Traceback (most recent call last):
    sensorprivacy.teach.hints.HintError: For the input 3, your function returns 6. The correct result is 9.
    """
    require(callable(answer), f"{_show(answer)} is not a function. Keep the line that begins with `def`.")
    found = [_call(answer, case) for case in cases]
    expected = [reference(*_copies(case)) for case in cases]
    pairs = list(zip(found, expected, strict=True))
    wrong = [number for number, (mine, right) in enumerate(pairs) if not agree(mine, right, tolerance)]
    if not wrong:
        return

    def gives(other: Callable[..., Any]) -> bool:
        return all(agree(mine, other(*_copies(case)), tolerance) for mine, case in zip(found, cases, strict=True))

    if accepted is not None and gives(accepted):
        return
    for hint, mistake in (mistakes or {}).items():
        require(not gives(mistake), hint)
    mine, right = pairs[wrong[0]]
    shown = ", ".join(map(_show, cases[wrong[0]]))
    raise HintError(
        f"For the input {shown}, your function returns {_show(mine)}. The correct result is {_show(right)}."
    )


def agree(one: Any, other: Any, tolerance: float = 1e-6) -> bool:
    """Return whether two values are the same, numbers up to a tolerance.

    Parameters
    ----------
    one, other : number, text, set, list, dict, array or Series
        Values to compare. Lists, tuples and arrays with the same elements are the same.
    tolerance : float
        Largest difference of numbers, relative to the larger of 1 and the second number.
    """
    if isinstance(other, pd.Series):
        same = isinstance(one, pd.Series) and len(one) == len(other) and set(one.index) == set(other.index)
        return same and agree(one.reindex(other.index).to_numpy(), other.to_numpy(), tolerance)
    if isinstance(other, Mapping):
        same = isinstance(one, Mapping) and one.keys() == other.keys()
        return same and all(agree(one[key], other[key], tolerance) for key in other)
    if isinstance(other, (str, set, frozenset)) or isinstance(one, (str, set, frozenset, Mapping)):
        return isinstance(one, type(other)) and bool(one == other)
    try:
        left, right = np.asarray(one), np.asarray(other)
    except ValueError:  # a list whose elements have several shapes
        alike = isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other)
        return alike and all(agree(mine, right, tolerance) for mine, right in zip(one, other, strict=True))
    if left.shape != right.shape:
        return False
    if left.dtype.kind in "biuf" and right.dtype.kind in "biuf":
        gap = np.abs(left.astype(float) - right.astype(float))
        return bool((gap <= tolerance * np.maximum(1, np.abs(right))).all())
    return bool((left.astype(object) == right.astype(object)).all())


def _call(answer: Callable[..., Any], case: tuple[Any, ...]) -> Any:
    try:
        result = answer(*_copies(case))
    except NotImplementedError:
        raise HintError(NO_ANSWER) from None
    except HintError:
        raise
    except Exception as error:
        shown = ", ".join(map(_show, case))
        raise HintError(f"For the input {shown}, your function stops with {type(error).__name__}: {error}") from error
    if result is None:
        raise HintError(NO_RETURN)
    return result


def _copies(case: tuple[Any, ...]) -> list[Any]:
    return [each.copy() if hasattr(each, "copy") else each for each in case]


def _difference(answer: Any, expected: Any) -> str:
    """Return in which direction an answer is wrong, without the expected value."""
    if not isinstance(expected, (int, float, np.number)) or isinstance(expected, (bool, np.bool_)):
        return f"{_show(answer)} is not correct. Read the task again, and look at the data."
    if not isinstance(answer, (int, float, np.number)):
        return f"{_show(answer)} is no number. Give one number."
    if expected and agree(answer, 100 * expected, 1e-3):
        return f"{answer:g} is a percentage. Give the share, a number between 0 and 1."
    if any(agree(answer, round(float(expected), places), 1e-12) for places in range(1, 5)):
        return f"{answer:g} is rounded. Compute the value in code, and do not round it."
    return f"{answer:g} is too {'large' if answer > expected else 'small'}."


def _show(thing: Any) -> str:
    if isinstance(thing, pd.Series):
        return f"a Series of {len(thing)} values ({_SHORT.repr(thing.tolist())})"
    if isinstance(thing, pd.DataFrame):
        return f"a table of {thing.shape[0]} rows and {thing.shape[1]} columns"
    if isinstance(thing, np.ndarray):
        return f"array({_SHORT.repr(thing.tolist())})"
    if isinstance(thing, (float, np.floating)):
        return f"{thing:g}"
    return str(thing) if isinstance(thing, np.number) else _SHORT.repr(thing)
