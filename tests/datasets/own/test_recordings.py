"""A user's own recordings, in each way that a description can name them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.datasets.own.recordings import user_windows

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
        ('["gx", "ax"]', '["gx", "note"]', "channel 'note' is .*, not numeric"),
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
    from sensorprivacy import datasets

    assert datasets.windows(long_table, length=10, stride=5).n_windows == 40
    with pytest.raises(TypeError, match=r"no option 'length_'. Did you mean .length"):
        datasets.windows(str(long_table), length_=10)
