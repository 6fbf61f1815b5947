"""Columns that may be dates are said, not refused: a count can have the same range. Labels of users are not said."""

import json

import numpy as np
import pandas as pd
import pytest

from sensorrelease import cli
from sensorrelease.remarks import perhaps_dates, without_names

DRAW = np.random.default_rng(0)
BORN = pd.Timestamp("1932-02-01") + pd.to_timedelta(DRAW.integers(0, 24_000, 240), unit="D")
SEEN = BORN + pd.to_timedelta(DRAW.integers(0, 86_400, 240), unit="s")
SINCE = (SEEN - pd.Timestamp("1970-01-01")) // pd.Timedelta(seconds=1)
FORMS = {
    "days of a spreadsheet": (BORN - pd.Timestamp("1899-12-30")) // pd.Timedelta(days=1),
    "Julian days": BORN.to_julian_date(),
    "year and day": BORN.strftime("%Y%j").astype(int),
    "year, month and day": BORN.strftime("%y%m%d").astype(int),
    "seconds since 1970": SINCE,
    "seconds since 1970 in ms": SINCE * 1000,
    "seconds since 1970 in us": SINCE * 1_000_000,
}
COUNTS = {
    "a count of steps": DRAW.integers(0, 20_000, 240),
    "a converter of 12 bits": DRAW.integers(0, 4096, 240),
    "a converter of 16 bits": DRAW.integers(0, 65_536, 240),
    "raw acceleration": DRAW.integers(-16_384, 16_384, 240),
    "bytes": DRAW.integers(0, 10**9, 240),
    "watts": DRAW.normal(20_000, 3000, 240),
    "years": DRAW.integers(1932, 1999, 240),
    "pressure in Pa": DRAW.integers(98_000, 103_000, 240),
    "lux": DRAW.integers(10_000, 10_019, 240),
    "six digits": DRAW.integers(100_000, 999_999, 240),
    "seven digits": DRAW.integers(1_900_000, 2_099_999, 240),
    "float": DRAW.normal(0, 1e8, 240),
}


@pytest.mark.parametrize("name", FORMS)
def test_numbers_that_may_be_dates_are_said(name):
    (said,) = perhaps_dates(pd.DataFrame({"x": np.asarray(FORMS[name])}))
    assert said.startswith(
        f"column x may hold dates ({name.removesuffix(' in ms').removesuffix(' in us')}, 1932 to 199"
    )
    assert said.endswith("if so, drop it")
    missing = pd.Series(np.asarray(FORMS[name])).where(np.arange(240) % 9 > 0)
    assert perhaps_dates(pd.DataFrame({"x": missing})) == [said]


@pytest.mark.parametrize("name", COUNTS)
def test_counts_and_measurements_are_not(name):
    assert perhaps_dates(pd.DataFrame({"x": COUNTS[name]})) == []


@pytest.mark.parametrize("command", ["minimize", "compare", "publish"])
def test_every_command_says_so_and_keeps_the_column(command, tmp_path, capsys):
    room, owner = DRAW.integers(0, 2, 240), DRAW.integers(0, 4, 240)
    table = pd.DataFrame({"load": (room + DRAW.normal(0, 0.2, 240)).round(3), "x": FORMS["days of a spreadsheet"]})
    table = table.assign(room=np.where(room, "kitchen", "hall"), owner=np.array(["ann", "bob", "cyd", "dee"])[owner])
    table.to_csv(tmp_path / "home.csv", index=False)
    fast = ["--trees", "5", "--store", str(tmp_path / "s.jsonl"), "--json", str(tmp_path / "found.json")]
    words = {"minimize": [*fast, "--repeat", "0"], "compare": [*fast, "--defences", "none", "--jobs", "1"]}
    words["publish"] = ["--defence", "none", "--out", str(tmp_path / "out")]
    given = [command, str(tmp_path / "home.csv"), "--task", "room", "--user", "owner", "--quiet", *words[command]]
    assert cli.main(given) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "olumn x may hold dates (days of a spreadsheet, 1932 to 199" in said
    if command == "publish":
        assert "x" in json.loads((tmp_path / "out" / "card.json").read_text())["columns"]["published"]


def test_notices_keep_their_words_without_labels_of_users():
    users = pd.Series(["ann", "bob", "Mary Ann", None])
    said = ["load: 2 cells ('ask Ann' 1, 'unknown' 1)", "set aside: 1 row of owner mary ann", "the annex is empty"]
    bare = ["load: 2 cells ('ask ...' 1, 'unknown' 1)", "set aside: 1 row of owner ...", "the annex is empty"]
    assert without_names(said, users) == bare
    assert without_names({"load": "of bobs"}, users) == {"load": "of ...s"}
