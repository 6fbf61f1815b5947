"""Captions beside a notebook: placeholders, closing sentences, and errors that name the entry."""

import pandas as pd
import pytest

from compendium.show.captions import CaptionError, Captions

TEXT = """
[table.ages]
caption = "{name}: {table.shape[0]} rows at {step:g}"
closing = "The least age of {name} is {about[age]:g}, or {about[share]:.0%}."

[sentence.moved]
closing = "From {0[age]:.1f} to {1}, at {least}."
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
    closing = captions.words("sentence", "moved", {"least": 1}, {"age": 2}, ["a", "b"]).closing
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


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"age": [True, False, True], "share": pd.Series({"a": 0.25, "b": 0.5, "c": float("inf")})}, "2 of 3, highest"),
        ({"age": pd.Series([True, None]), "share": pd.Series({"a": 0.25, "b": 0.5})}, "1 of 2 (1 undecided), highest"),
    ],
)
def test_statements_are_counted_and_extremes_named(captions, about, said):
    captions.path.write_text('[table.ages]\nclosing = "{about[age]:count}, {about[share]:ends}"\n')
    found = captions.words("table", "ages", {"about": about}).closing
    assert found == f"{said} for b (0.5) and lowest for a (0.25)"


def test_extremes_of_nothing_are_no_number(captions):
    captions.path.write_text('[table.ages]\nclosing = "{about:ends}"\n')
    assert captions.words("table", "ages", {"about": pd.Series(dtype=float)}).closing == "no number"
