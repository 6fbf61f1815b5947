"""A folder of your own recordings, read by its schema, becomes windows."""

import numpy as np
import pandas as pd
import pytest

from compendium import datasets
from sensorrelease.recordings import read_recordings, user_windows
from sensorrelease.schema import load, save

NAMES = {1: "ann", 2: "bob"}


def labelled(samples=30):
    """Return one long table: two people, two activities, two sessions."""
    draw, parts = np.random.default_rng(0), []
    for person in (1, 2):
        for activity in ("walk", "run"):
            for session in (1, 2):
                signal = {name: draw.normal(person, 1, samples).round(3) for name in ("gx", "ax")}
                labels = {"person": person, "activity": activity, "session": session, "gender": "fm"[person % 2]}
                parts.append(pd.DataFrame({"t": np.arange(samples) / 50, **signal, **labels, "note": "x"}))
    return pd.concat(parts, ignore_index=True)


def write(table, path):
    path.parent.mkdir(exist_ok=True)
    table.to_parquet(path, index=False) if path.suffix == ".parquet" else table.to_csv(path, index=False)
    return path.parent


@pytest.fixture
def rec(tmp_path, declare):
    """Return the folder with one long table, and its schema beside it."""
    return declare(write(labelled(), tmp_path / "rec" / "all.csv"), "--recording", "session", "--hide", "gender")


def edit(rec, **keys):
    """Change what the schema says of the recordings."""
    path = rec.with_name(f"{rec.name}.schema.yaml")
    schema = load(path)
    save(schema.model_copy(update={"recordings": schema.recordings.model_copy(update=keys)}), path)


def test_one_long_table(rec):
    found = user_windows(rec, length=10, stride=5)
    assert found.values.shape == (8 * 5, 2, 10)
    # the second window of the first recording begins at its fifth sample; no window spans two recordings
    np.testing.assert_allclose(found.values[1, 0], labelled()["gx"][5:15], rtol=1e-6)
    assert set(found.private["gender"]) == {"f", "m"}
    assert set(found.subject) == {"1", "2"}
    assert found.provenance["channels"] == ["gx", "ax"]
    assert found.provenance["rate"] == 50


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_for_each_recording_gives_the_same(kind, rec, tmp_path, declare):
    expected = user_windows(rec, length=10, stride=5)
    for keys, part in labelled().groupby(["person", "activity", "session"], sort=False):
        signal = part[["t", "gx", "ax", "note"]]
        write(signal, tmp_path / "many" / f"{keys[1]}_{NAMES[keys[0]]}_{keys[2]}.{kind}")
    people = pd.DataFrame({"person": ["ann", "bob"], "gender": ["m", "f"]})
    people.to_csv(tmp_path / "many" / "people.csv", index=False)
    found = user_windows(declare(tmp_path / "many"), length=10, stride=5)
    key = lambda windows: sorted(map(bytes, windows.values))  # noqa: E731 (one expression)
    assert key(found) == key(expected)
    assert dict(zip(found.subject, found.private["gender"], strict=True)) == {"ann": "m", "bob": "f"}
    assert found.trial.nunique() == 2


def test_the_schema_or_the_folder_name_recordings(rec):
    expected = user_windows(rec, length=10, stride=5)
    path = f"{rec}.schema.yaml"
    assert user_windows(path, length=10, stride=5).digest == expected.digest
    assert datasets.windows(path, length=10, stride=5).digest == expected.digest
    with pytest.raises(TypeError, match=r"no option 'length_'. Did you mean .length"):
        datasets.windows(path, length_=10)
    with pytest.raises(ValueError, match=r"descriptions in TOML are no longer read. Draft a schema .* sensorprivacy"):
        user_windows(rec.with_name("rec.toml"))


def test_a_wrong_cell_is_named_with_file_line_and_column(rec):
    table = labelled().astype({"ax": object})
    table.loc[3, "ax"] = "fast"
    write(table, rec / "all.csv")
    with pytest.raises(ValueError, match=r"rec/all\.csv, line 5, column 'ax': 'fast' is no number: correct the cell"):
        user_windows(rec)
    table.loc[3, "ax"] = 1e30
    write(table, rec / "all.csv")
    with pytest.raises(ValueError, match=r"line 5, column 'ax': 1e\+30 is outside"):
        user_windows(rec)


def test_a_file_with_other_columns_is_named(rec):
    edit(rec, files="*.csv")
    write(labelled().drop(columns="ax"), rec / "more.csv")
    with pytest.raises(ValueError, match=r"more\.csv has no column 'ax', which the schema declares"):
        user_windows(rec)
    write(labelled().assign(mood=1), rec / "more.csv")
    with pytest.raises(ValueError, match=r"more\.csv has columns that the schema does not declare: 'mood'"):
        user_windows(rec)


def test_equal_recordings_in_two_files_are_refused(rec):
    """REVIEW A9: windows spanned both files, and both counted as one recording."""
    edit(rec, files="*.csv")
    write(labelled(), rec / "more.csv")
    with pytest.raises(ValueError, match=r"more\.csv, line 2: the recording with person 1, session 1, activity walk"):
        user_windows(rec)


def test_an_activity_that_returns_within_a_session_is_cut_apart(rec):
    """Its two parts have one trial, so that no split tears them apart."""
    first = labelled().query("person == 1 and session == 1")
    late = first[first["activity"] == "walk"].assign(t=lambda rows: rows["t"] + 9)
    write(pd.concat([first, late, labelled().query("person == 2")]), rec / "all.csv")
    found = read_recordings(rec)
    assert len(np.bincount(found.run)) == 7
    assert set(found.windows(10, 5).trial) == {"1", "2"}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"files": "no*.csv"}, "there is no file 'no\\*.csv'"),
        ({"names": "{activity}_{person}.csv"}, r"the file name 'all\.csv' does not fit names: \{activity\}_\{person\}"),
        ({"people": "who.csv"}, "who.csv"),
    ],
)
def test_what_is_wrong_with_the_layout_is_named(rec, keys, words):
    edit(rec, **keys)
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        user_windows(rec, length=10)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rate: 50.0", "rate: 0", r"recordings: rate \('0'\): Input should be greater than 0"),
        ("rate: 50.0", "rate: fast", r"recordings: rate \('fast'\)"),
        ("files: all.csv", "file: all.csv", r"recordings: file \('all.csv'\): is no key of a schema"),
        ("files: all.csv", "files: ../all.csv", "recordings: '../all.csv' leads out of the folder"),
        ("files: all.csv", "files: /all.csv", "recordings: '/all.csv' leads out of the folder"),
        ("  gap:", "  people: ../who.csv\n  gap:", "recordings: '../who.csv' leads out of the folder"),
        ("  gap:", "  names: '{day}.csv'\n  gap:", "names of files have the label 'day', which is no field"),
        ("  gap:", "  names: '{a}_{a}.csv'\n  gap:", "names needs each label once"),
        ("  unit: s", "  unit: h", "t has the unit 'h': times have one of s, ms, us, ns"),
    ],
)
def test_each_wrong_key_is_named(rec, old, new, words):
    path = rec.with_name("rec.schema.yaml")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=words) as caught:
        user_windows(rec, length=10)
    assert "rec.schema.yaml" in str(caught.value)


@pytest.mark.parametrize("at", ["file", "people"])
def test_no_link_leads_out_of_the_folder(rec, tmp_path, at):
    """Issue 57: each path goes through one function, which follows symbolic links."""
    (tmp_path / "secret.csv").write_text("person,mood\n1,2\n")
    (rec / "link.csv").symlink_to(tmp_path / "secret.csv")
    edit(rec, **({"files": "*.csv"} if at == "file" else {"people": "link.csv"}))
    with pytest.raises(ValueError, match=r"link\.csv leads out of"):
        user_windows(rec, length=10)


def test_private_attributes_are_constant_and_of_several_people(rec):
    write(labelled().assign(gender=lambda table: np.where(table.index == 3, "f", table["gender"])), rec / "all.csv")
    with pytest.raises(ValueError, match="'gender' changes within a recording"):
        user_windows(rec, length=10)
    more = labelled().query("person == 2").assign(person=3, gender="m")
    write(pd.concat([labelled(), more]), rec / "all.csv")
    with pytest.warns(UserWarning, match="one person only has gender f: a model of gender can recognize that person"):
        user_windows(rec, length=10)


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ("person,mood\n1,a\n", "the table of people lists no person 2, who is in .*all.csv: add a row"),
        ("person,mood\n1,a\n2,b\n1,c\n", "people.csv lists the person 1 more than once"),
        ("name,mood\n1,a\n", "people.csv has columns that the schema does not declare: 'name'"),
    ],
)
def test_the_table_of_people_has_one_row_for_each(people, words, rec, tmp_path, declare):
    (rec / "people.csv").write_text("person,mood\n1,a\n2,b\n")
    declare(rec, "--recording", "session", "--hide", "gender")
    assert set(user_windows(rec, length=10).private) == {"gender", "mood"}
    (rec / "people.csv").write_text(people)
    with pytest.raises(ValueError, match=words):
        user_windows(rec, length=10)


def test_short_recordings_are_named(rec):
    with pytest.raises(ValueError, match="has 64 samples; the longest has 30"):
        user_windows(rec, length=64)
    short = labelled().groupby(["person", "activity", "session"]).cumcount() < 9
    write(labelled()[(labelled()["person"] != 2) | short], rec / "all.csv")
    with pytest.warns(UserWarning, match=r"4 recordings are shorter than a window of 10 .*1 people have no window: 2"):
        assert set(user_windows(rec, length=10, stride=5).subject) == {"1"}


def test_only_the_files_of_the_schema_count(rec):
    """REVIEW E14: a video beside the recordings was hashed, too."""
    before = user_windows(rec, length=10).provenance["digest"]
    (rec / "film.mp4").write_bytes(b"0" * 1000)
    assert user_windows(rec, length=10).provenance["digest"] == before
    write(labelled().assign(note="y"), rec / "all.csv")
    assert user_windows(rec, length=10).provenance["digest"] != before


def test_a_table_is_no_folder_of_recordings(tmp_path, rec):
    with pytest.raises(ValueError, match="holds recordings, and this needs a table"):
        datasets.problem(rec, task="activity", user="person")
    rec.with_name("rec.schema.yaml").write_text(
        "fields: [{name: a, role: user}, {name: b, role: task, constraints: {enum: [a]}}]"
    )
    with pytest.raises(ValueError, match=r"the schema of .*rec describes a table"):
        user_windows(rec)
