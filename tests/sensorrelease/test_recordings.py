"""A user's own recordings, in each way that a description can name them."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Windows
from sensorrelease.read.recordings import user_windows

DESCRIPTION = """
name = "mine"
files = "{files}"
rate = 50
channels = ["gx", "ax"]
subject = "person"
public = "activity"
private = ["gender"]
"""


def signal(person: int, activity: str, trial: int, samples: int = 30) -> pd.DataFrame:
    start = 1000 * person + 100 * trial + (10_000 if activity == "run" else 0)
    return pd.DataFrame({"gx": start + np.arange(samples), "ax": -np.arange(samples, dtype=float), "note": "x"})


def labelled() -> pd.DataFrame:
    parts = [
        signal(person, activity, trial).assign(person=person, activity=activity, session=trial, gender="fm"[person % 2])
        for person in (1, 2)
        for activity in ("walk", "run")
        for trial in (1, 2)
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def long_table(tmp_path: Path) -> Path:
    labelled().to_csv(tmp_path / "all.csv", index=False)
    path = tmp_path / "mine.toml"
    path.write_text(DESCRIPTION.format(files="all.csv") + 'trial = "session"\n')
    return path


def test_one_long_table(long_table: Path) -> None:
    found = user_windows(long_table, length=10, stride=5)
    assert found.values.shape == (8 * 5, 2, 10)
    # the second window of the first recording begins at its fifth sample; no window spans two recordings
    assert found.values[1, 0].tolist() == list(range(1105, 1115))
    assert (np.diff(found.values[:, 0]) == 1).all()
    assert set(found.private["gender"]) == {"f", "m"}
    assert found.provenance["stride"] == 5
    assert found.name == "mine"


@pytest.mark.filterwarnings("error")
def test_a_number_too_large_for_a_signal_is_named(long_table: Path) -> None:
    """Issue 57: NumPy warned of it."""
    table = labelled()
    table.loc[40, "ax"] = 1e308
    table.to_csv(long_table.with_name("all.csv"), index=False)
    with pytest.raises(
        ValueError, match=r"channel 'ax' holds 1e\+308, in all.*, which is too large \(at most 1e\+30\)"
    ):
        user_windows(long_table, length=10, stride=5)


def test_parquet_gives_the_same(long_table: Path) -> None:
    expected = user_windows(long_table, length=10, stride=5)
    labelled().to_parquet(long_table.parent / "all.parquet")
    long_table.write_text(long_table.read_text().replace("all.csv", "all.parquet"))
    assert user_windows(long_table, length=10, stride=5).digest == expected.digest


def test_a_folder_with_labels_in_names_and_people_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    for person in (1, 2):
        for activity in ("walk", "run"):
            signal(person, activity, 1).to_csv(tmp_path / "recordings" / f"{activity}_{person}.csv", index=False)
    pd.DataFrame({"person": [1, 2], "gender": ["f", "m"]}).to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "mine.toml"
    more = 'file_name = "{activity}_{person}.csv"\npeople = "people.csv"\n'
    path.write_text(DESCRIPTION.format(files="recordings/*.csv") + more)
    found = user_windows(path, length=10, stride=5)
    assert found.n_windows == 4 * 5
    assert sorted(set(zip(found.subject, found.public, found.private["gender"], strict=True))) == [
        ("1", "run", "f"),
        ("1", "walk", "f"),
        ("2", "run", "m"),
        ("2", "walk", "m"),
    ]
    assert found.trial.nunique() == 4  # every file is a trial


def test_equal_trials_in_two_files_are_refused_and_not_joined(tmp_path: Path) -> None:
    """REVIEW A9: windows spanned both files, and both counted as one recording."""
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        part = signal(1, "walk", 1).assign(person=1, activity="walk", session=1, gender="f")
        part.to_csv(tmp_path / day / "a.csv", index=False)
    path = tmp_path / "mine.toml"
    path.write_text(DESCRIPTION.format(files="*/a.csv") + 'trial = "session"\n')
    says = r"monday/a\.csv and tuesday/a\.csv both hold .*person 1, session 1, activity walk: .*remove the key `trial`"
    with pytest.raises(ValueError, match=says):
        user_windows(path, length=10, stride=5)
    path.write_text(DESCRIPTION.format(files="*/a.csv"))  # every file is a trial
    found = user_windows(path, length=10, stride=5)
    assert found.n_windows == 2 * 5
    assert (np.diff(found.values[:, 0]) == 1).all()


def test_an_activity_that_returns_within_a_trial_is_cut_apart(tmp_path: Path) -> None:
    parts = [signal(1, what, 1).assign(person=1, activity=what, session=1, gender="f") for what in ("walk", "run")]
    pd.concat([*parts, parts[0]]).to_csv(tmp_path / "all.csv", index=False)
    path = tmp_path / "mine.toml"
    path.write_text(DESCRIPTION.format(files="all.csv") + 'trial = "session"\n')
    assert user_windows(path, length=10, stride=5).n_windows == 3 * 5


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "mine"', 'nmae = "mine"', "key 'nmae' is unknown; the keys are name, files"),
        ("rate = 50", "", "key 'rate' is missing"),
        ("rate = 50", "rate = 0", "key 'rate' = 0 is invalid"),
        ("rate = 50", 'rate = "50"', "key 'rate' = '50' is invalid"),
        ('["gx", "ax"]', "[]", "key 'channels' = .* is invalid"),
        ('["gx", "ax"]', '["gx", "az"]', "no column 'az'"),
        ('["gx", "ax"]', '["gx", "note"]', "channel 'note' is not numeric: .* has the cell '.*'. Correct it"),
        ('private = ["gender"]', 'private = ["session"]', "changes within a recording"),
        ('trial = "session"', 'trial = "day"', "all.csv has no column 'day'"),
        ('trial = "session"', 'file_name = "{activity}_{person}.csv"', "'all.csv' does not fit"),
        ("rate = 50", "rate = [", "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_description(long_table: Path, old: str, new: str, words: str) -> None:
    text = long_table.read_text()
    assert old in text
    if "session" in new and "private" in new:
        text = text.replace('trial = "session"\n', "")
    long_table.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=words):
        user_windows(long_table, length=10, stride=5)


TIMED = 'trial = "session"\ntime = "t"\n'


@pytest.fixture
def timed_table(long_table: Path) -> pd.DataFrame:
    long_table.write_text(long_table.read_text().replace('trial = "session"\n', TIMED))
    table = labelled()
    return table.assign(t=table.index / 50)


def windows_of(table: pd.DataFrame, path: Path) -> Windows:
    table.to_csv(path.parent / "all.csv", index=False)
    return user_windows(path, length=10, stride=5)


@pytest.mark.parametrize("unit", [1, 1000, 1e9])
def test_times_in_any_unit_change_nothing(timed_table: pd.DataFrame, long_table: Path, unit: float) -> None:
    assert windows_of(timed_table.assign(t=timed_table["t"] * unit), long_table).n_windows == 8 * 5
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(timed_table["t"], unit="s")
    assert windows_of(timed_table.assign(t=times), long_table).n_windows == 8 * 5


def test_a_gap_ends_a_recording(timed_table: pd.DataFrame, long_table: Path) -> None:
    """REVIEW E14: gaps, shuffled rows and another rate passed silently."""
    gap = timed_table.assign(t=timed_table["t"] + (timed_table.index >= 15) * 3)
    with pytest.warns(UserWarning, match="1 gaps in 't', the longest of 3.02 seconds: each ends a recording"):
        assert windows_of(gap, long_table).n_windows == 7 * 5 + 2 * 2


def test_order_and_rate_are_checked_or_mended(timed_table: pd.DataFrame, long_table: Path) -> None:
    shuffled = pd.concat([timed_table.iloc[:30].sample(frac=1, random_state=0), timed_table.iloc[30:]])
    with pytest.raises(ValueError, match=r"all\.csv: column 't' is out of order: .*resample = true"):
        windows_of(shuffled, long_table)
    slow = timed_table.assign(t=timed_table["t"] * 2)
    with pytest.raises(ValueError, match=r"'t' has 25 samples per second in all\.csv, but rate = 50: correct"):
        windows_of(slow, long_table)
    with pytest.raises(ValueError, match="'t' has cells that are no time, such as 'soon'"):
        windows_of(timed_table.assign(t="soon"), long_table)
    expected = windows_of(timed_table, long_table)
    long_table.write_text(long_table.read_text() + "resample = true\n")
    np.testing.assert_allclose(windows_of(shuffled, long_table).values, expected.values, rtol=1e-6)
    doubled = windows_of(slow, long_table)
    assert doubled.n_windows == 8 * ((59 - 10) // 5 + 1)
    assert np.allclose(np.diff(doubled.values[0, 0]), 0.5)


def test_a_class_with_one_person_is_named(long_table: Path) -> None:
    table = labelled()
    more = table[table["person"] == 2].assign(person=3)
    with pytest.warns(UserWarning, match="one person only has gender m: a model of gender can recognize that person"):
        windows_of(pd.concat([table, more.assign(gender="f")]), long_table)


def test_only_matched_files_count(long_table: Path) -> None:
    """REVIEW E14: a video beside the recordings was hashed, too."""
    before = user_windows(long_table, length=10).provenance["digest"]
    (long_table.parent / "film.mp4").write_bytes(b"0" * 1000)
    assert user_windows(long_table, length=10).provenance["digest"] == before
    labelled().assign(gx=0).to_csv(long_table.parent / "all.csv", index=False)
    assert user_windows(long_table, length=10).provenance["digest"] != before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rate = 50", 'rate = "50"', "key 'rate' = '50' is invalid: give a number above 0, without quotes"),
        ('name = "mine"', "name = 3", "key 'name' = 3 is invalid: give a text in quotes"),
        ('["gx", "ax"]', '"gx"', "key 'channels' = 'gx' is invalid: give a list of different texts"),
        ('["gx", "ax"]', '["gx", 2]', "key 'channels' = 2 is invalid: give a list of different texts"),
        ('["gx", "ax"]', '["gx", "gx"]', "key 'channels' = .* is invalid: give a list of different texts"),
        ('["gender"]', '["gender", "gender"]', "key 'private' = .* is invalid"),
        (
            'files = "all.csv"',
            'files = "/data/all.csv"',
            "key 'files' = '/data/all.csv' is invalid: give a path in the folder",
        ),
        ('trial = "session"', 'file_name = "{1a}.csv"', "key 'file_name' = .* is invalid: give a name with each label"),
        ('trial = "session"', 'file_name = "{a}_{a}.csv"', "key 'file_name' = .* is invalid"),
        ('trial = "session"', 'file_name = "all.csv"', "key 'file_name' = .* is invalid"),
        ('trial = "session"', "resample = true", "key 'resample' = true is invalid: give a key `time`"),
        ('trial = "session"', "gap = 0.1", "key 'gap' = 0.1 is invalid: give resample = true"),
        ('trial = "session"', "gap = -1", "key 'gap' = -1 is invalid: give seconds above 0"),
        ('trial = "session"', 'resample = "yes"', "key 'resample' = 'yes' is invalid: give true or false"),
        ('trial = "session"', 'time = "t"', "key 'time': there is no column 't' in the recordings"),
    ],
)
def test_each_invalid_key_is_named_with_file_and_type(long_table: Path, old: str, new: str, words: str) -> None:
    """REVIEW E14: they ended in KeyError, NotImplementedError or re.error."""
    text = long_table.read_text()
    assert old in text
    long_table.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=words) as caught:
        user_windows(long_table, length=10)
    assert "mine.toml" in str(caught.value)


def test_missing_samples_and_files(long_table: Path) -> None:
    with pytest.raises(ValueError, match="no recording of mine has 64 samples; the longest has 30"):
        user_windows(long_table, length=64)
    table = labelled()
    table.loc[3, "ax"] = np.nan
    table.to_csv(long_table.parent / "all.csv", index=False)
    with pytest.raises(ValueError, match="column 'ax' has 1 missing values of 240"):
        user_windows(long_table, length=10)
    (long_table.parent / "all.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"there is no file 'all\.csv' in"):
        user_windows(long_table, length=10)
    with pytest.raises(FileNotFoundError, match="there is no description"):
        user_windows(long_table.with_name("none.toml"))


def test_a_description_goes_through_the_one_door(long_table: Path) -> None:
    from compendium import datasets

    assert datasets.windows(long_table, length=10, stride=5).n_windows == 40
    with pytest.raises(TypeError, match=r"no option 'length_'. Did you mean .length"):
        datasets.windows(str(long_table), length_=10)


def test_a_file_without_a_channel_is_named(tmp_path: Path) -> None:
    for person in (1, 2):
        part = labelled().query("person == @person")
        part.drop(columns="ax" if person == 2 else "note").to_csv(tmp_path / f"p{person}.csv", index=False)
    (tmp_path / "mine.toml").write_text(DESCRIPTION.format(files="p*.csv") + 'trial = "session"\n')
    with pytest.raises(ValueError, match=r"p2\.csv has no column 'ax', which is a channel: .* Leave the file out"):
        user_windows(tmp_path / "mine.toml", length=10)


@pytest.mark.parametrize(("name", "looks"), [("t_ms", True), ("timestamp", True), ("note2", False), ("weights", False)])
def test_times_that_are_not_declared_are_noticed(long_table: Path, name: str, looks: bool) -> None:
    labelled().assign(**{name: np.arange(240)}).to_csv(long_table.parent / "all.csv", index=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        user_windows(long_table, length=10)
    assert any(f"column {name!r} looks like times" in str(one.message) for one in said) == looks


def test_padded_digits_of_a_channel_are_numbers(long_table: Path) -> None:
    """Digits with leading zeros are labels in tables, so a channel of them was refused as text."""
    expected = user_windows(long_table, length=10, stride=5)
    labelled().assign(gx=lambda table: table["gx"].map("{:06d}".format)).to_csv(
        long_table.parent / "all.csv", index=False
    )
    assert (user_windows(long_table, length=10, stride=5).values == expected.values).all()


def test_people_without_a_window_are_named(long_table: Path) -> None:
    """Their recordings vanished without a word."""
    table = labelled()
    table[(table["person"] != 2) | (table.groupby(["person", "activity", "session"]).cumcount() < 9)].to_csv(
        long_table.parent / "all.csv", index=False
    )
    with pytest.warns(UserWarning, match=r"4 recordings are shorter than a window of 10 .*1 people have no window: 2"):
        found = user_windows(long_table, length=10, stride=5)
    assert set(found.subject.astype(str)) == {"1"}


@pytest.mark.parametrize("key", ["channels", "subject", "public", "private", "trial", "time"])
def test_errors_name_the_columns_of_the_files_only(tmp_path: Path, key: str) -> None:
    """REVIEW C15: the columns that the reader adds stood in the list of columns."""
    table = pd.DataFrame({"ax": [0.1] * 200, "who": ["a"] * 200, "act": ["sit"] * 200})
    table.to_csv(tmp_path / "a.csv", index=False)
    given = {"channels": ["ax"], "subject": "who", "public": "act", "private": ["who"]}
    given[key] = ["zz"] if isinstance(given.get(key), list) else "zz"
    lines = [f"{name} = {json.dumps(value)}" for name, value in given.items()]
    (tmp_path / "my.toml").write_text("\n".join(['name = "a"', 'files = "*.csv"', "rate = 50", *lines]))
    with pytest.raises(ValueError, match="zz") as caught:
        user_windows(tmp_path / "my.toml")
    assert "_trial" not in str(caught.value)
    assert str(caught.value).count("'zz'") == 1
    assert "_file" not in str(caught.value)
