"""What closing sentences speak of is what their section asks for: cells run with tables of known answers."""

from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture
def told():
    """Return what a cell hands to the sentences: the object of each table, figure and conclusion."""
    return {}


@pytest.fixture
def run(told):
    def keep(frame, name, about=None, **_):
        told[name] = about

    return SimpleNamespace(table=keep, figure=keep, conclude=lambda name, **given: told.update({name: given}))


def cell(notebook, words):
    """Return the code cell of a notebook that holds some words."""
    cells = nbformat.read(FOLDER / f"{notebook}.ipynb", as_version=4).cells
    (found,) = [one.source for one in cells if one.cell_type == "code" and words in one.source]
    return found


def test_the_strongest_linkage_is_an_attack_on_published_rows(run, told):
    """Rows without noise were never published: they are the baseline, and link nearly always."""
    shares = {"published": 0.08, "exact columns first": 0.13, "exact columns only": 0.09, "without noise": 0.98}
    linked = pd.DataFrame({"share": shares}).rename_axis("attack")
    names = {"linkage": SimpleNamespace(linkage=lambda *_, **__: linked), "run": run, "frame": None, "quiet": []}
    exec(cell("21_threeway_division", "linkage.linkage("), names | {"publication": SimpleNamespace(data=None)})
    assert told["linkage"][0]["attack"] == "exact columns first"


def test_a_reading_between_two_times_is_undecided(run, told):
    table = pd.DataFrame({"printed_value": ["175", "0"], "value": [175, 0], "undecided": ["", "no reading then"]})
    names = {"np": np, "pd": pd, "run": run, "absent": {"smart-home"}}
    names["smart_home"] = SimpleNamespace(printed_readings=lambda _: table)
    names["datasets"] = SimpleNamespace(sensor_readings=lambda: None)
    exec(cell("22_threeway_summary", "printed_readings("), names)
    assert told["table-5"] == {"real": 1, "open": 1}
