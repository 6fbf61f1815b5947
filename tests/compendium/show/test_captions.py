"""Captions beside a notebook: placeholders, closing sentences, and errors that name the entry."""

import pandas as pd
import pytest

from compendium.show.captions import CaptionError, Captions

TEXT = """
[table.ages]
caption = "{name}: {table.shape[0]} rows at {step:g}"
closing = "The least age of {name} is {about[age]:g}, or {about[share]:.0%}."
"""
AGES = pd.DataFrame({"who": ["Ann", "Ben"], "age": [30.0, 20.0], "chance": [25.0, 25.0]})
GIVEN = {"about": {"age": 20, "share": 0.5}}


@pytest.fixture
def captions(tmp_path):
    path = tmp_path / "10_x.toml"
    path.write_text(TEXT)
    return Captions(path, {"name": "home", "step": 0.5, "table": AGES, "least": 25})


def test_a_closing_sentence_has_the_numbers_that_the_notebook_passes(captions):
    closing = captions.words("table", "ages", {"about": pd.Series({"age": 20, "share": 0.5})}).closing
    assert closing == "The least age of home is 20, or 50 %."


def test_a_missing_number_is_said(captions):
    closing = captions.words("table", "ages", {"about": {"age": None, "share": float("nan")}}).closing
    assert closing == "The least age of home is no number, or no number."


def test_placeholders_are_names_of_the_notebook_or_given(captions):
    assert captions.words("table", "ages", GIVEN).caption == "home: 2 rows at 0.5"
    assert captions.words("table", "ages", GIVEN | {"name": "work"}).caption == "work: 2 rows at 0.5"
    captions.names["name"] = "later"  # looked up when the result is shown
    assert captions.words("table", "ages", GIVEN).caption == "later: 2 rows at 0.5"


def test_a_percentage_is_written_as_elsewhere(captions):
    captions.path.write_text('[table.share]\ncaption = "{step:.1%} of {least:g}"\n')
    assert captions.words("table", "share", GIVEN).caption == "50.0 % of 25"


def test_a_missing_entry_or_name_is_named(captions):
    with pytest.raises(CaptionError, match=r"10_x\.toml has no entry \[figure\.ages\]: add one with its caption"):
        captions.words("figure", "ages", GIVEN)
    del captions.names["step"]
    with pytest.raises(CaptionError, match=r"\[table\.ages\]: the notebook has no 'step'"):
        captions.words("table", "ages", GIVEN)


def test_numbers_are_taken_from_tables_of_the_notebook(captions):
    captions.path.write_text("""
[table.ages]
closing = "{oldest[who]} is the oldest of {many}; {younger} are {gap:g} years younger, at {share:.1%}."
numbers.oldest = "table; highest age"
numbers.many = "table; count(age >= chance - 5)"
numbers.younger = 'table; ~match(who, "A*"); who'
numbers.gap = "table; who != @oldest[who]; max(@oldest[age] - age)"
numbers.share = "@step / 4"
""")
    closing = captions.words("table", "ages", {}).closing
    assert closing == "Ann is the oldest of 2; Ben are 10 years younger, at 12.5 %."


def test_a_number_that_no_table_has_is_named(captions):
    captions.path.write_text('[table.ages]\nclosing = "{x}"\nnumbers.x = "table; max(weight)"\n')
    with pytest.raises(CaptionError, match=r"\[table\.ages\]: there is no column 'weight'"):
        captions.words("table", "ages", {})
