"""Entropy, evaluation and trisection, by scipy, by hand and by their laws."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from sensorprivacy.threeway import Division, entropies, evaluate, intervals, trisect

columns = st.lists(st.one_of(st.integers(0, 4), st.none(), st.sampled_from("ab")), min_size=2, max_size=40).filter(
    lambda cells: any(cell is not None for cell in cells)
)


def test_worked_example():
    """The paper's one entropy by hand: Work, 2, 4 and 14 of 20."""
    work = pd.DataFrame({"Work": ["Gov."] * 2 + ["Self"] * 4 + ["Priv."] * 14})
    assert round(entropies(work)["Work"], 1) == 0.8


@given(columns)
def test_equals_scipy(cells):
    counts = pd.Series(cells, dtype=object).value_counts(dropna=False)
    assert entropies(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))["a"] == pytest.approx(
        entropy(counts), abs=1e-12
    )


@given(columns, st.randoms())
def test_bounds_and_relabelling(cells, random):
    """Between 0 and ln(number of values); the very same number whatever values and rows are called."""
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object)})
    names = list(set(cells))
    new = dict(zip(names, random.sample(range(1000), len(names)), strict=True))
    relabelled = pd.DataFrame({"a": [new[cell] for cell in random.sample(cells, len(cells))]})
    value = entropies(frame)["a"]
    assert 0 <= value <= math.log(len(names)) + 1e-12
    assert entropies(relabelled)["a"] == value


def test_every_type():
    half = math.log(2)
    frame = pd.DataFrame(
        {
            "int": [1, 1, 2, 2],
            "float": [0.5, 0.5, np.nan, np.nan],
            "text": ["a", None, "a", None],
            "object": pd.Series([1, "1", 1, "1"], dtype=object),
            "bool": [True, False, True, False],
            "nullable": pd.array([True, None, True, None], dtype="boolean"),
            "category": pd.Categorical(["u", "u", "v", "v"], categories=["u", "v", "never"]),
            "time": pd.to_datetime(["2020", "2020", None, None]),
            "zone": pd.to_datetime(["2020", "2020", "2021", "2021"], utc=True),
            "constant": [7, 7, 7, 7],
        }
    )
    expected = dict.fromkeys(frame, half) | {"constant": 0.0}
    assert entropies(frame).to_dict() == pytest.approx(expected)
    assert entropies(frame)["constant"] == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "Int64", "float64"])
def test_integers_of_any_width_and_range(dtype):
    """Narrow ranges are counted from their least, wide ones hashed; either way the counts are the values'."""
    rng = np.random.default_rng(0)
    info = np.iinfo(dtype.lower()) if "int" in dtype.lower() else np.iinfo("int32")
    for low, high in [(0, 3), (info.min, info.max), (info.max - 2, info.max), (info.min, info.min + 5)]:
        values = rng.integers(low, high, 200, dtype=dtype.lower() if "int" in dtype.lower() else "int64", endpoint=True)
        column = pd.Series(values.astype(dtype.lower()), dtype=dtype)
        value = entropies(pd.DataFrame({"a": column}))["a"]
        assert value == pytest.approx(entropy(np.unique(column.to_numpy(), return_counts=True)[1]), abs=1e-12)


def test_column_labels_of_any_kind_survive():
    frame = pd.DataFrame([[1, 1], [2, 1]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert entropies(frame).index.equals(frame.columns)
    assert trisect(evaluate(entropies(frame)), 0.9, 0.1).sensitive == (("a", 1),)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame(), "0 rows x 0 columns"),
        (pd.DataFrame({"a": []}), "0 rows x 1 columns"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), r"repeats column names \['a'\]"),
        (pd.DataFrame({"a": [1, 2], "b": [None, None]}), "'b' is all missing"),
        (pd.DataFrame({"a": [1.0, np.inf]}), "'a' holds infinite"),
        (pd.DataFrame({"a": pd.array([1.0, -np.inf, None], dtype="Float64")}), "'a' holds infinite"),
        (pd.DataFrame({"a": ["x", float("inf")]}), "'a' holds infinite"),
        (pd.DataFrame({"a": pd.Categorical([1.0, np.inf])}), "'a' holds infinite"),
    ],
)
def test_refuses_bad_frames(frame, message):
    with pytest.raises(ValueError, match=message):
        entropies(frame)


@pytest.mark.parametrize("thing", [[[1, 2]], np.eye(2), pd.Series([1]), {"a": [1]}, None])
def test_refuses_what_is_no_frame(thing):
    with pytest.raises(TypeError, match="pandas DataFrame"):
        entropies(thing)


def test_refuses_values_that_cannot_be_compared():
    with pytest.raises(TypeError, match="'a' has values that do not compare"):
        entropies(pd.DataFrame({"a": [[1], [2]]}))


def test_an_infinite_category_that_no_row_holds_is_no_fault():
    frame = pd.DataFrame({"a": pd.Categorical([1.0, 2.0], categories=[1.0, 2.0, np.inf])})
    assert entropies(frame)["a"] == pytest.approx(math.log(2))


def test_evaluation_is_min_max():
    assert evaluate(pd.Series({"a": 1.0, "b": 2.0, "c": 5.0})).to_dict() == {"a": 0.0, "b": 0.25, "c": 1.0}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "n_features=1"),
        ([], "n_features=0"),
        ([2.0, 2.0], "all 2 attributes"),
        ([2.0, 2.0], "into intervals"),
        ([1.0, np.nan], "finite"),
    ],
)
def test_evaluation_refuses(values, message):
    with pytest.raises(ValueError, match=message):
        evaluate(pd.Series(values, dtype=float))


def test_columns_without_a_repeated_value_can_be_divided_by_intervals_of_equal_width():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"even": rng.uniform(size=300), "tailed": rng.lognormal(size=300), "few": [1, 2, 3] * 100})
    measured = table[["even", "tailed"]]
    with pytest.raises(ValueError, match="into intervals"):
        evaluate(entropies(measured))
    halves = measured.apply(pd.qcut, q=10, labels=False)  # of equal frequency
    with pytest.raises(ValueError, match="into intervals"):
        evaluate(entropies(halves))
    cut = intervals(table, 10)
    assert cut["few"].equals(table["few"])
    counts, _ = np.histogram(table["tailed"], 10)
    assert entropies(cut)["tailed"] == pytest.approx(entropy(counts))
    assert evaluate(entropies(cut[["even", "tailed"]])).to_dict() == {"even": 1, "tailed": 0}
    assert intervals(table, None).equals(table)
    assert intervals(pd.DataFrame({7: [0.5, 0.1, 0.9, np.nan]}), 2)[7].tolist()[:3] == [0, 0, 1]


levels = st.lists(st.sampled_from([0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), min_size=1, max_size=12)


@given(levels, st.floats(0, 1), st.floats(0, 1))
def test_groups_are_disjoint_and_complete(values, one, other):
    alpha, beta = max(one, other), min(one, other)
    evaluation = pd.Series(values)
    division = trisect(evaluation, alpha, beta)
    together = division.sensitive + division.non_sensitive + division.ambiguous
    assert sorted(together) == list(evaluation.index)
    assert all(evaluation[name] >= alpha for name in division.sensitive)
    assert all(evaluation[name] <= beta and evaluation[name] < alpha for name in division.non_sensitive)
    assert all(beta < evaluation[name] < alpha for name in division.ambiguous)
    assert division.kept == division.non_sensitive + division.ambiguous
    assert sum(division.sizes) == len(values)


def test_equal_thresholds_leave_nothing_ambiguous_and_side_with_privacy():
    division = trisect(pd.Series({"low": 0.2, "on": 0.5, "high": 0.9}), 0.5, 0.5)
    assert division == Division(0.5, 0.5, ("on", "high"), ("low",), ())


@pytest.mark.parametrize(
    ("alpha", "beta", "message"),
    [
        (0.4, 0.6, "alpha=0.4 < beta=0.6"),
        (1.1, 0, "alpha=1.1"),
        (1, -0.1, "beta=-0.1"),
        (math.nan, 0, "alpha=nan"),
        (1, math.nan, "beta=nan"),
        (math.inf, 0, "alpha=inf"),
    ],
)
def test_refuses_thresholds(alpha, beta, message):
    with pytest.raises(ValueError, match=message):
        trisect(pd.Series({"a": 0.5}), alpha, beta)


@settings(max_examples=30)
@given(st.integers(1, 2000))
def test_all_distinct_reach_the_upper_bound(n):
    assert entropies(pd.DataFrame({"id": range(n)}))["id"] == pytest.approx(math.log(n), abs=1e-12)


def test_arrow_columns_have_the_entropies_of_numpy_columns():
    """REVIEW A9: the check for infinite values failed on columns of times."""
    times = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02", None])
    frame = pd.DataFrame(
        {
            "when": times,
            "there": times.tz_localize("Europe/Berlin"),
            "took": times - times[0],
            "text": ["a", "b", "b", None],
            "flag": [True, False, False, None],
            "rate": [0.5, 1.5, 1.5, None],
        }
    )
    arrow = frame.convert_dtypes(dtype_backend="pyarrow")
    arrow["day"] = arrow["when"].astype("date32[day][pyarrow]")
    expected = entropies(frame.assign(day=times))
    pd.testing.assert_series_equal(entropies(arrow), expected)
    with pytest.raises(ValueError, match="'rate' holds infinite"):
        entropies(arrow.assign(rate=pd.Series([1, np.inf, 2, 3], dtype="double[pyarrow]")))
