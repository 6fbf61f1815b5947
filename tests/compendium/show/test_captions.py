"""Captions beside a notebook: placeholders, closing sentences by rule, and errors that name the entry."""

import pandas as pd
import pytest

from compendium.show.captions import CaptionError, Captions

TEXT = """
[table.ages]
caption = "{name}: {table.shape[0]} rows at {step:g}"
closing = {rule = "extremes", of = "age", by = "who", what = "age of {name}"}

[table.above]
caption = "Counted"
closing = {rule = "count", of = "age > @least", things = "ages", predicate = "are above {least}"}

[table.row]
caption = "One row"
closing = {rule = "against_chance", row = 0, names = {age = "The age"}}

[table.beside]
caption = "Beside"
closing = {rule = "extremes", by = "who", of = "age", what = "age", beside = {"age at {name}" = "chance + {least}"}}

[figure.pair]
caption = "Two values"
closing = {rule = "against", name = "Ours", reference_name = "theirs"}

[sentence.moved]
closing = {rule = "change", names = {age = "age of {name}"}}
"""
AGES = pd.DataFrame({"who": ["Ann", "Ben"], "age": [30.0, 20.0], "chance": [25.0, 25.0]})


@pytest.fixture
def captions(tmp_path):
    path = tmp_path / "10_x.toml"
    path.write_text(TEXT)
    return Captions(path, {"name": "home", "step": 0.5, "table": AGES, "least": 25})


@pytest.mark.parametrize(
    ("kind", "name", "about", "closing"),
    [
        ("table", "ages", AGES, "The age of home is highest for Ann (30) and lowest for Ben (20)."),
        ("table", "ages", AGES.head(0), "There are no numbers for the age of home."),
        ("table", "above", AGES, "1 of 2 ages are above 25."),
        ("table", "row", AGES, "The age is 30, above chance (25)."),
        ("table", "beside", AGES.head(1), "The age of Ann is 30, age at home 50."),
        ("figure", "pair", (2, 3), "Ours is 2, below theirs (3)."),
        ("sentence", "moved", ({"age": 2}, {"age": 3}), "The age of home rises from 2 to 3."),
    ],
)
def test_a_closing_sentence_follows_its_rule(captions, kind, name, about, closing):
    assert captions.words(kind, name, about, {}).closing == closing


def test_placeholders_are_names_of_the_notebook_or_given(captions):
    assert captions.words("table", "ages", AGES, {}).caption == "home: 2 rows at 0.5"
    assert captions.words("table", "ages", AGES, {"name": "work"}).caption == "work: 2 rows at 0.5"
    captions.names["name"] = "later"  # looked up when the result is shown
    assert captions.words("table", "ages", AGES, {}).caption == "later: 2 rows at 0.5"


def test_a_percentage_is_written_as_elsewhere(captions):
    captions.path.write_text('[table.share]\ncaption = "{step:.1%} of {least:g}"\n')
    assert captions.words("table", "share", AGES, {}).caption == "50.0 % of 25"


def test_a_missing_entry_or_name_is_named(captions):
    with pytest.raises(CaptionError, match=r"10_x\.toml has no entry \[figure\.ages\]: add one with its caption"):
        captions.words("figure", "ages", AGES, {})
    del captions.names["step"]
    with pytest.raises(CaptionError, match=r"\[table\.ages\]: the notebook has no 'step'"):
        captions.words("table", "ages", AGES, {})


@pytest.mark.parametrize(
    ("value", "said"), [(True, "Yes"), (pd.Series([0.0])[0], "No"), (None, "Undecided"), (float("nan"), "Undecided")]
)
def test_a_sentence_answers_by_a_value(captions, value, said):
    captions.path.write_text('[sentence.answer]\nclosing = "{flag:Yes|No|Undecided}: {about[0]:.0%} of {name}."\n')
    assert captions.words("sentence", "answer", (0.5, 2), {"flag": value}).closing == f"{said}: 50 % of home."
