"""Captions beside a notebook: placeholders, closing sentences, and errors that name the entry."""

import pandas as pd
import pytest

from compendium.show.captions import CaptionError, Captions, filled

TEXT = """
[table.ages]
caption = "{name}: {table.shape[0]} rows at {step:g}"
closing = "The least age of {name} is {about[age]:g}, or {about[share]:.0%}."

[sentence.moved]
closing = "From {age:.1f} to {names}, at {least}."
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
    closing = captions.words("sentence", "moved", {"least": 1, "age": 2, "names": ["a", "b"]}).closing
    assert closing == "From 2.0 to a, b, at 1."


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


def test_true_and_false_have_the_words_of_the_caption(captions):
    captions.path.write_text('[table.ages]\nclosing = "{about[age]:Yes|No}, {about[share]:Yes|No|Unknown}"\n')
    assert captions.words("table", "ages", {"about": {"age": False, "share": float("nan")}}).closing == "No, Unknown"


@pytest.mark.parametrize("text", ["{run.__class__}", "{run.__init__.__globals__}", "{run._hidden}", "{x:99999}", "{_}"])
def test_a_caption_names_nothing_private(text):
    with pytest.raises(CaptionError):
        filled(text, {"run": Captions, "x": 1, "_": 1})


def test_placeholders_are_those_of_an_f_string():
    assert filled("{names} {x:.1%} {x!r}", {"names": ["a", "b"], "x": 0.25}) == "a, b 25.0 % 0.25"
