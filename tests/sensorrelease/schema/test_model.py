"""The schema says what is read and what leaves; a mistake in it is one clear line."""

import datetime as dt

import pytest

from sensorrelease.schema import Constraints, Field, Schema
from sensorrelease.schema.model import fold

TODAY = dt.date(2026, 11, 27)


def schema(**changes):
    load = {"name": "load", "type": "number", "role": "feature", "step": 0.5}
    load |= {"constraints": {"minimum": 0, "maximum": 3000}} | changes
    return Schema(fields=[load, Field(name="room", role="task", constraints=Constraints(enum=["hall", "bath"]))])


def test_a_title_is_the_name_unless_it_is_given():
    assert [field.title for field in schema().fields] == ["load", "room"]
    assert schema(title="x1").field("load").title == "x1"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"step": None}, "a number leaves only with"),
        ({"constraints": {"minimum": 0}}, "a number leaves only with"),
        ({"type": "string", "constraints": {}}, "a text leaves only with its levels"),
        ({"type": "datetime"}, "a datetime does not leave"),
        ({"constraints": {"minimum": 3, "maximum": 1}}, "minimum 3 is above maximum 1"),
        ({"constraints": {"minimum": float("nan"), "maximum": 1}}, "finite"),
        ({"type": "string", "constraints": {"enum": ["Hall", "hall\u200b"]}}, "two spellings"),
        ({"nonconforming": "other"}, "enum has no levels"),
        ({"bareNumber": False}, "unit is not given"),
        ({"step": 0}, "greater than 0"),
        ({"name": "room"}, "two fields have the name 'room'"),
        ({"title": "room"}, "two fields have the title 'room'"),
        ({"role": "task"}, "the role task"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_column_that_must_not_leave_so_is_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        schema(**changes)


def test_a_withheld_column_needs_no_range_and_words_let_a_time_leave():
    assert schema(role="withheld", step=None).features == []
    time = schema(type="datetime", role="time", although="weeks are the subject of the study")
    assert [field.name for field in time.released] == ["load", "room"]


def test_a_confirmation_covers_everything_else():
    confirmed = schema().confirm(TODAY)
    assert confirmed.is_confirmed
    assert not schema().is_confirmed
    assert not confirmed.model_copy(update={"k": 1}).is_confirmed
    assert confirmed.digest == schema().content_digest()


def test_a_name_that_leaves_is_no_path():
    for name in ("../x", "a/b", "", "."):
        if name:
            with pytest.raises(ValueError, match="name"):
                Schema(name=name, fields=[])


def test_spellings_of_a_label_are_compared_without_marks():
    assert fold(" Mu\u0308LLER\u200b ") == fold("Müller") == fold("ＭÜＬＬＥＲ")
    assert fold("Weiß") == fold("WEISS")
    assert fold("1E5") != fold("100000")
