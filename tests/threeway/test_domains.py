"""Columns to domains and back: every type keeps its kind, and invalid bounds are refused."""

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.threeway.domains import Categories, Numbers, domain_of, domains_of

COLUMNS = {
    "int": pd.Series([3, 1, 2, 2]),
    "small": pd.Series([3, 1, 2, 2], dtype="int8"),
    "unsigned": pd.Series([3, 1, 2, 2], dtype="uint16"),
    "float": pd.Series([0.5, 1.5, 2.0, -1.0]),
    "single": pd.Series([0.5, 1.5, 2.0, -1.0], dtype="float32"),
    "text": pd.Series(["b", "a", "c", "a"]),
    "bool": pd.Series([True, False, True, True]),
    "category": pd.Series(pd.Categorical(["b", "a", "b", "a"], categories=["a", "b", "never"], ordered=True)),
    "object": pd.Series([1, "1", 2.5, "x"], dtype=object),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_encode_and_decode_return_the_column(name):
    column = COLUMNS[name].rename(name)
    domain = domain_of(column)
    back = domain.decode(domain.encode(column))
    assert back.tolist() == column.tolist()
    kinds = {"small": "int64", "unsigned": "int64"}
    assert str(back.dtype) == kinds.get(name, str(column.dtype))
    assert domain.from_data


@pytest.mark.parametrize("type_of", ["datetime64[s]", "datetime64[s, UTC]", "timedelta64[s]", "timestamp[s][pyarrow]"])
@pytest.mark.parametrize("given", [{}, {"bounds": (0, 9)}, {"categorical": True}])
def test_points_in_time_and_durations_are_refused_by_name(type_of, given):
    column = pd.Series([1, 2, 3], dtype="int64").astype(type_of).rename("when")
    with pytest.raises(ValueError, match="column 'when' holds points in time or durations: give seconds, or drop it"):
        domain_of(column, **given)


@pytest.mark.parametrize("name", ["text", "bool", "category", "object"])
def test_missing_is_one_more_category(name):
    column = COLUMNS[name].astype(object).rename(name)
    column[1] = None
    if name == "category":
        column = column.astype(COLUMNS["category"].dtype)
    domain = domain_of(column)
    assert isinstance(domain, Categories)
    assert domain.has_missing
    codes = domain.encode(column)
    assert codes[1] == domain.k - 1
    back = domain.decode(codes)
    assert back.isna().tolist() == [False, True, False, False]
    assert back.dropna().tolist() == column.dropna().tolist()


def test_missing_numbers_become_the_middle_and_get_noise(seeded):
    column = pd.Series([0.0, np.nan, 10.0], name="age")
    domain = domain_of(column)
    noisy = domain.noise(column, 100.0, seeded())
    assert not np.isnan(noisy).any()
    assert noisy == pytest.approx([0, 5, 10], abs=2)
    nullable = pd.Series([1, None, 4], dtype="Int64", name="n")
    domain = domain_of(nullable, bounds=(0, 10))
    assert domain.integer
    assert domain.decode(domain.noise(nullable, 100.0, seeded())).tolist() == pytest.approx([1, 5, 4], abs=2)


def test_given_domains_are_not_read_from_the_data():
    numbers = domain_of(COLUMNS["int"].rename("n"), bounds=(0, 100))
    assert (numbers.low, numbers.high, numbers.from_data) == (0, 100, False)
    listed = domain_of(COLUMNS["text"].rename("t"), categories=["a", "b", "c", "d", None])
    assert (listed.k, listed.has_missing, listed.from_data) == (5, True, False)
    flags = domain_of(COLUMNS["bool"].rename("b"), categories=[False, True])
    assert flags.encode(COLUMNS["bool"]).tolist() == [1, 0, 1, 1]


def test_numbers_as_categories():
    domain = domain_of(COLUMNS["int"].rename("class"), categorical=True)
    assert isinstance(domain, Categories)
    assert domain.decode(domain.encode(COLUMNS["int"])).tolist() == [3, 1, 2, 2]


def test_integers_too_large_for_64_bits_of_noise_become_floats():
    domain = domain_of(pd.Series([0, 2**63], dtype="uint64", name="id"))
    assert isinstance(domain, Numbers)
    assert not domain.integer


def test_unknown_categories(seeded):
    domain = domain_of(pd.Series(["a", "b"], name="t"))
    new = pd.Series(["a", "z", None], name="t")
    with pytest.raises(ValueError, match="'t' holds values"):
        domain.noise(new, 1.0, seeded())
    drawn = np.array([domain.noise(new, 100.0, seeded(seed), unknown="redraw") for seed in range(40)])
    assert (drawn[:, 0] == 0).all()
    for place in (1, 2):
        assert set(drawn[:, place]) == {0, 1}


@pytest.mark.parametrize(
    ("column", "arguments", "message"),
    [
        ("int", {"bounds": (5, 1)}, "give two finite numbers"),
        ("float", {"bounds": (0, np.inf)}, "give two finite numbers"),
        ("float", {"bounds": (np.nan, 1)}, "give two finite numbers"),
        ("int", {"bounds": (0.5, 3)}, "integer bounds"),
        ("text", {"bounds": (0, 1)}, "give `categories`"),
        ("text", {"categories": ["a", "a", "b"]}, "repeat"),
        ("text", {"categories": [None]}, "no categories"),
    ],
)
def test_refuses(column, arguments, message):
    with pytest.raises(ValueError, match=message):
        domain_of(COLUMNS[column].rename(column), **arguments)


def test_refuses_infinite_and_empty_columns_and_unknown_names():
    with pytest.raises(ValueError, match="'a' holds infinite"):
        domain_of(pd.Series([1.0, np.inf], name="a"), bounds=(0, 1)).encode(pd.Series([1.0, np.inf]))
    with pytest.raises(ValueError, match="give two finite numbers"):
        domain_of(pd.Series([np.nan, np.nan], name="a"))
    with pytest.raises(ValueError, match="no categories"):
        domain_of(pd.Series([None, None], name="a", dtype=object))
    with pytest.raises(ValueError, match="'z'"):
        domains_of(pd.DataFrame({"a": [1]}), ["a"], bounds={"z": (0, 1)})
