"""Compare a student's answer with the right one, and turn the mistake behind a wrong answer into a hint."""

import functools
import reprlib
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

NO_ANSWER = "There is no answer yet. Put your code in place of the line that raises NotImplementedError."
NO_RETURN = "Your function returns nothing (None). Did you forget `return`?"
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 6


class HintError(AssertionError):
    """A missing or wrong answer. The message is the hint.

    A notebook shows the message alone. The lines of a check contain the right solution, so no traceback shows them.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython prints in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


def exercise(check: Callable[..., None]) -> Callable[..., None]:
    """Make a check from a function that raises `HintError` for a wrong answer.

    Parameters
    ----------
    check : callable
        Its first argument is the student's answer.

    Returns
    -------
    callable
        The same check. It refuses a missing answer with a hint, and prints one line for a right answer. Any other
        error becomes a hint, too: one of the student's function, or a result that the check cannot read.
    """

    @functools.wraps(check)
    def checked(answer: Any, *given: Any, **named: Any) -> None:
        if answer is None or answer is ...:
            raise HintError(NO_ANSWER)
        results: list[Any] = []
        try:
            check(_kept(answer, results) if callable(answer) else answer, *given, **named)
        except HintError:
            raise
        except Exception as error:
            shown = f"Your function returns {_show(results[-1])}" if results else f"Your answer is {_show(answer)}"
            raise HintError(f"{shown}, and the check cannot read this. Read in the task what it must be.") from error
        print("Correct.")

    return checked


def _kept(answer: Callable[..., Any], results: list[Any]) -> Callable[..., Any]:
    """Return a student's function whose results are kept, and whose errors are hints."""

    def called(*case: Any) -> Any:
        try:
            result = answer(*case)
        except NotImplementedError:
            raise HintError(NO_ANSWER) from None
        except HintError:
            raise
        except Exception as error:
            stops = f"your function stops with {type(error).__name__}: {error}{_line(error)}"
            raise HintError(f"{_given(case)}{stops}") from error
        if result is None:
            raise HintError(NO_RETURN)
        results.append(result)
        return result

    return called


def _given(case: Sequence[Any]) -> str:
    """Return the beginning of a sentence about a case."""
    return f"For the input {', '.join(map(_show, case))}, ".replace("\n\n, ", "\n\n")


def _line(error: Exception) -> str:
    """Return the student's line that stopped; nothing if its text is not known."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first one is the call of the check
    own = [frame for frame in frames if frame.filename == frames[0].filename and frame.line]
    return f" (line {own[-1].lineno} of its cell: `{own[-1].line}`)" if own else ""


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
    checks.hints.HintError: Count the classes of the training rows.
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
    mistakes: Mapping[str, Callable[..., Any] | Sequence[Callable[..., Any]]] | None = None,
    *,
    accepted: Callable[..., Any] | None = None,
    tolerance: float = 1e-6,
    show_case: bool = False,
    steps: str = "",
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
        A wrong solution, or several, by the hint against it. The hint is given if the answer agrees with one of them in
        all cases.
    accepted : callable, optional
        A second right solution.
    tolerance : float, default 1e-6
        See `same_value`.
    show_case : bool, default False
        Add the first wrong case and both results to the hint of a typical mistake, too.
    steps : str, default ""
        The way to the answer, step by step, which follows each hint.

    Raises
    ------
    HintError
        With the hint of a typical mistake, or else with the first wrong case and both results.

    Examples
    --------
    >>> same_function(lambda x: x + x, lambda x: x**2, [(2,), (3,)])
    Traceback (most recent call last):
    checks.hints.HintError: For the input 3, your function returns 6. The correct result is 9.
    """
    require(callable(answer), f"{_show(answer)} is not a function. Keep the line that begins with `def`.")
    found = [answer(*_copies(case)) for case in cases]
    expected = [reference(*_copies(case)) for case in cases]
    pairs = list(zip(found, expected, strict=True))
    wrong = [number for number, (mine, right) in enumerate(pairs) if not agree(mine, right, tolerance)]
    if not wrong:
        return

    def gives(other: Callable[..., Any]) -> bool:
        return all(agree(mine, other(*_copies(case)), tolerance) for mine, case in zip(found, cases, strict=True))

    if accepted is not None and gives(accepted):
        return
    mine, right = pairs[wrong[0]]
    case = f"{_given(cases[wrong[0]])}your function returns {_show(mine)}. The correct result is {_show(right)}."
    for hint, mistake in (mistakes or {}).items():
        each = [mistake] if callable(mistake) else mistake
        require(not any(map(gives, each)), f"{hint} {case} {steps}".strip() if show_case else f"{hint} {steps}".strip())
    raise HintError(f"{case} {steps}".strip())


def returns_zero(answer: Callable[..., Any], cases: Sequence[tuple[Any, ...]], hint: str) -> None:
    """Raise `HintError` with the hint unless a function of an exercise returns 0 in all cases, without a division."""
    for case in cases:
        try:
            zero = agree(answer(*case), 0)
        except HintError as error:
            if not isinstance(error.__cause__, ZeroDivisionError):
                raise
            zero = False
        require(zero, f"{_given(case)}your function stops or returns another number. {hint}")


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
        values = [float(f"{each:.4g}") if isinstance(each, float) else each for each in thing]
        return f"a Series of {len(thing)} values ({_SHORT.repr(values)})"
    if isinstance(thing, pd.DataFrame):
        if thing.shape[0] <= 6 and thing.shape[1] <= 3:
            return f"table\n\n{thing.to_string(index=not isinstance(thing.index, pd.RangeIndex))}\n\n"
        return f"a table of {thing.shape[0]} rows and {thing.shape[1]} columns"
    if isinstance(thing, np.ndarray) and thing.dtype.kind == "f":
        shown = np.array2string(thing, precision=4, threshold=12, edgeitems=2, separator=", ", max_line_width=10_000)
        return f"array({' '.join(shown.split())})"
    if isinstance(thing, np.ndarray):
        return f"array({_SHORT.repr(thing.tolist())})"
    if isinstance(thing, (list, tuple)) and any(isinstance(each, (np.number, np.ndarray)) for each in thing):
        return f"({', '.join(map(_show, thing))})"
    if isinstance(thing, (float, np.floating)):
        return f"{thing:g}"
    return str(thing) if isinstance(thing, np.number) else _SHORT.repr(thing)
