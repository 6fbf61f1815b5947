"""Tables as people have them are read, or refused with a reason that names the remedy."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sensorrelease.read.formats import read_table
from sensorrelease.tables import load_table

_SPEC = importlib.util.spec_from_file_location("messy_inputs", Path(__file__).parents[2] / "bench" / "messy_inputs.py")
messy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(messy)

COPY = "'owner' under another name: its value alone identifies the user"
LEFT_OUT = {
    "an unnamed index column": {"Unnamed: 0": "row numbers"},
    "row numbers": {"record_id": "row numbers"},
    "UUIDs": {"uuid": "UUIDs"},
    "e-mail addresses": {"mail": "e-mail addresses"},
    "MAC addresses": {"device": "MAC addresses"},
    "IP addresses": {"source": "IP addresses"},
    "timestamps": {"time": "points in time"},
    "dates, day first": {"day": "points in time"},
    "integers beyond 2^53": {"serial": "points in time"},
    "clock times of one day": {"clock": "texts that differ in nearly every row"},
    "times in words": {"when": "points in time"},
    "seconds since 1970, unsorted": {"seen": "points in time"},
    "e-mail addresses, some of them none": {"mail": "e-mail addresses"},
    "cards of which each belongs to one person": {"card": COPY},
    "a copy of the user in capitals": {"name": COPY},
    "vehicle numbers": {"car": "vehicle identification numbers"},
    "telephone numbers": {"phone": "telephone numbers"},
    "bank accounts": {"account": "IBANs"},
    "free text": {"remark": "texts that differ in nearly every row"},
    "positions": {"lat": "geographic positions", "lon": "geographic positions"},
}
NOTICES = {
    "missing numbers": "missing values are filled with the median .*: load \\(31\\)",
    "missing texts": "missing texts are a category of their own: mode \\(31\\)",
    "? for missing numbers": "missing values are filled .*: temp \\(31\\)",
    "missing numbers, --missing drop": "31 rows with missing values are dropped: load \\(31\\)",
    "truth values in words, some missing": "missing texts are a category of their own: door \\(80\\)",
    "infinite numbers": "missing values are filled .*: load \\(4\\)",
    "an empty column": "columns without information are dropped: note",
    "a constant column": "columns without information are dropped: floor",
    "rows without task": "13 rows without task \\(room\\) are dropped",
    "rows without user": "13 rows without user \\(owner\\) are dropped",
    "a user with one row": r"set aside: 1 row of owner \.\.\. ",
    "a class with one row": "set aside: 1 row of room attic ",
}
REFUSED = {
    "JSON lines with nested values": "column 'load' has nested values: give each of them a column of its own",
    "missing numbers, --missing error": "column 'load' has 31 missing values of 240: .* missing='impute'",
    "one user": "column 'owner' has fewer than two different values with 2 rows or more",
    "a continuous task": "'load' has .* numbers in 240 rows, and no classes: divide it in classes with bins=4",
    "two columns of one name": "more than one column named load: rename them",
    "an old Excel file": r"home\.xls has an unknown format: save it as \.xlsx or \.csv",
}


def options(words):
    """Return the options of the command as those of `load_table`."""
    given = {name.strip("-"): value for name, value in zip(words[::2], words[1::2], strict=True)}
    given = {name: [value] if name in ("keep", "drop") else value for name, value in given.items()}
    return {"task": "room", "user": "owner"} | given


def read(name, folder):
    """Return what Python reads of an input, which is as expected."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messy, "load_table", lambda *file, **words: found.append(load_table(*file, **words)) or found[-1])
        assert messy.doors(name, folder, ["Python"]) == {"Python": "ok"}
    return found[-1]


FIRST = list(messy.INPUTS)[:61]


def test_there_are_enough_inputs_and_each_has_an_expected_outcome():
    assert len(messy.INPUTS) + len(messy.RECORDINGS) >= 120
    assert set(LEFT_OUT) | set(NOTICES) | set(REFUSED) | set(messy.EXPECTED) <= set(messy.INPUTS)
    assert len(FIRST) == 61


@pytest.mark.parametrize("name", [name for name in messy.INPUTS if name not in FIRST or name in REFUSED])
def test_python_reads_what_was_written_or_refuses_it(name, tmp_path):
    assert messy.doors(name, tmp_path, ["Python"]) == {"Python": "ok"}


@pytest.mark.parametrize("name", messy.RECORDINGS)
def test_recordings_are_read_as_written_or_refused(name, tmp_path):
    readable = messy.RECORDINGS[name][2].isdigit()  # these are trained on by the bench
    chosen = ["Python", "minimize"] if readable else messy.DOORS
    assert set(messy.recorded(name, tmp_path, chosen).values()) == {"ok"}


@pytest.mark.parametrize("name", [name for name in FIRST if name not in REFUSED])
def test_a_messy_input_becomes_a_problem(name, tmp_path):
    found = read(name, tmp_path)
    problem = found.problem
    facts = problem.provenance
    assert facts["left_out"] == LEFT_OUT.get(name, {})
    said = " | ".join(facts["notices"])
    if name in NOTICES:
        assert pd.Series([said]).str.contains(NOTICES[name]).all(), said
    else:
        assert not said
    clean = messy.table()
    filled = problem.filled(np.arange(100)).features
    assert np.isfinite(filled.to_numpy(dtype=float)).all()
    for column in {"load", "voice", "temp"} & set(filled) - {problem.task.name}:
        whole = problem.features[column].notna().to_numpy()
        rows = found.rows if len(whole) < len(clean) else np.arange(len(clean))
        np.testing.assert_allclose(problem.features[column][whole], clean[column].iloc[rows][whole])
    listed = {row["column"]: row for row in facts["columns"]}
    assert {row["used"] for row in listed.values()} == {"task", "user", "feature"} | (
        {"no"} if facts["left_out"] or facts["dropped"] else set()
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_an_unclear_input_is_refused_with_a_remedy(name, tmp_path):
    write, words = messy.INPUTS[name]
    file = write(messy.table(), tmp_path)
    with pytest.raises(ValueError, match=REFUSED[name]):
        load_table(file, **options(words))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Windows-1252", "CSV with , in Windows-1252"),
        ("UTF-16, tabs (Excel's Unicode text)", "CSV with tabs in UTF-16"),
        ("first line sep=; from a spreadsheet", "CSV with ; in UTF-8"),
        ("gzip", "CSV with , in UTF-8, gzip"),
        ("JSON lines, gzip", "JSON lines in UTF-8, gzip"),
        ("Excel", "Excel"),
        ("Feather", "Feather"),
    ],
)
def test_the_form_of_a_file_is_reported(name, form, tmp_path):
    write, _ = messy.INPUTS[name]
    table = read_table(write(messy.table(), tmp_path))
    assert table.attrs["form"] == form
    assert set(table["owner"]) == {"ann", "bob", "cy", "dee"}
    if name == "Windows-1252":
        assert "5 €" in set(table["mode"])


def test_kept_times_and_truth_values_are_parsed(tmp_path):
    found = read("timestamps, --keep", tmp_path).problem
    assert found.features["time"].diff().dropna().eq(37 * 60).all()
    found = read("truth values in words, some missing", tmp_path).problem
    assert found.features["door"].iloc[:2].tolist() == [2, 1]
    listed = {row["column"]: row for row in found.provenance["columns"]}
    assert listed["door"] == {
        "column": "door", "read": "texts", "used": "feature", "missing": 80,
        "coded": "numbers of 3 categories in sorted order, first the missing ones",
    }  # fmt: skip


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_other_libraries_give_the_same_problem(library):
    clean = messy.table()
    other = pytest.importorskip(library)
    frame = other.from_pandas(clean) if library == "polars" else other.Table.from_pandas(clean)
    expected = load_table(clean, task="room", user="owner").problem
    found = load_table(frame, task="room", user="owner").problem
    pd.testing.assert_frame_equal(found.features, expected.features, check_dtype=False)
    assert found.task.tolist() == expected.task.tolist()
    with pytest.raises(TypeError, match="must be a pandas, polars or Arrow table, or a path, got dict"):
        load_table({}, task="room", user="owner")


def test_missing_values_are_filled_from_training_rows_only():
    table = messy.table().assign(load=lambda frame: frame["load"].where(frame.index % 4 != 0))
    problem = load_table(table, task="room", user="owner").problem
    train = np.arange(0, 60)
    filled = problem.filled(train)
    assert filled.features["load"][200] == table["load"][:60].median()
    assert filled.filled(np.arange(5)) is filled
    table.loc[100:, "load"] *= 10  # held-out values do not matter
    again = load_table(table, task="room", user="owner").problem.filled(train)
    assert again.features["load"][200] == filled.features["load"][200]


def test_a_task_of_numbers_can_be_divided():
    problem = load_table(messy.table(), task="load", user="owner", bins=3).problem
    assert sorted(problem.task.value_counts()) == [80, 80, 80] or problem.task.nunique() == 3
    with pytest.raises(ValueError, match="bins=1: give 2 or more classes"):
        load_table(messy.table(), task="load", user="owner", bins=1)


def test_a_missing_extra_is_named_with_its_remedy(tmp_path, monkeypatch):
    write, _ = messy.INPUTS["Excel"]
    file = write(messy.table(), tmp_path)

    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("sensorrelease.read.whole.importlib.import_module", absent)
    with pytest.raises(ModuleNotFoundError, match="needs openpyxl: pip install openpyxl,"):
        read_table(file)
