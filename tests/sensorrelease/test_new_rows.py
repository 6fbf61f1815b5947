"""A fitted defence publishes new rows only if they are like the first ones (REVIEW C2, C13; cases 08 and 09)."""

import numpy as np
import pandas as pd
import pytest

from sensorrelease.publishing import tables
from sensorrelease.publishing.tables import publish

BADGES = {"ann": 48213, "bob": 50177, "cyd": 61920, "dee": 77031}


def home(seed, rows=400):
    draw = np.random.default_rng(seed)
    room, own = draw.integers(0, 2, rows), draw.integers(0, 4, rows)
    return pd.DataFrame(
        {
            "load": (1000 + 300 * room + draw.normal(0, 60, rows)).round(1),
            "watts": np.exp(draw.normal(5 + room, 1.5, rows)).round(2),  # from 1 to 20,000
            "mode": draw.choice(["eco", "auto", "boost"], rows),
            "count": draw.integers(0, 9, rows),
            "room": np.where(room, "kitchen", "hall"),
            "owner": np.array(list(BADGES))[own],
        }
    )


@pytest.fixture(scope="module", autouse=True)
def unmeasured_fits():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "measure_table", lambda *_, **__: [])
        yield


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    words = {"task": "room", "user": "owner"}
    publish(home(0), defence="none", out=folder / "out", save=folder / "none", **words)
    publish(home(0), defence="minimize:threshold=.2", out=folder / "out2", save=folder / "minimize", **words)
    return folder


CHANGES = {
    "a badge in place of a count": (lambda t: t.assign(count=t.owner.map(BADGES)), "count .*under another name"),
    "a badge, without the user": (
        lambda t: t.assign(count=t.owner.map(BADGES)).drop(columns="owner"),
        "count .*(unit|outside 0 to 8)",
    ),
    "a text that holds the user": (lambda t: t.assign(mode=t.owner.str.upper()), "mode .*under another name"),
    "a text that names the user": (
        lambda t: t.assign(mode=t["mode"] + " of " + t.owner),
        "mode .*(names the user|under another name)",
    ),
    "addresses": (lambda t: t.assign(mode=[f"a{at % 9}@b.org" for at in t.index]), "mode .e-mail addresses"),
    "times": (lambda t: t.assign(load=1_700_000_000 + np.arange(len(t))), "load .points in time"),
    "dates of the last century": (lambda t: t.assign(count=19_630_101 + t.index % 28), "count .points in time"),
    "row numbers": (lambda t: t.assign(count=range(len(t))), "count .row numbers"),
    "kW in place of W": (lambda t: t.assign(load=t.load / 1000), "load .its median moved from .*: is the unit another"),
    "kW in a wide range": (lambda t: t.assign(watts=t.watts / 1000), "watts .its median moved"),
    "Fahrenheit": (lambda t: t.assign(load=t.load * 1.8 + 32), "load .* outside"),
    "unseen texts": (lambda t: t.assign(mode=t["mode"].mask(t.index % 10 == 0, "turbo")), "mode .*has not seen 10%"),
    "a missing column": (lambda t: t.drop(columns="load"), "no column 'load'"),
    "unseen truths": (lambda t: t.assign(mode=True), "mode .*has not seen 100%.* such as True"),
    "an unknown column": (lambda t: t.assign(mail="x"), "columns 'mail', which the fitted defence has not seen"),
    "units in the cells": (lambda t: t.assign(load=t.load.map("{} W".format)), "load"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_rows_unlike_the_first_ones_are_refused(name, fit, tmp_path):
    change, says = CHANGES[name]
    table = change(home(1))
    with pytest.raises(ValueError, match=says):
        publish(table, fitted=fit / "none", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["the same house", "reordered", "without labels", "few rows"])
def test_rows_like_the_first_ones_are_published(kind, fit, tmp_path):
    table = home(1)
    table = {"reordered": table[table.columns[::-1]], "without labels": table.drop(columns=["room", "owner"])}.get(
        kind, table.head(30) if kind == "few rows" else table
    )
    card = publish(table, fitted=fit / "none", out=tmp_path / "out")
    assert card.facts["rows"] == len(table)


def test_a_service_need_not_collect_the_columns_that_a_minimization_drops(fit, tmp_path):
    """REVIEW C13: every column that the defence drops was demanded."""
    kept = pd.read_csv(fit / "out2" / "data.csv", nrows=1).columns.drop("room")
    assert len(kept) < 4
    card = publish(home(1)[[*kept, "room"]], fitted=fit / "minimize", out=tmp_path / "out")
    assert set(card.facts["columns"]["published"]) == {*kept, "room"}
    with pytest.raises(ValueError, match=f"no column '{kept[0]}'"):
        publish(home(1).drop(columns=kept[0]), fitted=fit / "minimize", out=tmp_path / "none")


def test_a_fitted_defence_leaves_out_rows_with_gaps_if_told(tmp_path):
    words = {"task": "room", "user": "owner", "missing": "drop"}
    publish(home(0), defence="none", out=tmp_path / "out", save=tmp_path / "fit", **words)
    table = home(1)
    table.loc[:9, "load"] = np.nan
    with pytest.raises(ValueError, match="'load' is missing or infinite in row 0"):
        publish(table, fitted=tmp_path / "fit", out=tmp_path / "a")
    assert publish(table, fitted=tmp_path / "fit", out=tmp_path / "b", missing="drop").facts["rows"] == 390


def test_a_text_of_one_row_is_an_empty_cell(tmp_path):
    table = home(0)
    table.loc[5, "mode"] = "the lamp by the green sofa"
    publish(table, task="room", user="owner", defence="none", out=tmp_path / "out")
    found = pd.read_csv(tmp_path / "out" / "data.csv")
    assert set(found["mode"].dropna()) == {"eco", "auto", "boost"}
    assert found["mode"].isna().sum() == 1
