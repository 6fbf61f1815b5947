"""A text of a caption or of the ledger computes, and runs no code."""

import pandas as pd
import pytest

from compendium.show.captions import Captions
from compendium.show.expressions import ExpressionError, filled, taken, value_of

TABLE = pd.DataFrame({"low": [0.1, 0.4, 0.3], "a, b": [1, 2, 3], "kind": ["on", "off", "on"]})
PANDAS = [  # expression, and the same by hand
    ("low", TABLE["low"]),
    ("100 * (low - `a, b`)", 100 * (TABLE["low"] - TABLE["a, b"])),
    ("-1 * low / 2 + 1", -TABLE["low"] / 2 + 1),
    ("100 * abs(low - @chance)", 100 * (TABLE["low"] - 0.3).abs()),
    ("(low >= 0.3) & (`a, b` != 2)", pd.Series([False, False, True])),
    ("(low < @chance) | ~(kind == kind)", pd.Series([True, False, False])),
    ("max(low)", 0.4),
    ('count(match(kind, "o?", "x*") & (low > 0.2))', 1),
    ('count(match(kind, "on", "off"))', 3),
    ("max(low - @row[a, b])", -0.6),
    ("median(low) - min(low) + @table.size", 9.2),
    ("number(kind)", pd.Series([float("nan")] * 3)),
]


@pytest.mark.parametrize(("text", "expected"), PANDAS)
def test_expressions_compute_what_pandas_does(text, expected):
    found = value_of(text, TABLE, {"chance": 0.3, "row": {"a, b": 1}, "table": TABLE})
    if isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected, check_names=False)
    else:
        assert found == expected


CODE = [
    "__import__('os').system('touch ran')",
    "@pd.io.common.os.system('touch ran')",
    "low.values",
    "low.max()",
    "low.__class__",
    "low[0]",
    "(lambda: 1)()",
    "[1 for _ in low]",
    "{1}",
    "f'{low}'",
    "'text'",
    '"text" * 9',
    "b'x'",
    "9 ** 9 ** 9",
    "low @ low",
    "1 if low else 2",
    "low and low",
    "(x := 1)",
    "0.1 < low < 0.4",
    "max(low, low)",
    "max(low, key=abs)",
    "max(*low)",
    "open('ran', 'w')",
    "eval('1')",
    "getattr(low, 'max')",
    "match(low)",
    "match(low, low)",
    "abs",
    "missing",
    "@missing",
    "@chance.real()",
    "@pd.missing",
    "@pd.io._hidden",
    "@pd[io]",
    "`missing`",
    "1j",
    "True",
    "None",
    "low; low",
    "low = 1",
    "low\nlow",
    "",
    "(" * 200,
    "1 + " * 99 + "1",
    "_0",
    "low << 2",
    "...",
]


@pytest.mark.parametrize("text", CODE)
def test_nothing_else_parses(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExpressionError):
        value_of(text, TABLE, {"pd": pd, "chance": 0.3})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["{0.__class__}", "{run.__init__.__globals__}", "{run._hidden}", "{x:99999}", "{_}"])
def test_placeholders_name_nothing_private(text):
    with pytest.raises((ExpressionError, IndexError)):
        filled(text, {"run": Captions, "x": 1, "_": 1})


def test_placeholders_are_those_of_an_f_string():
    assert filled("{names} {x:.1%} {x!r}", {"names": ["a", "b"], "x": 0.25}) == "a, b 25.0 % 0.25"


STEPS = [
    ("table; first; low", 0.1),
    ("table; first 2; low", [0.1, 0.4]),
    ("table; first 9; count(low > 0)", 3),
    ("table; last; low", 0.3),
    ("table; highest low; low", 0.4),
    ("table; lowest abs(low - 0.32); low", 0.3),
    ('table; match(kind, "on"); highest low; `a, b`', 3),
    ("table; by kind; highest low; kind", "off"),
    ("table; by kind; lowest low; low", 0.2),
    ("named; highest low; group", "z"),
    ("series; highest value; group", "z"),
    ("table; low > 9; highest low; low", "nan"),
    ("table; low > 9; max(low)", "nan"),
    ("table; with far abs(low - 0.2) > 0.15; by kind; far == 0; kind", ["on"]),
    ("table; with gap number(kind); highest gap; low", "nan"),
    ("empty; max(low)", "nan"),
    ("empty; count(low > 0)", 0),
    ("empty; highest low; low", "nan"),
    ("table; low > 9; count(low > 0)", 0),
    ("table; low > 0.2; kind", "['off', 'on']"),
]


@pytest.mark.parametrize(("text", "expected"), STEPS)
def test_steps_take_a_row_or_a_number(text, expected):
    named = TABLE.set_index(pd.Index(["x", "z", "y"], name="group"))
    names = {"table": TABLE, "named": named, "series": named["low"].rename(None), "empty": pd.DataFrame()}
    found = taken(text, names)
    assert str(found) == expected if isinstance(expected, str) else found == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["text; low", "missing; low", "table; by low.x", "table; drop low", "table; highest", ""]
)
def test_other_steps_are_refused(text):
    with pytest.raises((ExpressionError, KeyError)):
        taken(text, {"table": TABLE, "text": "x"})
