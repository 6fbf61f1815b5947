"""Numbers and names in texts that are data: captions and the ledger. A text can compute, and it runs no code.

An expression has columns of a table, in backticks if they are no words, ``@name`` of the notebook, numbers, the signs
``+ - * /``, comparisons, ``&``, ``|``, ``~``, and these functions: ``abs``, ``max``, ``min``, ``median``, ``number`` of
a text, ``count`` of the rows where a condition holds, and ``match(column, "pattern", ...)``, where ``*`` and ``?``
match any text. Nothing else parses.
"""

import ast
import collections
import math
import operator
import re
import string
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

_MEMBERS = r"[a-zA-Z]\w*(?:\.[a-zA-Z]\w*|\[[^\[\]]+\])*"
_NAMED = re.compile(rf"`(?P<column>[^`]+)`|@(?P<name>{_MEMBERS})|\"[^\"]*\"")
_LONGEST = 300  # characters
_SIGNS: dict[type, Any] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.USub: operator.neg, ast.Invert: operator.invert},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne},
}
_FUNCTIONS: dict[str, Any] = {
    **{"abs": np.abs, "max": np.max, "min": np.min, "median": np.median},
    "number": lambda texts: pd.to_numeric(texts, errors="coerce"),
    "count": lambda flags: sum(flag == True for flag in flags),  # noqa: E712 - an unknown one does not hold
}


class ExpressionError(ValueError):
    """A text is no expression, or names something that neither the table nor the notebook has."""


def value_of(text: str, table: pd.DataFrame | Mapping[Any, Any], names: Mapping[str, Any] | None = None) -> Any:
    """Return the value of an expression on the columns of a table.

    Raises
    ------
    ExpressionError
        If the text does not parse. The message quotes the part at fault.

    Examples
    --------
    >>> table = pd.DataFrame({"data set": ["heart", "adult"], "rows": [3, 4]})
    >>> int(value_of('count((rows > 2) & match(`data set`, "h*", "b*"))', table))
    1
    >>> value_of("100 * max(rows - @less)", table, {"less": 1}).item()
    300
    """
    places: list[tuple[str, str]] = []

    def put(match: re.Match[str]) -> str:
        if match.lastgroup is None:
            return match[0]
        places.append((match.lastgroup, match[match.lastgroup]))
        return f" _{len(places) - 1} "

    try:
        if len(text) > _LONGEST:
            raise ExpressionError(f"{text[:60]!r}... is longer than {_LONGEST} characters")
        tree = ast.parse(_NAMED.sub(put, text).strip(), mode="eval").body
        return _value(tree, places, table, {} if names is None else names)
    except (SyntaxError, RecursionError, MemoryError, TypeError) as error:
        raise ExpressionError(f"{text!r} is no expression: {error}") from error


def _value(node: ast.expr, places: Sequence[tuple[str, str]], table: Any, names: Mapping[str, Any]) -> Any:
    def of(inner: ast.expr) -> Any:
        return _value(inner, places, table, names)

    match node:
        case ast.Name(id=name):
            group, name = {f"_{number}": place for number, place in enumerate(places)}.get(name, ("column", name))
            return looked_up(name, names) if group == "name" else _column(name, table)
        case ast.Constant(value=value) if type(value) in (int, float):
            return value
        case ast.UnaryOp(op=sign) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](of(node.operand))
        case ast.BinOp(op=sign) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](of(node.left), of(node.right))
        case ast.Compare(ops=[sign]) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](of(node.left), of(node.comparators[0]))
        case ast.Call(func=ast.Name(id="match"), args=[column, *patterns], keywords=[]) if patterns:
            wanted = [one.value for one in patterns if isinstance(one, ast.Constant) and type(one.value) is str]
            if len(wanted) == len(patterns):
                return of(column).map(lambda cell: any(fnmatchcase(str(cell), one) for one in wanted))
        case ast.Call(func=ast.Name(id=name), args=[given], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](of(given))
    raise ExpressionError(f"{ast.unparse(node)!r} is no part of an expression")


def _column(name: str, table: Any) -> Any:
    if name not in table:
        raise ExpressionError(f"there is no column {name!r}")
    return table[name]


def looked_up(name: str, names: Mapping[str, Any]) -> Any:
    """Return a value of the notebook, or a public attribute or member of it: ``found.trace``, ``base[share]``.

    Raises
    ------
    ExpressionError
        If there is none.
    """
    try:
        return _Filler().get_field(name, (), names)[0]
    except (KeyError, AttributeError, IndexError, TypeError) as error:
        raise ExpressionError(f"there is no name {name!r}: {error}") from error


def taken(text: str, names: Mapping[str, Any]) -> Any:
    """Return a number, a row or rows of a table of the notebook, by steps that semicolons divide.

    The first part names the table, or is an expression without columns. A step is ``by COLUMN``, which takes the means
    of each group; ``with NAME EXPRESSION``, which adds a column; ``highest EXPRESSION``, ``lowest EXPRESSION``,
    ``first`` or ``last``, which take a row; ``first 3``, which takes so many; or an expression: a condition keeps the
    rows where it holds, any other one is a number or a list. An index is a column, too. A table without rows, or
    without a highest one, has no numbers, and 0 for ``count``.

    Raises
    ------
    ExpressionError
        If a step does not parse, or names something that neither the table nor the notebook has.

    Examples
    --------
    >>> names = {"least": 3, "sets": pd.DataFrame({"set": ["heart", "adult", "bank"], "rows": [3, 9, 4]})}
    >>> taken("sets; rows > @least; lowest rows", names)["set"]
    'bank'
    >>> taken("sets; count(rows > @least)", names)
    2
    """
    start, *steps = [part.strip() for part in text.split(";")]
    if not re.fullmatch(_MEMBERS, start):
        return value_of(start, pd.DataFrame(), names)
    found = looked_up(start, names)
    if isinstance(found, pd.Series):
        found = found.to_frame(found.name or "value")
    if not isinstance(found, pd.DataFrame):
        raise ExpressionError(f"{start!r} is no table")
    found = found if isinstance(found.index, pd.RangeIndex) else found.reset_index()
    for step in steps:
        try:
            found = _step(found, step, names)
        except (ExpressionError, ValueError):
            if len(found):
                raise
            return 0 if step.startswith("count(") else math.nan
    return found.tolist() if isinstance(found, pd.Series) else found


def _step(found: Any, step: str, names: Mapping[str, Any]) -> Any:
    word, _, rest = step.partition(" ")
    if word == "by":
        return found.groupby(rest.strip("`"), sort=False).mean(numeric_only=True).reset_index()
    if word == "with":
        name, _, rest = rest.partition(" ")
        return found.assign(**{name: value_of(rest, found, names)})
    if re.fullmatch(r"first \d+", step):
        return found.head(int(rest))
    if step in ("first", "last") or (word in ("highest", "lowest") and rest):
        order = pd.Series(value_of(rest, found, names) if rest else range(len(found)), found.index).dropna()
        if order.empty:
            return collections.defaultdict(lambda: math.nan)
        return found.loc[order.idxmax() if word in ("highest", "last") else order.idxmin()].to_dict()
    value = value_of(step, found, names)
    return found[value] if isinstance(value, pd.Series) and value.dtype == bool else value


def filled(text: Any, values: Mapping[str, Any]) -> Any:
    """Return a text, or the texts of a mapping, with the placeholders in braces replaced, as in an f-string.

    A placeholder names a value, and may name public attributes and members of it. One format is ours: ``Yes|No``, or
    ``Yes|No|Unknown``, words for true and false.

    Raises
    ------
    ExpressionError
        If a placeholder names a private attribute.
    KeyError, AttributeError, IndexError
        If it stands for nothing.
    """
    if isinstance(text, Mapping):
        return {key: filled(each, values) for key, each in text.items()}
    return _Filler().vformat(text, (), values) if isinstance(text, str) else text


class _Filler(string.Formatter):
    """Write a list with commas, a missing number in words, and a space before the sign of a percentage."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        if re.search(r"(^|[.\[])_", field_name):
            raise ExpressionError(f"{field_name!r} is private: a text may not name it")
        return super().get_field(field_name, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            yes, no, *unknown = format_spec.split("|")
            return unknown[0] if unknown and (value is None or value != value) else yes if value else no
        if len(re.sub(r"\D", "", format_spec)) > 3:
            raise ExpressionError(f"{format_spec!r} is no form of a number")
        if value is None or (isinstance(value, float) and value != value):
            return "no number"
        text = ", ".join(map(str, value)) if isinstance(value, (list, tuple, np.ndarray, pd.Index)) else value
        return re.sub(r"(?<=\d)%$", " %", str(super().format_field(text, format_spec)))
