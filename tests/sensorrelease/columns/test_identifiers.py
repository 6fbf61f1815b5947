"""Columns that identify rows are found; measurements, also with all values distinct, are not."""

import uuid

import numpy as np
import pandas as pd
import pytest

from sensorrelease.columns.identifiers import find_identifiers

N = 200
DRAW = np.random.default_rng(0)
USERS = pd.Series(np.repeat(np.arange(5), N // 5))
TIMES = pd.Timestamp("2024-03-01 08:00") + pd.to_timedelta(np.sort(DRAW.integers(0, 10**7, N)), unit="s")
SECONDS = (TIMES - pd.Timestamp(0)).total_seconds()

IDENTIFIERS = {
    "uuid": ([str(uuid.UUID(bytes=DRAW.bytes(16))) for _ in range(N)], "UUIDs"),
    "device": ([str(uuid.UUID(int=int(k))) for k in USERS], "UUIDs"),  # one for each person, not for each row
    "mail": ([f"user{k}@example.org" for k in USERS], "e-mail addresses"),
    "note": ([f"record {k} of {DRAW.integers(9)}" for k in range(N)], "texts that differ in nearly every row"),
    "record_id": (range(N), "row numbers"),
    "Unnamed: 0": (np.arange(N, dtype=float)[::-1], "row numbers"),
    "sparse": (np.cumsum(DRAW.integers(1, 50, N)), "row numbers"),  # rising, with gaps
    "shuffled": (DRAW.permutation(N) + 1000, "row numbers"),
    "place": (np.tile(np.arange(N // 5), 5), "row numbers"),  # begins again with each person
    "elapsed": (np.arange(N) * 0.02, "row numbers"),
    "hash": (DRAW.integers(2**60, 2**62, N), "large integers that differ in nearly every row"),
    "customerId": (DRAW.integers(0, 10**9, N), "numbers that differ in nearly every row"),
    "when": (TIMES, "points in time"),
    "zone": (TIMES.tz_localize("Asia/Tokyo"), "points in time"),
    "iso": (TIMES.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "points in time"),
    "german": (TIMES.strftime("%d.%m.%Y %H:%M"), "points in time"),
    "american": (TIMES.strftime("%m/%d/%Y %I:%M:%S %p"), "points in time"),
    "day": (TIMES.strftime("%Y-%m-%d"), "points in time"),
    "date": (TIMES.date, "points in time"),
    "epoch": (SECONDS.astype(int), "points in time"),
    "clock": (SECONDS * 1e9 + 0.5, "points in time"),
    "timestamp": (DRAW.permutation(SECONDS) + 0.25, "points in time"),
    "time": (np.cumsum(DRAW.uniform(0.01, 0.03, N)), "points in time"),
}
GRID = pd.Series(pd.date_range("2024-01-08", periods=96, freq="30min", tz="Europe/Berlin"))[DRAW.integers(0, 96, N)]
PLACES = DRAW.normal([48.1, 11.5], 1e-2, (N, 2)).round(5).T
TEXTS = pd.Series([f"call {1000 + k} about contract {7919 * k}" for k in range(N)])
IDENTIFIERS |= {  # in any order of the rows, with repeated and missing cells
    "day_month": (GRID.dt.strftime("%d-%m-%Y %H:%M"), "points in time"),
    "compact": (GRID.dt.strftime("%Y%m%dT%H%M%S%z"), "points in time"),
    "java": (GRID.map(lambda time: f"{time.isoformat()}[Europe/Berlin]"), "points in time"),
    "month_name": (GRID.dt.strftime("%d-%b-%Y %H:%M"), "points in time"),
    "german_month": (GRID.dt.strftime("%d. Januar %Y %H:%M Uhr"), "points in time"),
    "ctime": (GRID.dt.strftime("%a %b %d %H:%M:%S %Y"), "points in time"),
    "zone_name": (GRID.dt.strftime("%Y-%m-%d %H:%M CET"), "points in time"),
    "one_unknown": (GRID.astype(str).where(np.arange(N) != 7, "not read"), "points in time"),
    "mostly_missing": (GRID.astype(str).where(np.arange(N) % 9 == 0, ""), "points in time"),
    "seen": (GRID.map(pd.Timestamp.timestamp).astype(int), "points in time"),
    "received": (GRID.map(pd.Timestamp.timestamp) * 1000 + DRAW.integers(0, 60_000, N), "points in time"),
    "parts": (GRID.map(pd.Timestamp.timestamp) + 0.123, "points in time"),
    "spreadsheet": (45_299 + DRAW.integers(0, 960, N) / 48, "points in time"),
    "excel_date": (45_299 + DRAW.integers(0, 9, N), "points in time"),
    "to_minutes": (GRID.dt.strftime("%Y%m%d%H%M").astype(int), "points in time"),
    "to_days": (20240100 + DRAW.integers(1, 29, N), "points in time"),
    "contact": (np.where(np.arange(N) % 20, [f"user{k}@example.org" for k in USERS], "none"), "e-mail addresses"),
    "in_text": ([f"ask user{k}@example.org" for k in USERS], "e-mail addresses"),
    "long_text": ([f"{'x' * 40_000} {k}@example.org" for k in USERS], "e-mail addresses"),
    "phone": ([f"+49 171 {1_000_000 + 7919 * k}" for k in USERS], "telephone numbers"),
    "iban": ([f"DE2{k} 5001 0517 0000 0000 00" for k in USERS], "IBANs"),
    "car": ([f"WT6RXC4RTDZXM2U{k}H" for k in USERS], "vehicle identification numbers"),
    "place_of": ([f"{lat:.6f},{lon:.6f}" for lat, lon in PLACES.T], "positions"),
    "latitude": (PLACES[0], "geographic positions"),
    "remark": (TEXTS.where(np.arange(N) % 8 == 0), "texts that differ in nearly every row"),
    "free": (TEXTS.where(np.arange(N) % 3 > 0, TEXTS.shift()), "free text"),
    "gaps": (np.where(DRAW.random(N) < 0.5, np.nan, np.arange(N)), "row numbers"),
}
FEATURES = {
    "measurement": DRAW.normal(size=N),
    "large": DRAW.normal(1.5e9, 1e8, N),
    "price": DRAW.integers(100, 99_999, N) / 100,
    "packet_bytes": DRAW.integers(0, 10**9, N),  # integers that are distinct by their range
    "level": DRAW.integers(0, 4, N),
    "hour": np.arange(N) % 24,
    "year": 2000 + DRAW.integers(0, 25, N),
    "response_time": DRAW.exponential(0.3, N),
    "energy": np.cumsum(DRAW.uniform(0, 0.1, N)),
    "before_after": np.tile([0, 1], N // 2),
    "flag": DRAW.random(N) < 0.5,
    "room": DRAW.choice(["hall", "kitchen"], N),
    "version": DRAW.choice(["1.2.3", "1.2.4"], N),
    "kind": pd.Categorical(DRAW.choice(list("abc"), N)),
    "gaps": np.where(DRAW.random(N) < 0.5, np.nan, DRAW.normal(size=N)),
    "born": DRAW.integers(1930, 2010, N),
    "span": DRAW.choice(["20-29", "30-39", "40-49"], N),
    "month": DRAW.choice(["May", "June", "March"], N),
    "clock_time": DRAW.choice(["08:30", "12:15"], N),
    "quarter": DRAW.choice(["2024-Q1", "2024-Q2"], N),
    "how": DRAW.choice(["walking up the stairs", "sitting on the sofa"], N),
    "rent": DRAW.integers(36_000, 55_000, N).astype(float),
    "lumens": 40_000 + DRAW.integers(0, 10_000, N) / 100,
    "channel": DRAW.choice([2.412e9, 2.437e9, 2.462e9], N),
    "lat": PLACES[0],  # alone, this may be anything
    "width": pd.array(DRAW.integers(0, 9, N), dtype="Int64"),
}


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_identifiers_are_found(name):
    values, kind = IDENTIFIERS[name]
    assert find_identifiers(pd.DataFrame({name: values}), [USERS]) == {name: kind}


@pytest.mark.parametrize("name", FEATURES)
def test_measurements_and_categories_are_no_identifiers(name):
    pairs = pd.Series(np.repeat(np.arange(N // 2), 2))  # two rows for each person
    assert find_identifiers(pd.DataFrame({name: FEATURES[name]}), [USERS, pairs]) == {}


def test_pairs_of_coordinates_are_positions_but_motion_is_none():
    places = pd.DataFrame({"gps_lat": PLACES[0], "gpsLon": PLACES[1]})
    assert set(find_identifiers(places).values()) == {"geographic positions"}
    assert len(find_identifiers(places)) == 2
    both_signs = DRAW.normal(size=(2, N))
    assert find_identifiers(pd.DataFrame({"lat": both_signs[0], "lon": both_signs[1]})) == {}
    assert find_identifiers(pd.DataFrame({"acc_lat": PLACES[0], "acc_lon": PLACES[1]})) == {}


def test_distinct_values_of_few_rows_are_no_sign():
    few = pd.DataFrame({"x": range(6), "text": list("abcdef"), "when": pd.Timestamp("2024-01-01")})
    assert find_identifiers(few) == {"when": "points in time"}


@pytest.fixture
def home(tmp_path):
    table = pd.DataFrame({name: IDENTIFIERS[name][0] for name in ("record_id", "uuid", "iso")})
    table["load"], table["room"] = FEATURES["measurement"], FEATURES["room"]
    table = table.assign(what=np.where(FEATURES["flag"], "tv", "fridge"), who=USERS)
    table.to_csv(tmp_path / "home.csv", index=False)
    return tmp_path / "home.csv"
