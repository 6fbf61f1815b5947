"""Published tables hold what their schema declares, and the card says what attackers find in them."""

import datetime as dt
import json
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import SplineTransformer, StandardScaler

from sensorrelease.card import measure_table
from sensorrelease.publishing import tables as module
from sensorrelease.publishing.tables import IdentifyingError, publish
from sensorrelease.schema import Constraints, draft, save
from sensorrelease.transformers import TaskPrediction

ROLES = {"task": "room", "user": "owner"}
USERS = ["anna", "bert", "carl", "dora"]
FORBIDDEN = {"row", "owner", "session", "nick", "seen", "user", "recording"}


def home(n=400, seed=0):
    draw = np.random.default_rng(seed)
    owner, room = draw.integers(4, size=n), draw.integers(2, size=n)
    return pd.DataFrame(
        {
            "row": range(n),
            "room": np.array(["hall", "kitchen"])[room],
            "owner": np.array(USERS)[owner],
            "session": [f"{USERS[who]}-{draw.integers(6)}" for who in owner],
            "lux": (room + draw.normal(0, 0.2, n)).round(3),
            "voice": (owner + draw.normal(0, 0.2, n)).round(3),
            "hour": draw.integers(24, size=n),
            "lamp": np.where(draw.random(n) < 0.8, np.array(["off", "on"])[room], "dim"),
            "nick": np.char.upper(np.array(USERS)[owner]),
            "seen": pd.date_range("2024-01-01", periods=n, freq="min").astype(str),
        }
    )


def declared(table, recording=None, confirm=True, **changes):
    """Return a schema in which lux, voice, hour and lamp leave."""
    found = draft(table, "room", "owner", recording, identifying=True)
    number = {"role": "feature", "type": "number", "step": 0.001, "constraints": Constraints(minimum=-2, maximum=6)}
    hour = {"role": "feature", "type": "integer", "step": 1.0, "constraints": Constraints(minimum=0, maximum=23)}
    how = {"hour": hour, "lux": number, "voice": number} | changes
    fields = [one.model_copy(update=how.get(one.name, {})) for one in found.fields]
    found = found.model_copy(update={"fields": fields})
    return found.confirm(dt.date(2026, 11, 27)) if confirm else found


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch):
    monkeypatch.setattr(module, "measure_table", lambda *_, **__: [])


@pytest.fixture
def measured(monkeypatch):
    monkeypatch.setattr(module, "measure_table", partial(measure_table, trees=10))


@pytest.fixture(scope="module")
def table():
    return home()


@pytest.fixture
def file(table, tmp_path):
    """Return a table with a confirmed schema beside it."""
    table.to_csv(tmp_path / "home.csv", index=False)
    save(declared(table), tmp_path / "home.schema.yaml")
    return tmp_path / "home.csv"


@pytest.mark.first(3)
@pytest.mark.parametrize(
    ("defence", "columns"),
    [
        ("none", {"lux", "voice", "hour", "lamp"}),
        ("minimize:threshold=.05", None),
        ("noise:epsilon=8", {"lux", "voice", "hour", "lamp"}),
        ("minimize+noise:epsilon=8,threshold=.05", None),
        ("threeway:epsilon=1", None),
        ("method:pca,columns=2", {"pca 0", "pca 1"}),
    ],
)
def test_nothing_forbidden_is_written(table, tmp_path, defence, columns):
    table.to_csv(tmp_path / "of_anna.csv", index=False)
    how = {"schema": declared(table, "session"), "although_identifying": True}
    card = publish(tmp_path / "of_anna.csv", defence=defence, out=tmp_path / "out", **how)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"data.csv", "card.md", "card.json"}
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    assert len(found) == 400
    assert not FORBIDDEN & set(found)
    assert columns is None or set(found) == columns | {"room"}
    for name, low, high in (("lux", -2, 6), ("voice", -2, 6), ("hour", 0, 23)):
        if name in found:
            assert found[name].between(low, high).all()
            assert found[name].astype(str).str.len().max() <= 6  # at the step, however noisy
    assert set(found.get("lamp", ["on"])) <= {"dim", "off", "on"}
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir()).lower()
    assert not any(user in written for user in USERS)
    assert json.loads((tmp_path / "out" / "card.json").read_text()) == card.facts
    assert "# Data card: data\n" in card.to_markdown()
    assert "confirmed on 2026-11-27" in card.to_markdown()


def test_data_leave_only_by_a_schema_that_a_person_confirmed(table, tmp_path):
    """Drafting may guess, publishing may not."""
    table.to_csv(tmp_path / "home.csv", index=False)
    open_ = declared(table, confirm=False)
    changed = declared(table).model_copy(update={"k": 2})
    for schema in (None, open_, changed):
        with pytest.raises(ValueError, match="data leave only by a schema that a person confirmed, and this one is"):
            publish(tmp_path / "home.csv", defence="none", out=tmp_path / "out", schema=schema, **ROLES)
    assert [path.name for path in tmp_path.iterdir()] == ["home.csv"]
    with pytest.warns(UserWarning, match="schema drafted, not confirmed. These columns are used: room, lux, lamp."):
        card = publish(tmp_path / "home.csv", defence="none", out=tmp_path / "out", accept_draft=True, **ROLES)
    assert card.facts["columns"]["published"] == ["lux", "lamp", "room"]
    assert "Nobody confirmed it" in card.to_markdown()


@pytest.mark.usefixtures("measured")
def test_a_release_that_identifies_users_is_refused(table, tmp_path):
    """The strongest attack on voice predicts nearly every user."""
    how = {"schema": declared(table), "defence": "none", "out": tmp_path / "out"}
    with pytest.raises(IdentifyingError, match=r"the strongest attack predicts the user of (9\d|100)\.\d% of 100 rows"):
        publish(table, **how)
    assert list(tmp_path.iterdir()) == []
    assert publish(table, although_identifying=True, **how).facts["rows"] == 400
    quiet = how | {"schema": declared(table, voice={"role": "withheld"}), "out": tmp_path / "safe"}
    assert publish(table, **quiet).facts["rows"] == 400


def test_unchanged_cells_are_those_of_the_input(table, tmp_path):
    publish(table, schema=declared(table), defence="none", out=tmp_path / "out", in_order=True)
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    pd.testing.assert_frame_equal(found, table[["lux", "voice", "hour", "lamp", "room"]], check_dtype=False)


def test_rows_are_shuffled_and_the_card_says_so(file, table, tmp_path):
    card = publish(file, defence="none", out=tmp_path / "out")
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    assert (found["lux"].to_numpy() == table["lux"]).mean() < 0.1
    assert sorted(found["lux"]) == sorted(table["lux"])
    assert "random order" in card.facts["order"]
    assert "random order" in card.to_markdown()


@pytest.mark.slow
def test_noise_is_new_each_time_and_counted(file, tmp_path):
    cards = [publish(file, defence="noise:epsilon=9", out=tmp_path / name, in_order=True) for name in "ab"]
    one, two = (pd.read_csv(tmp_path / name / "data.csv") for name in "ab")
    inner = one["lux"].between(-1.9, 5.9)
    assert inner.mean() > 0.2
    assert (one["lux"] != two["lux"])[inner].mean() > 0.99
    told = cards[0].facts["guarantee"]
    most = home()["owner"].value_counts().max()
    assert told["epsilon_row"] == 9
    assert told["epsilon_person"] == 9 * most
    assert any(f"{most:,}, which adds up to {9 * most}" in line for line in told["statements"])
    assert not any("formal" in line for line in told["statements"])


@pytest.mark.parametrize(("confirmed", "of_data"), [(True, " of lamp"), (False, "")])
def test_declared_ranges_are_the_bounds_of_noise_if_a_person_confirmed_them(table, tmp_path, confirmed, of_data):
    how = {"schema": declared(table, confirm=confirmed), "accept_draft": True}
    card = publish(table, defence="noise:epsilon=4", out=tmp_path / "out", **how)
    said = [line for line in card.facts["guarantee"]["statements"] if line.startswith("The bounds")]
    assert said == [
        f"The bounds{of_data} were read from the fitted rows. Epsilon does not cover this leak of extremes."
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("measured")
def test_the_card_tells_attacks_with_units_and_chance(table, tmp_path):
    schema = declared(table, "session")
    card = publish(table, schema=schema, defence="minimize:threshold=.05", out=tmp_path / "out")
    rows = pd.DataFrame(card.facts["measured"]).set_index(["about", "data"])
    before, after = (rows.sort_index().loc[("user owner", data)] for data in ("original", "published"))
    assert before["score"].max() > 0.9
    assert after[after["level"] == "row"]["score"].max() < 0.5
    assert rows.loc[("task room", "published"), "score"].min() > 0.9
    assert set(rows["unit"]) == {"groups"}
    assert set(rows["level"]) == {"row", "group"}
    assert (rows["low"] <= rows["score"]).all()
    chosen = rows["of_strongest"].dropna()
    questions = rows.reset_index().groupby(["about", "data", "level"])
    assert len(chosen) == len(questions)  # one attacker on each question
    highest = questions["high"].max()
    ends = questions["of_strongest"].agg(lambda some: some.dropna().iloc[0][1])
    pd.testing.assert_series_equal(ends, highest, check_names=False, check_dtype=False)
    page = card.to_markdown()
    for part in (
        "| user (owner), from a whole group | ",
        "There is no formal guarantee",
        "95 % interval",
        "random sample of 400 of 400 rows",
        "numpy",
        "SHA-256",
    ):
        assert part in page


@pytest.mark.slow
def test_pieces_publish_the_same_rows(file, tmp_path):
    how = {"defence": "minimize:threshold=.05", "sample": 150}
    publish(file, out=tmp_path / "one", in_order=True, **how)
    card = publish(file, out=tmp_path / "many", in_order=True, rows=90, **how)
    assert (tmp_path / "one" / "data.csv").read_bytes() == (tmp_path / "many" / "data.csv").read_bytes()
    assert card.facts["input"]["sample"] == 150
    assert "random sample of 150 of 400 rows" in card.to_markdown()
    publish(file, out=tmp_path / "mixed", rows=90, **how)
    whole, mixed = (pd.read_csv(tmp_path / name / "data.csv") for name in ("one", "mixed"))
    names = list(whole)
    pd.testing.assert_frame_equal(
        whole.sort_values(names, ignore_index=True), mixed.sort_values(names, ignore_index=True)
    )


def test_noise_in_pieces(file, tmp_path):
    publish(file, defence="noise:epsilon=4", out=tmp_path / "out", sample=150, rows=90)
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    assert len(found) == 400
    assert found["lamp"].isin(["dim", "off", "on"]).all()
    assert not found["voice"].isin(home()["voice"]).all()


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_parquet_stays_parquet(table, tmp_path, form):
    file = tmp_path / f"home.{form}"
    getattr(table, f"to_{form}")(file)
    publish(file, schema=declared(file), defence="none", out=tmp_path / "out", rows=90)
    found = pd.read_parquet(tmp_path / "out" / "data.parquet")
    assert found["hour"].dtype == np.int64
    assert sorted(found["lux"]) == sorted(table["lux"])


def _kinds(table):
    import polars as pl
    import pyarrow as pa

    arrow = pa.Table.from_pandas(table)
    return {
        "pandas": table,
        "pyarrow types": table.convert_dtypes(dtype_backend="pyarrow"),
        "nullable": table.convert_dtypes(),
        "polars": pl.from_pandas(table),
        "lazy": pl.from_pandas(table).lazy(),
        "arrow": arrow,
    }


@pytest.mark.parametrize("kind", ["pandas", "pyarrow types", "nullable", "polars", "lazy", "arrow"])
def test_tables_of_every_library_are_published_alike(table, tmp_path, kind):
    """Pandas columns with pyarrow types failed."""
    some = table.drop(columns="seen")
    publish(_kinds(some)[kind], schema=declared(some), defence="none", out=tmp_path / "out", in_order=True)
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    pd.testing.assert_frame_equal(found, table[["lux", "voice", "hour", "lamp", "room"]], check_dtype=False)


def test_numpy_arrays_have_numbered_columns(tmp_path):
    draw = np.random.default_rng(0)
    array = np.column_stack([draw.normal(size=200).round(2), draw.integers(0, 2, 200), draw.integers(0, 9, 200)])
    card = publish(array, task="x1", user="x2", defence="none", out=tmp_path / "out", accept_draft=True)
    assert card.facts["columns"]["published"] == ["x0", "x1"]


def test_own_transformers(table, tmp_path):
    schema = declared(table)
    for name, step, columns in (("a", PCA(2), ["pca0", "pca1", "room"]), ("b", TaskPrediction(4), ["prediction"])):
        card = publish(table, schema=schema, defence=step, out=tmp_path / name)
        assert card.facts["columns"]["published"] == columns == list(pd.read_csv(tmp_path / name / "data.csv"))
        assert card.facts["columns"]["unchanged"] == []
        stated = " ".join(card.facts["guarantee"]["statements"])
        assert ("room is published unchanged" in stated) == ("room" in columns)


def test_a_transformer_that_keeps_names_but_not_their_meaning_makes_new_columns(table, tmp_path):
    """Scaled values are not cut to the range of the column that they were made from."""
    schema = declared(table)
    publish(table, schema=schema, defence=StandardScaler(), out=tmp_path / "a", save=tmp_path / "b", in_order=True)
    found = pd.read_csv(tmp_path / "a" / "data.csv")
    assert list(found) == [*(f"{name} transformed" for name in ("lux", "voice", "hour", "lamp")), "room"]
    np.testing.assert_allclose(
        found["hour transformed"], StandardScaler().fit_transform(table[["hour"]])[:, 0], atol=0.2
    )
    publish(table, fitted=tmp_path / "b", out=tmp_path / "c", in_order=True)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "c" / "data.csv"), found)


def test_a_saved_transformer_of_scikit_learn_publishes_new_rows(table, tmp_path):
    publish(table, schema=declared(table), defence=PCA(2), out=tmp_path / "one", save=tmp_path / "saved")
    new = table.drop(columns="owner").sample(100, random_state=0)
    card = publish(new, fitted=tmp_path / "saved", out=tmp_path / "two", in_order=True)
    assert card.facts["columns"]["published"] == ["pca0", "pca1", "room"]
    assert card.facts["rows"] == 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"defence": "hide"}, "unknown defence 'hide'"),
        ({"task": "nick"}, "the task column 'nick' has fewer than two levels"),
        ({"user": "nobody"}, "no column 'nobody'"),
        ({"task": None}, "name the columns of the table: task="),
        ({"user": "room"}, "must be different columns"),
        (
            {"defence": SplineTransformer(), "save": "saved"},
            "a SplineTransformer is none of",
        ),
        ({"schema": "none.yaml"}, "there is no file none.yaml"),
    ],
)
def test_invalid_input_writes_nothing(table, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    given = {"defence": "none", "out": "out", "accept_draft": True} | ROLES | options
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        publish(table, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_schema_agrees_with_the_words_beside_it(table, tmp_path):
    with pytest.raises(ValueError, match="user='nick', but the schema has the user 'owner': leave it out"):
        publish(table, schema=declared(table), user="nick", defence="none", out=tmp_path / "out")


@pytest.mark.usefixtures("measured")
def test_a_task_that_cannot_be_learned_is_refused(table, tmp_path):
    coin = np.random.default_rng(5).choice(["a", "b"], len(table))
    how = {"task": "coin", "user": "owner", "accept_draft": True}
    with pytest.raises(ValueError, match=r"'coin' cannot be learned from the columns: accuracy .* on 100 rows, chance"):
        publish(table.drop(columns="room").assign(coin=coin), defence="none", out=tmp_path / "out", **how)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_or_interrupt_at_the_end_leaves_nothing(table, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_card", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(table, schema=declared(table), defence="none", out=tmp_path / "out", save=tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["99", "soon", "3.5"])
def test_a_cell_that_does_not_conform_far_down_is_named(table, tmp_path, cell):
    long = pd.concat([table] * 2, ignore_index=True).assign(row=range(800))
    long["hour"] = long["hour"].astype(str)
    long.loc[799, "hour"] = cell
    long.to_csv(tmp_path / "home.csv", index=False)
    with pytest.raises(ValueError, match=r"home\.csv, line 801, column 'hour': "):
        publish(tmp_path / "home.csv", schema=declared(table), defence="none", out=tmp_path / "out", rows=100)
    assert [path.name for path in tmp_path.iterdir()] == ["home.csv"]


def test_missing_numbers_are_filled_from_training_rows_and_the_card_says_so(table, tmp_path):
    """REVIEW E: one missing value stopped a new user."""
    gaps = table.assign(lux=table["lux"].where(table.index % 5 > 0))
    how = {"schema": declared(gaps), "save": tmp_path / "saved", "in_order": True}
    card = publish(gaps, defence="none", out=tmp_path / "out", **how)
    written = pd.read_csv(tmp_path / "out" / "data.csv")
    filled = written["lux"][::5].unique()
    assert len(filled) == 1
    assert gaps["lux"].quantile(0.4) < filled[0] < gaps["lux"].quantile(0.6)
    pd.testing.assert_series_equal(written["lux"][gaps["lux"].notna()], gaps["lux"].dropna())
    assert "Missing numbers are filled" in card.to_markdown()
    assert "80 missing cells in lux" in card.facts["size"]
    again = publish(gaps, fitted=tmp_path / "saved", out=tmp_path / "again", in_order=True)
    assert again.facts["rows"] == len(table)
    assert pd.read_csv(tmp_path / "again" / "data.csv")["lux"][0] == filled[0]


def test_rows_without_a_label_or_of_a_user_with_one_row_are_left_out_and_counted(table, tmp_path):
    odd = table.assign(room=table["room"].where(table.index != 7), owner=table["owner"].where(table.index != 8))
    odd.loc[9, ["owner", "nick"]] = ["edda", "EDDA"]
    schema = declared(table)
    card = publish(odd, schema=schema, defence="none", out=tmp_path / "out", in_order=True, rows=90)
    written = pd.read_csv(tmp_path / "out" / "data.csv")
    np.testing.assert_array_equal(written["lux"], table.drop(index=[7, 8, 9])["lux"])
    assert card.facts["size"][1:4] == [
        "1 row without task left out",
        "1 row without user left out",
        "1 row of a user with fewer than 2 rows left out",
    ]
    assert "edda" not in (tmp_path / "out" / "card.json").read_text().lower()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_no_signal_that_unwinds_leaves_a_hidden_folder(file, tmp_path, number):
    """In a process of its own: a worker of the test runner may run tests outside its main thread."""
    code = "import os, signal, time\nfrom sensorrelease.publishing import tables as module\n"
    code += "import sys; module = sys.modules['sensorrelease.publishing.tables']\n"
    code += "module.write_card = lambda *_, **__: os.kill(os.getpid(), "
    code += f"{int(number)}) or time.sleep(60)\n"
    code += f"signal.signal({int(number)}, signal.SIG_DFL)\n"  # under nohup, SIGHUP is ignored by every child
    code += "module.publish('home.csv', defence='none', out='out', save='saved', although_identifying=True)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 128 + number, ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home.csv", "home.schema.yaml"]


@pytest.mark.parametrize(
    ("name", "options"), [("home.csv", {"sep": ";", "decimal": ",", "encoding": "cp1252"}), ("home.csv.gz", {})]
)
def test_texts_of_other_forms_are_published_as_csv(table, tmp_path, name, options):
    table.assign(lamp=table["lamp"].replace("dim", "gedämpft")).to_csv(tmp_path / name, index=False, **options)
    schema = declared(tmp_path / name)
    publish(tmp_path / name, schema=schema, defence="none", out=tmp_path / "out", in_order=True, rows=150)
    written = pd.read_csv(tmp_path / "out" / "data.csv")
    assert set(written["lamp"]) == {"off", "on", "gedämpft"}
    np.testing.assert_allclose(written["lux"], table["lux"])


def test_a_fitted_defence_publishes_new_rows(table, tmp_path):
    saved, out = tmp_path / "saved", tmp_path / "out"
    first = publish(table, schema=declared(table, "session"), defence="minimize+noise:epsilon=9", out=out, save=saved)
    new = home(seed=1).drop(columns=["owner", "session", "room"])
    card = publish(new, fitted=saved, out=tmp_path / "new")
    found = pd.read_csv(tmp_path / "new" / "data.csv")
    assert len(found) == 400
    assert [*found, "room"] == first.facts["columns"]["published"]
    assert card.facts["measured"] == first.facts["measured"]
    assert card.facts["defence"]["name"] == "noise:epsilon=9"
    assert card.facts["guarantee"]["statements"][:2] == first.facts["guarantee"]["statements"][:2]
    assert "was fitted" in card.to_markdown()
    assert card.facts["guarantee"]["epsilon_row"] == 9
    assert card.facts["guarantee"]["epsilon_person"] is None
    with pytest.raises(ValueError, match="columns that the schema does not declare: 'age'"):
        publish(home(seed=1).assign(age=3), fitted=saved, out=tmp_path / "other")
    with pytest.raises(ValueError, match="has its own defence and task"):
        publish(new, fitted=saved, out=tmp_path / "other", defence="none", task="room")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"room": "attic"}, "column 'room': 'attic' is none of the levels"),
        ({"room": 7}, "column 'room': '7' is none of the levels"),
        ({"lamp": "anna's"}, "column 'lamp': \"anna's\" is none of the levels"),
    ],
)
def test_new_rows_meet_the_schema_of_the_first_ones(table, tmp_path, change, said):
    """The task too: unseen classes and other types passed."""
    saved = tmp_path / "saved"
    publish(table, schema=declared(table), defence="none", out=tmp_path / "out", save=saved)
    new = home(seed=1).astype(object)
    new.loc[5, list(change)] = list(change.values())
    with pytest.raises(ValueError, match=said):
        publish(new, fitted=saved, out=tmp_path / "new")
    kilo = home(seed=1).assign(lux=lambda rows: rows["lux"] * 1000)
    with pytest.raises(ValueError, match=r"9.% of the cells of 'lux' do not conform .* is the unit another one"):
        publish(kilo, fitted=saved, out=tmp_path / "new")
    new = home(seed=1).assign(room=None)
    with pytest.raises(ValueError, match="no row with a cell in every column"):
        publish(new, fitted=saved, out=tmp_path / "new")
    few = home(seed=1)
    few.loc[:3, "lux"] = 99.0
    card = publish(few, fitted=saved, out=tmp_path / "new")
    assert "4 cells of lux did not conform: now missing" in card.facts["size"]
