"""A draft guesses how a table is read, and withholds whatever is unclear: public reports, one by one."""

import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from sensorrelease.schema import describe, draft, read
from sensorrelease.schema.gate import released

DRAW = np.random.default_rng(0)
ROWS = 240
ROOM, WHO = DRAW.integers(0, 2, ROWS), DRAW.integers(0, 4, ROWS)
FRAME = pd.DataFrame(
    {
        "load": (1000 + 300 * ROOM + DRAW.normal(0, 60, ROWS)).round(1),
        "temp": DRAW.normal(20, 2, ROWS).round(1),
        "mode": DRAW.choice(["eco", "auto", "boost"], ROWS),
        "room": np.where(ROOM, "kitchen", "hall"),
        "owner": np.array(["P01", "P02", "P03", "P04"])[WHO],
    }
)
TEXT = FRAME.to_csv(index=False)


def table(**columns):
    return FRAME.assign(**columns)


def written(tmp_path, text, name="home.csv"):
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def opened(tmp_path, text, **roles):
    """Return the schema and the table of a text."""
    file = written(tmp_path, text)
    schema = draft(file, **({"task": "room", "user": "owner"} | roles))
    return schema, read(file, schema)


def csv(frame, **options):
    return frame.to_csv(index=False, **options)


def test_a_plain_table_leaves_without_its_user(tmp_path):
    schema, found = opened(tmp_path, TEXT)
    assert [field.name for field in schema.released] == ["load", "temp", "mode", "room"]
    assert (schema.task, schema.user, schema.k, schema.name) == ("room", "owner", 4, "data")
    assert schema.field("mode").constraints.enum == ["auto", "boost", "eco"]
    assert schema.field("load").step == 0.1
    assert "eco (4 users)" in describe(schema)
    pd.testing.assert_frame_equal(found.frame, FRAME, check_dtype=False)


# -- how a file is written: lines above, beside and below the table
ABOVE = {
    "InfluxDB": "#group,false,true,,\n#datatype,string,long,,\n#default,_result,,,\n",
    "comments with names": "# exported for Anna Example\n# 48.13712,11.57553\n",
    "a line about the data": "com.samsung.health,6310003,5\n",
    "a title": "Activities\n",
    "a spreadsheet's mark": "sep=,\n",
    "a phone": "WigleWifi-1.4,appRelease=2.26,model=phone,release=10\n",
}


@pytest.mark.parametrize("kind", [*ABOVE])
def test_lines_above_the_header_are_skipped(tmp_path, kind):
    _, found = opened(tmp_path, ABOVE[kind] + TEXT)
    assert found.frame.shape == FRAME.shape


def test_units_below_the_header_are_skipped(tmp_path):
    head, rows = TEXT.split("\n", 1)
    schema, found = opened(tmp_path, f"{head}\nW,degC,,,\n{rows}")
    assert found.frame.shape == FRAME.shape
    assert schema.dialect.commentRows == [2]
    toa5 = '"TOA5","6843","CR3000","1","2"\n'
    assert opened(tmp_path, f"{toa5}{head}\nW,degC,,,\nAvg,Smp,,,\n{rows}")[1].frame.shape == FRAME.shape


def test_headers_of_several_lines_are_joined(tmp_path):
    schema, found = opened(tmp_path, TEXT.replace("load,temp,mode,room,owner", "acc,acc,mode,room,owner\nmean,std,,,"))
    assert schema.names[:2] == ["acc mean", "acc std"]
    assert len(found.frame) == ROWS
    with pytest.raises(ValueError, match="it has net nose x, net nose y"):
        opened(tmp_path, TEXT.replace("load,temp,mode,room,owner", "net,net,net,net,net\nnose,nose,a,b,c\nx,y,z,l,l"))


def test_delimiters_at_the_end_of_rows_are_no_cells(tmp_path):
    lines = TEXT.strip().split("\n")
    for text in ("\n".join([lines[0] + ",", *lines[1:]]), "\n".join([lines[0], *(row + "," for row in lines[1:])])):
        assert opened(tmp_path, text)[1].frame.shape == FRAME.shape


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("load,temp", "Value,Value", r"'Value' .columns 1, 2.: rename them"),
        ("load,temp", "load,temp,more,again", "line 2 has 5 cells, but the header has 7 names, as the lines below it"),
        ("load,temp,mode,room,owner\n", "", "line 1, where the header is"),
        ("load,", "", "line 2 has 5 cells, but the header has 4 names"),
        ("load", "power", None),
    ],
)
def test_a_header_that_does_not_fit_is_named(tmp_path, old, new, said):
    if said is None:
        assert opened(tmp_path, TEXT.replace(old, new, 1))[0].names[0] == new
        return
    with pytest.raises(ValueError, match=said):
        opened(tmp_path, TEXT.replace(old, new, 1))


def test_a_second_table_is_named(tmp_path):
    with pytest.raises(ValueError, match="line 242 has 3 cells"):
        opened(tmp_path, f"{TEXT}a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match="line 242 repeats the header"):
        opened(tmp_path, TEXT + TEXT)
    book = openpyxl.Workbook()
    for row in csv(FRAME).strip().split("\n"):
        book.active.append([*row.split(","), None, "badge"])
    book.save(tmp_path / "home.xlsx")
    with pytest.raises(ValueError, match="no name in the header of column 6"):
        draft(tmp_path / "home.xlsx", "room", "owner")


def test_line_breaks_in_cells_are_part_of_them(tmp_path):
    texts = [f"run {k % 9}\nwith friends, rain" for k in range(ROWS)]
    schema, found = opened(tmp_path, csv(table(description=texts)))
    assert len(found.frame) == ROWS
    assert schema.field("description").role == "withheld"


def test_other_formats_end_in_one_line(tmp_path):
    for name in ("home.json", "home.xls", "home.zip", "home.parquet.gz", "home"):
        with pytest.raises(ValueError, match="unknown format"):
            draft(written(tmp_path, TEXT, name), "room", "owner")
    with pytest.raises(ValueError, match="not text"):
        draft(written(tmp_path, b"\0" * 9000, "home.csv"), "room", "owner")


# -- how cells are written
LABELS = [["1E5", "100000", "2E3", "2000"], ["12E999", "0047E590003", "0100", "100"], ["1", "1.0", "01", "1.00"]]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_labels_that_look_like_numbers_stay_apart(tmp_path, labels, ending):
    frame = table(owner=np.array(labels)[WHO])
    text = csv(frame) if ending == "csv" else frame.to_json(orient="records", lines=True)
    file = written(tmp_path, text, f"home.{ending}")
    assert {*read(file, draft(file, "room", "owner")).frame["owner"]} == {*labels}
    task = csv(table(room=np.where(ROOM, "12E4", "120E3")))
    assert draft(written(tmp_path, task), "room", "owner").field("room").constraints.enum == ["120E3", "12E4"]


UNITS = {
    "percent": ([f"{x / 20:.1f}%" for x in FRAME["load"]], "%"),
    "watt": ([f"{x} W" for x in FRAME["load"]], "W"),
    "degrees": ([f"{x} °C" for x in FRAME["load"]], "°C"),
}


@pytest.mark.parametrize("kind", [*UNITS])
def test_units_in_cells_are_declared(tmp_path, kind):
    cells, unit = UNITS[kind]
    schema, found = opened(tmp_path, csv(table(load=cells)))
    assert (schema.field("load").unit, schema.field("load").role) == (unit, "feature")
    assert found.frame["load"].notna().all()


UNCLEAR = {
    "two units": ([f"{x / 1000:.2f} kW" if x > 1200 else f"{x} W" for x in FRAME["load"]], "several units: 'kW', 'W'"),
    "hexadecimal": ([hex(int(x)) for x in FRAME["load"]], "hexadecimal numbers"),
    "pace": ([f"{int(x) // 200}:{int(x) % 60:02d}" for x in FRAME["load"]], "it holds times"),
    "maps": ([f"map[unit:W value:{x}]" for x in FRAME["load"]], "fewer than 4 users"),
    "thousands": ([f"{int(x):,}" for x in FRAME["load"]], "can mean thousands or decimals"),
    "brackets": ([f"({x})" if x < 1000 else str(x) for x in FRAME["load"]], "most of its cells are numbers, but"),
    "sizes": ([f"{x:.0f}/2" for x in FRAME["load"]], "it holds times"),
}


@pytest.mark.parametrize("kind", [*UNCLEAR])
def test_an_unclear_column_is_withheld_with_the_reason(tmp_path, kind):
    cells, said = UNCLEAR[kind]
    schema, _ = opened(tmp_path, csv(table(load=cells, temp=FRAME["temp"].round().astype(int))))
    assert schema.field("load").role == "withheld"
    assert said in schema.field("load").why


def test_the_true_minus_and_decimal_commas_are_numbers(tmp_path):
    lower = FRAME["load"] - 1200
    for text in (
        csv(table(load=lower)).replace("-", "\u2212"),
        csv(table(load=lower), sep=";", decimal=","),
        csv(table(load=lower).map(lambda cell: f"{cell:,}" if isinstance(cell, float) else cell)),
    ):
        schema, found = opened(tmp_path, text)
        assert schema.field("load").role == "feature"
        np.testing.assert_allclose(found.frame["load"], lower)


@pytest.mark.parametrize("word", ["Null", "unavailable", "--", "n/a", "#DIV/0!", "NaN", "Infinity", "-999", "-999.0"])
def test_words_and_marks_among_numbers_are_missing_and_counted(tmp_path, word):
    cells = [word if k % 30 == 0 else str(x) for k, x in enumerate(FRAME["temp"])]
    schema, found = opened(tmp_path, csv(table(temp=cells)))
    assert schema.field("temp").role == "feature"
    assert found.missing == {"temp": 8}
    assert found.notices == ["8 missing cells in temp"]


def test_a_number_far_from_all_others_is_missing_and_counted(tmp_path):
    temp = FRAME["temp"].mask(FRAME.index == 9, 490154203237518)
    schema, found = opened(tmp_path, csv(table(temp=temp)))
    assert schema.field("temp").constraints.maximum < 40
    assert found.nonconforming == {"temp": 1}


# -- what may leave
def test_spellings_of_a_user_are_one_user_with_a_notice(tmp_path):
    names = np.array(["Jörg", "Zoë", "Ann", "Bo"])[WHO]
    odd = np.where(np.arange(ROWS) % 9 == 0, np.char.upper(np.char.add(names, " ")), names)
    odd = np.where(np.arange(ROWS) % 9 == 1, np.char.replace(odd, "ö", "o\u0308"), odd)
    _, found = opened(tmp_path, csv(table(owner=odd)))
    assert found.frame["owner"].nunique() == 4
    assert found.notices == ["5 further spellings of users count as the same users"]


def test_levels_of_few_users_become_other(tmp_path):
    mode = FRAME["mode"].mask(FRAME.index.isin([3, 9]), "anna@example.org")
    schema, found = opened(tmp_path, csv(table(mode=mode)))
    assert schema.field("mode").nonconforming == "other"
    assert found.frame["mode"].value_counts()["other"] == 2
    assert found.notices == ["2 cells of mode did not conform: now other"]


def test_missing_users_are_missing_and_marks_are_named(tmp_path):
    owner = FRAME["owner"].mask(FRAME.index < 5, "").mask(FRAME["owner"] == "P04", "NA")
    schema, found = opened(tmp_path, csv(table(owner=owner)))
    assert found.missing == {"owner": int((owner == "").sum())}
    assert "'NA' count as labels" in schema.field("owner").why


HEADERS = [
    "a4:c1:38:0f:2b:77 power",
    "annas_iphone_battery",
    "temp SN-4711 (48.13712, 11.57553)",
    "lamp of P03",
    "x" * 60,
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_may_identify_leaves_under_a_neutral_title(tmp_path, header):
    schema, _ = opened(tmp_path, csv(FRAME.rename(columns={"load": header})))
    assert schema.field(header).title == "x1"


@pytest.mark.parametrize("header", ["lat", "homeLon", "dob", "serial_no", "Vorname", "comment", "hour"])
def test_a_header_of_places_times_or_persons_withholds_its_column(tmp_path, header):
    schema, _ = opened(tmp_path, csv(FRAME.rename(columns={"load": header})))
    assert schema.field(header).role == "withheld"


@pytest.mark.parametrize("header", ["lat_acc", "KWH/hh (per half hour)", "Flow Duration", "heart_rate", "sensor.power"])
def test_a_header_of_a_measurement_leaves(tmp_path, header):
    schema, _ = opened(tmp_path, csv(FRAME.rename(columns={"load": header})))
    assert schema.field(header).title == header
    assert schema.field(header).role == "feature"


def test_a_measurement_that_identifies_is_withheld_unless_no_data_leave(tmp_path):
    file = written(tmp_path, csv(table(voice=(WHO + DRAW.normal(0, 0.2, ROWS)).round(2))))
    voice = draft(file, "room", "owner").field("voice")
    assert voice.role == "withheld"
    assert "of the same user" in voice.why or "identifies the user of" in voice.why
    assert voice.step == 0.01  # so that one word lets it leave
    assert draft(file, "room", "owner", identifying=True).field("voice").role == "feature"


def test_a_task_that_names_or_follows_users_is_refused(tmp_path):
    for task in (FRAME["owner"] + " at home", np.array(["a", "b", "c", "d"])[WHO]):
        with pytest.raises(ValueError, match="the task column 'room'"):
            opened(tmp_path, csv(table(room=task)))
    with pytest.raises(ValueError, match="has no column 'rooms'; it has load"):
        opened(tmp_path, TEXT, task="rooms")
    with pytest.raises(ValueError, match="must be different"):
        opened(tmp_path, TEXT, task="owner")
    with pytest.raises(ValueError, match="has 1 user"):
        opened(tmp_path, csv(table(owner="P01")))


def test_a_task_of_numbers_has_a_range(tmp_path):
    schema, _ = opened(tmp_path, TEXT, task="load")
    assert schema.field("load").type == "number"
    assert schema.field("load").constraints.maximum == FRAME["load"].max()


def test_a_draft_does_not_depend_on_the_format(tmp_path):
    known = draft(written(tmp_path, TEXT), "room", "owner").fields
    FRAME.to_parquet(tmp_path / "home.parquet")
    FRAME.to_feather(tmp_path / "home.feather")
    FRAME.to_excel(tmp_path / "home.xlsx", index=False)
    FRAME.to_json(tmp_path / "home.jsonl", orient="records", lines=True)
    for ending in ("parquet", "feather", "xlsx", "jsonl"):
        assert draft(tmp_path / f"home.{ending}", "room", "owner").fields == known
    assert draft(FRAME, "room", "owner").fields == known
    assert draft(pd.read_csv(io.StringIO(TEXT), dtype_backend="pyarrow"), "room", "owner").fields == known


def test_rows_that_occur_twice_do_not_find_themselves(tmp_path):
    schema, _ = opened(tmp_path, csv(pd.concat([FRAME, FRAME])))
    assert schema.field("load").role == "feature"


def test_a_long_header_leaves_under_a_short_title():
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"load " * 40: draw.normal(size=90).round(2), "room": ["a", "b", "c"] * 30})
    schema = draft(table.assign(who=draw.integers(5, size=90)), "room", "who")
    assert [one.title for one in schema.features] == ["x1"]


@pytest.mark.parametrize(("name", "role"), [("bytes_out", "feature"), ("badge", "withheld")])
def test_a_quantity_whose_values_are_nearly_all_different_is_rounded(name, role):
    """Byte counts look like codes by their values alone; rounded, no value names its row."""
    draw = np.random.default_rng(0)
    rooms = draw.integers(0, 2, 600)
    table = pd.DataFrame({name: rooms * 200_000 + draw.integers(1_000, 700_000, 600), "lux": draw.normal(size=600)})
    table = table.assign(room=np.where(rooms, "bath", "hall"), who=[f"P{k % 6}" for k in range(600)])
    found = draft(table, "room", "who")
    one = found.field(name)
    assert one.role == role
    assert "differ in nearly every row" in one.why
    if role == "feature":
        assert one.step == 10_000
        assert released(read(table, found).frame, found)[name].nunique() <= 100


def test_a_second_header_is_named_with_its_line(tmp_path):
    rows = [f"{k / 2},{'hall' if k % 3 else 'bath'},P{k % 4}" for k in range(60)]
    (tmp_path / "home.csv").write_text("\n".join(["load,room,owner", *rows[:30], "load,room,owner", *rows[30:], ""]))
    with pytest.raises(ValueError, match=r"home\.csv, line 32 repeats the header"):
        draft(tmp_path / "home.csv", "room", "owner")


def test_one_cell_with_the_name_of_its_column_is_a_missing_one(tmp_path):
    """A public table of a home's weather has "cloudCover" in some cells of cloudCover: its draft ended."""
    cells = FRAME["load"].astype("str").where(FRAME.index % 40 > 0, "load")
    schema, found = opened(tmp_path, csv(table(load=cells)))
    assert schema.field("load").type == "number"
    assert found.frame["load"].isna().sum() == 6
