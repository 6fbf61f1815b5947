"""Exports of real devices are read as their numbers say, with the same result in every format (REVIEW C5, C11, C14)."""

import importlib.util
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sensorrelease.read.pieces import Pieces

from sensorprivacy.data import Problem
from sensorprivacy.game.units import difference
from sensorrelease import remarks
from sensorrelease.cli import main
from sensorrelease.publishing.tables import publish
from sensorrelease.tables import load_table

_SPEC = importlib.util.spec_from_file_location("messy_inputs", Path(__file__).parents[2] / "bench" / "messy_inputs.py")
messy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(messy)

ROLES = {"task": "room", "user": "owner"}
ACCEPTED = ROLES | {"accept_draft": True}


def home(rows=240, seed=0):
    draw = np.random.default_rng(seed)
    room, owner = draw.integers(0, 2, rows), draw.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "load": (1000 + 300 * room + draw.normal(0, 60, rows)).round(1),
            "count": draw.integers(0, 9, rows),
            "voice": (owner + draw.normal(0, 0.3, rows)).round(2),
            "room": np.where(room, "kitchen", "hall"),
            "owner": np.array(["ann", "bob", "cyd", "dee"])[owner],
        }
    )


def _excel(table, folder):
    table.to_excel(folder / "home.xlsx", index=False)
    return folder / "home.xlsx"


def _saved(name):
    def write(table, folder):
        texts = table.map(lambda cell: cell if isinstance(cell, str) or pd.isna(cell) else f"{cell:g}")
        getattr(texts, {"parquet": "to_parquet", "feather": "to_feather"}[name])(folder / f"home.{name}")
        return folder / f"home.{name}"

    return write


def _csv(table, folder):
    table.to_csv(folder / "home.csv", index=False)
    return folder / "home.csv"


def _lines(table, folder):
    records = [
        {name: None if pd.isna(cell) else cell for name, cell in row.items()} for row in table.to_dict("records")
    ]
    (folder / "home.jsonl").write_text("\n".join(json.dumps(row, default=float) for row in records))
    return folder / "home.jsonl"


def _polars(table, folder):
    import polars as pl

    return pl.from_pandas(table.astype(str).where(table.notna(), None))


FORMATS = {
    "csv": _csv,
    "Excel": _excel,
    "Parquet": _saved("parquet"),
    "Feather": _saved("feather"),
    "JSON lines": _lines,
    "pandas": lambda table, folder: table,
    "polars": _polars,
    "LazyFrame": lambda table, folder: _polars(table, folder).lazy(),
    "Arrow": lambda table, folder: pa.Table.from_pandas(table.astype(str).where(table.notna(), None)),
}


def read(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_table(source, **ROLES, **options)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("word", ["unavailable", "off-line", "m/s", "Error 17", "load"])
def test_a_word_among_numbers_is_a_missing_number(kind, word, tmp_path):
    """One cell made a column of measurements into categories, and the page looked safe."""
    table = home().astype(object)
    table.loc[[3, 50, 99], "load"] = word
    found = read(FORMATS[kind](table, tmp_path)).problem
    assert found.provenance["coded"] == []
    assert found.features["load"].isna().sum() == 3
    np.testing.assert_allclose(found.features["load"].drop([3, 50, 99]), home()["load"].drop([3, 50, 99]))
    assert f"column load holds numbers; 3 cells ('{word}' 3) count as missing" in found.provenance["notices"]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_repeated_header_and_units_are_no_records(kind, tmp_path):
    header, units = pd.DataFrame([{name: name for name in home()}]), {"load": "W", "count": "n", "voice": "Hz"}
    table = home().astype(object)
    table = pd.concat([pd.DataFrame([units]), table[:100], header, table[100:], header], ignore_index=True)
    found = read(FORMATS[kind](table, tmp_path))
    assert found.problem.n_records == 240
    np.testing.assert_allclose(found.problem.features[["load", "count", "voice"]], home()[["load", "count", "voice"]])
    said = " ".join(found.problem.provenance["notices"])
    assert "2 rows with the header again are left out" in said
    assert "1 row of units below the header is left out: W, n, Hz" in said


BANNERS = {
    "TOA5": '"TOA5","6843","CR3000","6843","CR3000.Std.22"\n',
    "ActiGraph": "------------ Data File Created By ActiGraph GT3X+ -----------\nSerial Number: MOS2A\n"
    "Start Time 10:00:00\nCurrent Memory Address: 0\n------------------------------\n",
    "a title": "Export of my home\n\n",
    "comments": "# made by a logger, version 2\n# unit: W\n",
    "settings": "Device,Plug 7\nInterval,60 s\n",
}


@pytest.mark.parametrize("name", BANNERS)
def test_a_banner_before_the_header_is_skipped(name, tmp_path):
    text = BANNERS[name]
    (tmp_path / "home.csv").write_text(text + home().to_csv(index=False))
    found = read(tmp_path / "home.csv").problem
    pd.testing.assert_frame_equal(found.features, home()[["load", "count", "voice"]])
    lines = text.count("\n")
    assert lines == 1 or f", {lines} lines before the header" in found.provenance["form"]


@pytest.mark.first(1)
@pytest.mark.parametrize("rows", [None, 50])
def test_pieces_of_a_file_are_read_as_the_whole(rows, tmp_path):
    lines = home().to_csv(index=False).splitlines()
    lines.insert(1, "W,n,Hz,,")
    lines[150:150] = [lines[0]]
    lines[20] = "unavailable" + lines[20][lines[20].index(",") :]
    (tmp_path / "home.csv").write_text("\n".join([*lines, "end of file,,,,"]) + "\n")
    pieces = Pieces(tmp_path / "home.csv", rows, ["room", "owner"])
    found = pd.concat(list(pieces)).reset_index(drop=True)
    whole = home().assign(load=home()["load"].where(home().index != 18))
    np.testing.assert_allclose(found[["load", "count", "voice"]][:240], whole[["load", "count", "voice"]])
    assert pieces.counts[-1] == "2 cells of load that are no numbers count as missing"
    card = publish(tmp_path / "home.csv", **ROLES, defence="none", out=tmp_path / "out", rows=rows)
    assert "1 row with the header again is left out" in card.facts["size"]
    assert card.facts["rows"] == 240


def test_a_column_that_is_half_numbers_stays_text_and_is_named(tmp_path):
    table = home().astype(object)
    table.loc[::4, "load"] = "low"
    facts = read(_csv(table, tmp_path)).problem.provenance
    assert facts["numbers_as_text"] == {"load": "low"}


def test_a_measurement_that_is_left_out_as_text_is_a_warning(tmp_path):
    """REVIEW C5: identifiability fell from 77.8 to 20.4 %, because the column that identifies was not read."""
    table = home().assign(pulse=[f"{60 + at / 7:.3f}" if at % 5 else f"low {at}" for at in range(240)])
    facts = read(_csv(table, tmp_path)).problem.provenance
    assert "pulse" in facts["left_out"]
    assert any(
        "column pulse is left out, but most of its cells are numbers; 'low 0'" in said for said in facts["notices"]
    )
    assert not read(_csv(home(), tmp_path)).problem.provenance["notices"]


@pytest.mark.first(1)
@pytest.mark.parametrize("kept", [True, False])
def test_a_column_that_is_misread_and_identifies_is_measured(tmp_path, kept):
    """Issue 41: a page that looks safe, because the column that identifies was read as text, says so with numbers."""
    owners, draw = home()["owner"].astype("category").cat.codes.to_numpy(), np.random.default_rng(8)
    pulse = 60 + 20 * owners + draw.normal(0, 2, 240)
    cells = [f"{cell:.0f}" if kept else f"{cell:.3f}" for cell in pulse]
    words = ["low" if kept else f"low {at}" for at in range(240)]
    table = home().drop(columns="voice").assign(pulse=np.where(np.arange(240) % 5, cells, words))
    facts = read(_csv(table, tmp_path)).problem.provenance
    assert ("pulse" in facts["left_out"]) is not kept
    said = [notice for notice in facts["notices"] if notice.startswith("measured")]
    if kept:  # 80 categories show the same as their numbers
        assert not said
        return
    (said,) = said
    assert said.endswith("this hides a risk")
    numbers, texts = (float(share) for share in re.findall(r"([\d.]+)%", said))
    assert numbers > 75
    assert texts < 45
    card = publish(_csv(table, tmp_path), **ROLES, defence="none", out=tmp_path / "out")
    assert "hides a risk" in card.to_markdown()


def test_the_unit_of_that_measurement_is_the_recording(monkeypatch):
    """Rows of a recording are right or wrong together: they are no evidence of their own."""
    draw, recording, units = np.random.default_rng(1), np.repeat(np.arange(24), 20), []
    monkeypatch.setattr(remarks, "difference", lambda *given: units.append(given[2]) or difference(*given))
    cells = pd.Series(np.where(np.arange(480) % 5, np.round(draw.normal(size=480), 3).astype(str), "low"))
    labels = np.array(["on", "off"])[draw.integers(0, 2, 480)], np.array(list("ab" * 12))[recording]
    problem = Problem(pd.DataFrame({"noise": draw.normal(size=480)}), *labels, groups=recording)
    assert len(remarks.misreading(problem, pd.DataFrame({"level": cells}), ["level"], 0)) == 1
    (used,) = units
    assert 1 < len(set(used)) < 24  # those of the test rows


@pytest.mark.slow
def test_the_card_says_how_columns_were_read_and_warns_without_cells(tmp_path):
    table = home().assign(pulse=[f"{60 + at / 7:.3f}" if at % 5 else f"low {at}" for at in range(240)]).astype(object)
    table.loc[3, "load"] = "secret"
    card = publish(_csv(table, tmp_path), **ROLES, defence="none", out=tmp_path / "out")
    read = card.facts["columns"]["read"]
    assert read == {"numbers (1 cell counts as missing)": ["load"], "numbers": ["count", "voice"], "classes": ["room"]}
    warned, measured = card.facts["warnings"]
    assert re.fullmatch(
        r"Measured with the numbers of the column that were read as text, all features identify the user of "
        r"[\d.]+% of 60 rows, and as they are read, of [\d.]+%: no clear difference\.",
        measured,
    ), measured
    assert warned.startswith("Column pulse is dropped, but most of its cells are numbers.")
    text = card.to_markdown()
    assert "- Read as numbers (1 cell counts as missing): load" in text
    assert f"**Warning:** {warned}" in text
    assert "secret" not in text
    assert "low" not in text.replace("below", "").replace("allow", "").replace("follow", "").replace("lower", "")
    clean = publish(_csv(home(), tmp_path), **ROLES, defence="none", out=tmp_path / "clean")
    assert clean.facts["warnings"] == []


@pytest.mark.first(3)
@pytest.mark.parametrize("name", [name for name in messy.INPUTS if name.startswith("Excel ")])
def test_titles_and_hidden_cells_of_excel_are_skipped_and_counted(name, tmp_path):
    write, _ = messy.INPUTS[name]
    facts = read(write(messy.table(), tmp_path)).problem.provenance
    said = {
        "Excel with a title": ["1 row above the header is left out"],
        "Excel with a title and a blank row": ["2 rows above the header are left out"],
        "Excel with four rows above the header": ["4 rows above the header are left out"],
        "Excel with a hidden column": ["1 hidden column is left out: unhide what you need"],
        "Excel with hidden rows": ["40 hidden rows are left out: unhide what you need"],
    }
    assert facts["notices"] == said.get(name, [])
    assert {row["column"] for row in facts["columns"]} == set(messy.table()) - (
        {"temp"} if "hidden column" in name else set()
    )
    card = publish(write(messy.table(), tmp_path), **ROLES, defence="none", out=tmp_path / "out")
    assert set(said.get(name, [])) <= set(card.facts["size"])


def test_infinite_numbers_raise_no_warning_of_numpy(tmp_path):
    table = home().assign(rate=np.where(np.arange(240) % 50, home()["voice"] * 2, np.inf))
    table.loc[7, "rate"] = -np.inf
    text = table.rename(columns=lambda name: f" {name}").to_csv(index=False).replace("inf", "Infinity")
    (tmp_path / "cic.csv").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem = read(tmp_path / "cic.csv").problem
        card = publish(tmp_path / "cic.csv", **ROLES, defence="none", out=tmp_path / "out")
        assert read(table).problem.features.equals(problem.features)
    assert problem.features["rate"].isna().sum() == 6
    assert "rate" in card.facts["columns"]["published"]


@pytest.mark.parametrize("kind", FORMATS)
def test_infinity_is_missing_in_every_format_without_a_warning(kind, tmp_path):
    """REVIEW C15: three RuntimeWarnings of NumPy for CIC's Infinity."""
    table = home().assign(rate=np.where(np.arange(240) % 50, home()["voice"] * 2, np.inf))
    table.loc[7, "rate"] = -np.inf
    source = FORMATS[kind](table, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        problem = read(source).problem
    assert problem.features["rate"].isna().sum() == 6
    assert np.isfinite(problem.filled(np.arange(100)).features["rate"]).all()


@pytest.mark.first(6)
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("label", ["NA", "None", "null", "n/a", "NaN"])
def test_a_label_that_looks_like_a_missing_cell_is_a_label_in_every_format(kind, label, tmp_path):
    """`None` as a class was missing in CSV and kept in Parquet: 311 of 900 rows vanished."""
    table = home().replace({"room": {"hall": label}, "owner": {"ann": label}})
    table["mode"] = np.where(table.index % 3, "eco", label)
    found = read(FORMATS[kind](table, tmp_path)).problem
    assert found.n_records == 240
    assert set(found.users) == {label, "bob", "cyd", "dee"}
    assert set(found.task) == {label, "kitchen"}
    assert set(found.features["mode"]) == {0, 1} or "mode" in found.provenance["dropped"]  # missing, and eco
    assert any("are labels: empty such cells" in said for said in found.provenance["notices"])


@pytest.mark.parametrize("kind", ["csv", "Parquet", "Excel"])
def test_missing_numbers_of_users_are_missing(kind, tmp_path):
    table = home().assign(owner=home()["owner"].map({"ann": 1, "bob": 2, "cyd": 3, "dee": 4}).astype(object))
    table.loc[:9, "owner"] = "NA"
    assert read(FORMATS[kind](table, tmp_path)).problem.n_records == 230


@pytest.mark.slow
def test_a_cell_may_be_longer_than_pythons_limit(tmp_path):
    table = home().assign(note=["x" * 140_000, *["-"] * 239])
    assert read(_csv(table, tmp_path)).problem.n_records == 240
    names = ["load", "room", "owner", *(f"a column with a long name {at}" for at in range(6000))]
    rows = [f"{load},{room},{owner}" + ",1" * 6000 for load, room, owner in home().iloc[:8, [0, 3, 4]].to_numpy()]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    assert len(Pieces(tmp_path / "wide.csv").columns) == 6003


NESTED = {
    "list": pa.array([[1.0, 2.0]] * 240),
    "struct": pa.array([{"lat": 48.1}] * 240),
    "map": pa.array([[("k", "v")]] * 240, type=pa.map_(pa.string(), pa.string())),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("how", ["Parquet", "Arrow", "pandas", "Feather", "polars"])
def test_nested_cells_are_refused_with_a_remedy(kind, how, tmp_path):
    table = pa.Table.from_pandas(home()).append_column("window", NESTED[kind])
    source = {"Arrow": table, "pandas": table.to_pandas()}.get(how, tmp_path / f"home.{how.lower()}")
    if how == "Parquet":
        pq.write_table(table, source)
    elif how == "Feather":
        pa.feather.write_feather(table, source)
    elif how == "polars":
        import polars as pl

        if kind == "map":
            pytest.skip("polars has no maps")
        source = pl.from_arrow(table)
    says = "column 'window' has nested values: give each of them a column of its own"
    with pytest.raises(ValueError, match=says):
        read(source)
    with pytest.raises(ValueError, match=says):
        publish(source, **ROLES, defence="none", out=tmp_path / "out")


@pytest.mark.parametrize("how", ["pandas", "Arrow", "csv", "Parquet"])
def test_columns_of_one_name_are_refused_with_a_remedy(how, tmp_path):
    arrow = pa.Table.from_pandas(home()).append_column("load", pa.array(range(240)))
    twins = pd.concat([home(), home()[["load"]]], axis=1)
    source = {"pandas": twins, "Arrow": arrow}.get(how, tmp_path / f"home.{how.lower()}")
    if how == "csv":
        twins.to_csv(source, index=False)
    elif how == "Parquet":
        pq.write_table(arrow, source)
    with pytest.raises(ValueError, match="more than one column named load: rename them"):
        publish(source, **ROLES, defence="none", out=tmp_path / "out")
    with pytest.raises(ValueError, match="more than one column named load: rename them"):
        read(source)


def test_a_named_index_is_a_column_in_every_format(tmp_path):
    home().set_index("owner").to_parquet(tmp_path / "home.parquet")
    assert read(tmp_path / "home.parquet").problem.n_records == 240
    assert read(home().set_index("owner")).problem.n_records == 240


@pytest.mark.slow
def test_a_page_of_thousands_of_columns_is_short_and_keeps_what_helps(tmp_path, capsys):
    """REVIEW C10: the page listed 2,300 names, and four columns of noise were kept."""
    draw = np.random.default_rng(0)
    task, who = draw.integers(0, 2, 200), draw.integers(0, 4, 200)
    cells = draw.normal(0, 1, (200, 600)).round(3)
    cells[:, -1] += 4 * task
    table = pd.DataFrame(cells, columns=[f"f{at}" for at in range(600)])
    table = table.assign(
        room=np.where(task, "kitchen", "hall"), owner=who.astype(str), **{f"e{at}": 1 for at in range(300)}
    )
    words = ["--task", "room", "--user", "owner", "--quiet", "--trees", "20", "--repeat", "0"]
    assert main(["minimize", str(_csv(table, tmp_path)), *words, "--json", str(tmp_path / "found.json")]) == 0
    page = capsys.readouterr().out
    assert len(page) < 10_000
    assert "more" in page
    assert json.loads((tmp_path / "found.json").read_text())["summary"]["preselected"][0] == "f599"


NOISE = {
    "continuous": lambda draw, shape: draw.normal(0, 1, shape).round(3),
    "counts": lambda draw, shape: draw.integers(0, 9, shape),
    "binary": lambda draw, shape: draw.integers(0, 2, shape),
    "nearly constant": lambda draw, shape: (draw.random(shape) < 0.02).astype(int),
    "copies of one column": lambda draw, shape: np.repeat(draw.normal(0, 1, (shape[0], 1)).round(3), shape[1], axis=1),
    "texts": lambda draw, shape: draw.choice(["a", "b", "c"], shape),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", NOISE)
def test_a_column_that_shows_the_task_is_kept_among_hundreds_that_show_nothing(kind, tmp_path, capsys):
    """REVIEW C10: hundreds of columns had identifiability 0, so the ratio was 0, and the order of the file decided."""
    draw = np.random.default_rng(3)
    task, who = draw.integers(0, 2, 160), draw.integers(0, 4, 160)
    table = pd.DataFrame(NOISE[kind](draw, (160, 120)), columns=[f"f{at}" for at in range(120)])
    table = table.assign(shows=(4.0 * task + draw.normal(0, 1, 160)).round(3), owner=who.astype(str))
    table = table.assign(room=np.where(task, "kitchen", "hall"))
    words = ["--task", "room", "--user", "owner", "--quiet", "--trees", "20", "--repeat", "0", "--preselect", "3"]
    assert main(["minimize", str(_csv(table, tmp_path)), *words, "--json", str(tmp_path / "found.json")]) == 0
    summary = json.loads((tmp_path / "found.json").read_text())["summary"]
    assert summary["preselected"][0] == "shows"
    assert "shows" in summary["kept"]
