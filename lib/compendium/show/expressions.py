"""Numbers and names in texts that are data: captions and the ledger. A text can compute, and it runs no code.

An expression has columns of a table, in backticks if they are no words, ``@name`` of the notebook, numbers, the signs
``+ - * /``, comparisons, ``&``, ``|``, ``~``, and four functions: ``abs``, ``max``, ``count`` of the rows where a
condition holds, and ``match(column, "pattern", ...)``, where ``*`` and ``?`` match any text. Nothing else parses.
"""

import ast
import operator
import re
import string
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

_NAMED = re.compile(r"`(?P<column>[^`]+)`|@(?P<name>[a-zA-Z]\w*)|\"[^\"]*\"")
_LONGEST = 300  # characters
_SIGNS: dict[type, Any] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.USub: operator.neg, ast.Invert: operator.invert},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne},
}
_FUNCTIONS: dict[str, Any] = {"abs": np.abs, "max": np.max, "count": np.sum}


class ExpressionError(ValueError):
    """A text is no expression, or names something that neither the table nor the notebook has."""


def value_of(text: str, table: pd.DataFrame, names: Mapping[str, Any] | None = None) -> Any:
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


def _value(node: ast.expr, places: Sequence[tuple[str, str]], table: pd.DataFrame, names: Mapping[str, Any]) -> Any:
    def of(inner: ast.expr) -> Any:
        return _value(inner, places, table, names)

    match node:
        case ast.Name(id=name):
            known = re.fullmatch(r"_(\d+)", name)
            if known and int(known[1]) >= len(places):
                raise ExpressionError(f"there is no column {name!r}")
            group, name = places[int(known[1])] if known else ("column", name)
            source = table if group == "column" else names
            if name not in source:
                raise ExpressionError(f"there is no {group} {name!r}")
            return source[name]
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


def filled(text: Any, values: Mapping[str, Any], *numbered: Any) -> Any:
    """Return a text, or the texts of a mapping, with the placeholders in braces replaced, as in an f-string.

    A placeholder names a value, or has the number of one of `numbered`, and may name public attributes and members of
    it. Three formats are ours: ``Yes|No``, words for true and false; ``count``, how many of some statements are true;
    and ``ends``, which entries of a series have the highest and the lowest number.

    Raises
    ------
    ExpressionError
        If a placeholder names a private attribute.
    KeyError, AttributeError, IndexError
        If it stands for nothing.
    """
    if isinstance(text, Mapping):
        return {key: filled(each, values, *numbered) for key, each in text.items()}
    return _Filler().vformat(text, numbered, values) if isinstance(text, str) else text


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
        if format_spec == "count":
            flags = pd.Series(list(value), dtype=object)
            known = flags.dropna().astype(bool)
            undecided = len(flags) - len(known)
            return f"{known.sum()} of {len(flags)}{f' ({undecided} undecided)' if undecided else ''}"
        if format_spec == "ends":
            numbers = pd.to_numeric(value, errors="coerce").replace([np.inf, -np.inf], np.nan).dropna()
            ends = {"highest": numbers.idxmax(), "lowest": numbers.idxmin()} if len(numbers) else {}
            return " and ".join(f"{w} for {n} ({numbers.loc[n]:.3g})" for w, n in ends.items()) or "no number"
        if value is None or (isinstance(value, float) and value != value):
            return "no number"
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        return re.sub(r"(?<=\d)%$", " %", str(super().format_field(text, format_spec)))
