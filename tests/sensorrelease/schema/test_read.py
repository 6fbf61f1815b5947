"""A table has the columns of its schema; its cells are counted; pieces are the whole."""

import pandas as pd
import pytest

from sensorrelease.schema import Pieces, read

HEAD = "load,room,owner"
ROWS = [f"{k * 37 % 61 / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
FRAME = pd.DataFrame([row.split(",") for row in ROWS], columns=HEAD.split(",")).astype({"load": float})


def test_columns_of_file_and_schema_must_agree(tmp_path, home):
    file = home.write(tmp_path, ["load,room,owner,mail", "1,hall,P1,x"])
    with pytest.raises(ValueError, match="columns that the schema does not declare: 'mail'"):
        read(file, home.schema())
    file = home.write(tmp_path, ["load,room", "1,hall"])
    with pytest.raises(ValueError, match="no column 'owner', which the schema declares"):
        read(file, home.schema())
    file = home.write(tmp_path, ["load,load,room,owner", "1,1,hall,P1"])
    with pytest.raises(ValueError, match=r"'load' .columns 1, 2.: rename them"):
        read(file, home.schema())


def test_a_table_without_rows_is_an_error(tmp_path, home):
    for lines in ([HEAD], [HEAD, ""]):
        with pytest.raises(ValueError, match="no rows below its header"):
            read(home.write(tmp_path, lines), home.schema())
    (tmp_path / "empty.csv").touch()
    with pytest.raises(ValueError, match="is empty"):
        read(tmp_path / "empty.csv", home.schema())
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv", home.schema())
    with pytest.raises(ValueError, match="a folder"):
        read(tmp_path, home.schema())


def test_nonconforming_cells_are_counted_if_the_schema_says_so(tmp_path, home):
    known = home.schema()
    fields = [known.fields[0].model_copy(update={"nonconforming": "missing"}), *known.fields[1:]]
    file = home.write(tmp_path, [HEAD, "x,hall,P1", "1e9,hall,P1", ",hall,P2", "3,bath,P2"])
    found = read(file, known.model_copy(update={"fields": fields}))
    assert found.nonconforming == {"load": 2}
    assert found.missing == {"load": 1}
    assert found.frame["load"].count() == 1
    assert found.notices == ["1 missing cell in load", "2 cells of load did not conform: now missing"]


@pytest.mark.parametrize("rows", [1, 7, 60])
def test_pieces_are_the_whole_table(tmp_path, rows, home):
    parts = Pieces(home.write(tmp_path, [HEAD, *ROWS]), home.schema(), rows)
    for _ in range(2):
        pd.testing.assert_frame_equal(pd.concat(parts), FRAME, check_dtype=False)
    assert parts.rows == 60
