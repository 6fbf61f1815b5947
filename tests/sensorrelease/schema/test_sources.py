"""The files of a folder of recordings: which are read, what their names say, and where a row lies."""

import pytest

from sensorrelease.schema.dialect import Recordings
from sensorrelease.schema.model import Field, Schema
from sensorrelease.schema.sources import Files, check_columns, check_folder, labels_in, recorded_files

GIVEN = Recordings(files="**/*.csv", rate=10, people="people.csv")


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.csv", ".hidden.csv", "people.csv", "~$a.csv", "__MACOSX/a.csv", "deep/c.csv"):
        (tmp_path / "rec" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "rec" / name).write_text("x\n1\n2\n")
    return tmp_path / "rec"


def test_hidden_files_people_and_our_own_results_are_no_recordings(folder):
    (folder / "out").mkdir()
    (folder / "out" / "data.csv").write_text("x\n1\n")
    (folder / "out" / "card.json").write_text('{"format": "sensorprivacy-card-1"}')
    found = [file.relative_to(folder).as_posix() for file in recorded_files(folder, GIVEN)]
    assert found == ["a.csv", "b.csv", "deep/c.csv"]


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path):
    (tmp_path / "secret.csv").write_text("x\n1\n")
    (folder / "z.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(ValueError, match=r"z\.csv leads out of .*copy the file into the folder"):
        recorded_files(folder, GIVEN)


def test_a_folder_that_is_none_and_one_without_recordings(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_folder(tmp_path / "none")
    with pytest.raises(ValueError, match=r"a\.csv is a file"):
        check_folder(folder / "a.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file '\*\.txt'"):
        recorded_files(folder, GIVEN.model_copy(update={"files": "*.txt"}))


def test_a_name_that_does_not_fit_is_named(tmp_path):
    assert labels_in(tmp_path / "walk_ann.csv", None) == {}
    with pytest.raises(ValueError, match=r"'walk_ann_1\.csv' does not fit names: \{activity\}_\{person\}\.csv"):
        labels_in(tmp_path / "walk_ann_1.csv", "{activity}_{person}.csv")


def test_a_row_is_found_in_its_file(folder):
    schema = Schema(name="x", format="csv", fields=[Field(name="x", type="string")], recordings=GIVEN)
    files = Files(folder, schema)
    rows = [row for batch in files.batches(1, None) for row in batch.columns["x"].to_pylist()]
    assert rows == ["1", "2"] * 3
    assert files.where(0).endswith("a.csv, line 2")
    assert files.where(3).endswith("b.csv, line 3")


@pytest.mark.parametrize(
    ("found", "said"), [(["x", "y"], "does not declare: 'y'"), (["y"], "'y'"), ([], "has no column 'x'")]
)
def test_columns_are_exactly_the_declared_ones(found, said):
    check_columns(["x"], ["x"], "home.csv")
    with pytest.raises(ValueError, match=said):
        check_columns(found, ["x"], "home.csv")
