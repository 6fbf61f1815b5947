"""Points in time are found by most of their cells, and measurements are not."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.columns import moments

HALF_HOURS = pd.date_range("2024-01-28 22:00", periods=60, freq="30min")


@pytest.mark.parametrize(
    "form",
    ["%d-%m-%Y %H:%M", "%Y%m%dT%H%M%S+0100", "%Y-%m-%dT%H:%M[Europe/Berlin]", "%d-%b-%Y %H:%M", "%a %b %d %H:%M:%S %Y"],
)
def test_texts_of_many_forms_are_moments(form):
    cells = pd.Series(HALF_HOURS.strftime(form))
    assert moments.are_moments(cells)
    cells[:5] = "unknown"
    assert moments.are_moments(cells)  # 92 % of the cells are dates
    cells[:30] = "unknown"
    assert not moments.are_moments(cells)


@pytest.mark.parametrize("cells", [["3.14", "2.71"] * 30, ["room 1", "room 2"] * 30, ["12-15", "16-20", "21-30"] * 20])
def test_other_texts_are_none(cells):
    assert not moments.are_moments(pd.Series(cells))


def test_the_day_comes_first_if_a_cell_shows_it():
    parsed = moments.parse_moments(pd.Series(["05/01/2026", "13/01/2026", None]))
    assert parsed.dt.strftime("%m-%d").tolist()[:2] == ["01-05", "01-13"]
    assert parsed.isna().tolist() == [False, False, True]
    assert moments.parse_moments(pd.Series(["01/05/2026", "01/13/2026"])).dt.month.tolist() == [1, 1]


def test_numbers_are_times_in_any_order_of_the_rows():
    seconds = np.random.default_rng(0).permutation(HALF_HOURS.astype("datetime64[s]").astype(np.int64)).astype(float)
    for unit in (1, 1e3, 1e6):
        assert moments.are_times(seconds * unit, "received", ())
    digits = HALF_HOURS.strftime("%Y%m%d%H%M").astype(float).to_numpy()
    assert moments.are_times(digits[::-1], "received", ())


@pytest.mark.parametrize("name", ["size", "birth"])
def test_sizes_and_years_are_none(name):
    draw = np.random.default_rng(1)
    assert not moments.are_times(draw.integers(1940, 2010, 200).astype(float), name, ())
    assert not moments.are_times(draw.normal(9.81, 2, 200), name, ())
    assert not moments.are_times(draw.integers(0, 2**31, 200).astype(float), name, ())


BORN = pd.Timestamp("1932-02-01") + pd.to_timedelta(np.random.default_rng(5).integers(0, 24_000, 200), unit="D")
SINCE = (BORN - pd.Timestamp("1970-01-01")) / pd.Timedelta(seconds=1)
DAYS = {
    "days of a spreadsheet": (BORN - pd.Timestamp("1899-12-30")) / pd.Timedelta(days=1),
    "days since 1970": SINCE / 86_400,
    "days since 1904": (BORN - pd.Timestamp("1904-01-01")) / pd.Timedelta(days=1),
    "Julian days": BORN.to_julian_date(),
    "SAS dates": (BORN - pd.Timestamp("1960-01-01")) / pd.Timedelta(days=1),
}


@pytest.mark.parametrize("name", ["dob", "birth_date", "dateOfBirth", "Geburtsdatum", "patient.birthday", "visit date"])
@pytest.mark.parametrize("form", DAYS)
def test_days_of_any_century_are_times_by_their_name(name, form):
    """REVIEW C4: days of a spreadsheet before 1999 were published, in a column called birth_date."""
    assert moments.are_times(DAYS[form].to_numpy(dtype=float), name, ())


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9])
def test_whole_days_in_seconds_are_times_by_themselves(unit):
    assert moments.are_times(SINCE.to_numpy() * unit, "x", ())
    assert not moments.are_times(SINCE.to_numpy() * unit / 7.3, "x", ())


@pytest.mark.parametrize("form", ["%m%d%Y", "%d%m%Y", "%Y%m%d"])
def test_digits_of_dates_of_any_century_are_times(form):
    assert moments.are_times(BORN.strftime(form).astype(np.int64).to_numpy().astype(float), "x", ())


def test_a_year_a_day_of_the_month_and_a_multiple_of_a_day_are_none():
    draw = np.random.default_rng(2)
    assert not moments.are_times(draw.integers(1930, 2010, 200).astype(float), "birth_date", ())
    assert not moments.are_times(draw.integers(1, 32, 200).astype(float), "date", ())
    assert not moments.are_times(draw.integers(0, 5, 200) * 86_400.0, "lease", ())  # seconds of a few days
    assert not moments.are_times(draw.integers(1_000_000, 99_999_999, 200).astype(float), "bytes", ())


def test_times_of_the_nineties_are_times():
    seen = 8e8 + np.random.default_rng(3).integers(0, 5e7, 200)
    for unit in (1, 1e3, 1e6):
        assert moments.are_times(seen * unit, "seen", ())
    assert not moments.are_times(seen + 0.37, "load", ())
