"""What closing sentences speak of is what their section asks for: cells run with tables of known answers."""

from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest

from compendium.show.captions import Captions

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


def cell(notebook, words):
    """Return the code cell of a notebook that holds some words."""
    cells = nbformat.read(FOLDER / f"{notebook}.ipynb", as_version=4).cells
    (found,) = [one.source for one in cells if one.cell_type == "code" and words in one.source]
    return found


def said(notebook, words, kind, name, **names):
    """Return the sentence below a result of a cell, which runs with these names."""
    names["run"] = SimpleNamespace(table=lambda *_: None, conclude=lambda *_: None)
    exec(cell(notebook, words), names)
    return Captions(FOLDER / "captions" / f"{notebook}.toml", names).words(kind, name, {}).closing


def test_the_strongest_linkage_is_an_attack_on_published_rows():
    """Rows without noise were never published: they are the baseline, and link nearly always."""
    shares = {"published": 0.08, "exact columns first": 0.13, "exact columns only": 0.09, "without noise": 0.98}
    linked = pd.DataFrame({"share": shares, "chance": 0.01}).rename_axis("attack")
    names = {"linkage": SimpleNamespace(linkage=lambda *_, **__: linked), "frame": None, "quiet": []}
    publication = SimpleNamespace(data=None)
    found = said("21_threeway_division", "linkage.linkage(", "table", "linkage", publication=publication, **names)
    assert found.startswith(
        "13.0 % of the published rows are linked by the strongest of these attacks, exact columns f"
    )


INFERRED = pd.DataFrame({"from": ["published columns", "published columns", "all other columns"]})


@pytest.mark.parametrize(
    ("low", "begins"),
    [
        ([0.2, 0.6, 0.9], "No: 1 of 2 labels"),
        ([0.2, 0.3, 0.9], "Against this attacker, yes: 0 of 2 labels"),
        ([], "Nothing is left to infer: 0 of 0 labels"),
    ],
)
def test_labels_count_that_follow_from_the_published_columns(low, begins):
    inferred = INFERRED.head(len(low)).assign(low=low, chance=0.5, share=0.6)
    attackers = SimpleNamespace(secrets=lambda *_: ({}, None), infer=lambda *_, **__: inferred)
    names = dict.fromkeys(["frame", "division", "problem", "every", "stretch"]) | {"attackers": attackers}
    names |= {"RandomForestClassifier": lambda *_, **__: None, "publication": SimpleNamespace(data=None)}
    assert said("21_threeway_division", "attackers.infer(", "table", "inference", **names).startswith(begins)


def test_a_reading_between_two_times_is_undecided():
    table = pd.DataFrame({"printed_value": ["175", "0", "9"], "value": [175, 0, 8], "undecided": ["", "between", ""]})
    names = {"pd": pd, "absent": {"smart-home"}, "table5": pd.DataFrame()}
    names["smart_home"] = SimpleNamespace(printed_readings=lambda _: table)
    names["datasets"] = SimpleNamespace(sensor_readings=lambda: None)
    found = said("22_threeway_summary", "printed_readings(", "sentence", "table-5", **names)
    assert found == "1 of 3 printed readings have the published value; 1 lie between two readings."
