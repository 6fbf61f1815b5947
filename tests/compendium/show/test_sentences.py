"""Closing sentences: other numbers give another sentence, and missing numbers give one that says so."""

import math

import pandas as pd
import pytest

from compendium.show import sentences
from compendium.show.figures import shown_figure
from compendium.show.tables import shown_table


@pytest.mark.parametrize(
    ("values", "what", "said"),
    [
        ({"a": 0.2, "b": 0.5}, "accuracy", "The accuracy is highest for b (50.0 %) and lowest for a (20.0 %)."),
        ({"a": 2, "b": 2, "c": 1}, "rank", "The rank is highest for a and b (2) and lowest for c (1)."),
        ({"a": 3, "b": 3, "c": 3, "d": 1}, "rank", "The rank is highest for a and 2 others (3) and lowest for d (1)."),
        ({"a": 0.3, "b": 0.3}, "cost", "a and b have the same cost (0.3)."),
        ({"a": 0.3, "b": math.nan, "c": math.inf}, "cost", "The cost of a is 0.3."),
        ({"a": 1.5, "b": "N/A"}, "cost", "The cost of a is 1.5."),
        ({(1.0, 0): 41302.0, (1, 1): 2}, "size", "The size is highest for (1, 0) (41,302) and lowest for (1, 1) (2)."),
        ({"a": math.nan}, "cost", "There are no numbers for the cost."),
        (None, "cost", "There are no numbers for the cost."),
    ],
)  # fmt: skip
def test_the_highest_and_the_lowest_are_named(values, what, said):
    assert sentences.extremes(None if values is None else pd.Series(values), what) == said


def test_other_numbers_stand_beside_a_single_entry():
    values = pd.Series({"a": 0.9, "b": 0.6, "c": 0.9})
    beside = pd.DataFrame({"chance": [0.5, 0.5, 0.5], "cost": [1.0, 2.5, 3.0]}, index=values.index)
    said = "The accuracy is highest for a and c (90.0 %) and lowest for b (60.0 %, chance 50.0 %, cost 2.5)."
    assert sentences.extremes(values, "accuracy", beside) == said
    assert sentences.extremes(values.head(1), "accuracy", beside) == (
        "The accuracy of a is 90.0 %, chance 50.0 %, cost 1."
    )


def test_points_are_no_percentages():
    said = "The loss in points is highest for a (0.9) and lowest for b (-0.5)."
    assert sentences.extremes(pd.Series({"a": 0.9, "b": -0.5}), "loss in points") == said


def test_the_few_that_are_counted_are_named():
    flags = pd.Series({"raw": False, "donor": True, "shift": None, "noise": False})
    assert sentences.count(flags, "releases", "protect") == "1 of 4 releases (donor) protect; 1 undecided."
    many = pd.Series(dict.fromkeys("abcd", True) | {"e": False})
    assert sentences.count(many, "releases", "protect") == "4 of 5 releases protect."


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([True, False, False], "1 of 3 attacks fail."),
        ([True, True], "Both attacks fail."),
        ([True, True, True], "All 3 attacks fail."),
        ([False, False], "None of the 2 attacks fail."),
        ([True], "1 of 1 attacks fail."),
        ([True, False, None], "1 of 3 attacks fail; 1 undecided."),
        ([None, math.nan], "For all 2 attacks it is undecided whether they fail."),
        ([], "There are no attacks here to judge."),
        (None, "There are no attacks here to judge."),
    ],
)
def test_things_are_counted(flags, said):
    assert sentences.count(flags, "attacks", "fail") == said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["x", "y", "x", None], "The most frequent kind is x (2 of 3 things), before y (1)."),
        (["x", "y"], "The kind is equally often x and y (1 of 2 things each)."),
        (["x", "y", "x", "y", "z"], "The kind is equally often x and y (2 of 5 things each), before z (1)."),
        (["x", "x"], "The kind is x for 2 of 2 things."),
        ({"x": 1, "not_x": 3, "z": 0}, "The most frequent kind is not-x (3 of 4 things), before x (1)."),
        ({"x": 0}, "There are no things here to judge."),
        ([], "There are no things here to judge."),
        (None, "There are no things here to judge."),
    ],
)
def test_the_most_frequent_is_named(values, said):
    assert sentences.most_frequent(values, "kind", "things") == said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"accuracy": 0.7, "low": 0.6, "high": 0.8, "chance": 0.5}, "70.0 % [60.0 %, 80.0 %], above chance (50.0 %)."),
        ({"accuracy": 0.3, "low": 0.2, "high": 0.4, "chance": 0.5}, "30.0 % [20.0 %, 40.0 %], below chance (50.0 %)."),
        (
            {"accuracy": 0.52, "accuracy_low": 0.4, "accuracy_high": 0.6, "accuracy_chance": 0.5},
            "52.0 % [40.0 %, 60.0 %]; the interval contains chance (50.0 %), so it is undecided.",
        ),
        ({"accuracy": 0.7, "chance": 0.5}, "70.0 %, above chance (50.0 %)."),
        ({"accuracy": 0.5, "chance": 0.5}, "50.0 %, the same as chance."),
    ],
)
def test_an_interval_decides_whether_chance_is_beaten(row, said):
    assert sentences.against_chance(row, {"accuracy": "The accuracy"}) == f"The accuracy is {said}"


@pytest.mark.parametrize("row", [None, {"accuracy": 0.5}, {"accuracy": math.nan, "chance": 0.5}])
def test_without_a_number_nothing_is_compared(row):
    said = sentences.against_chance(row, {"accuracy": "The accuracy"})
    assert said == "The accuracy cannot be compared with chance: there are no numbers."


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (0.4, "The accuracy falls from 50.0 % to 40.0 %."),
        (0.6, "The accuracy rises from 50.0 % to 60.0 %."),
        (0.50001, "The accuracy stays at 50.0 %."),
        (math.nan, "The accuracy has no numbers."),
    ],
)
def test_a_change_has_a_direction(after, said):
    assert sentences.change({"a": 0.5}, {"a": after}, {"a": "accuracy"}) == said


@pytest.mark.parametrize(
    ("after", "classes", "said"),
    [
        (0.272, 2, "27.2 % (below chance, 57.0 %; the opposite answer is right in 72.8 %)."),
        (0.272, 3, "27.2 % (below chance, 57.0 %)."),
        (0.6, 2, "60.0 % (chance 57.0 %)."),
    ],
)
def test_a_value_below_chance_is_not_hidden(after, classes, said):
    end = {"a": after, "a_chance": 0.57, "a_classes": classes}
    assert sentences.change({"a": 0.884}, end, {"a": "accuracy"}) == f"The accuracy falls from 88.4 % to {said}"
    row = {"a_before": 0.884, "a_after": after, "a_chance": 0.57, "a_classes": classes}
    assert sentences.before_after(row, {"a": "accuracy"}).endswith(said)


def test_a_series_is_summed_up_by_its_ends():
    assert sentences.first_to_last(pd.Series([3.0, 9, 2, math.nan]), "total") == "The total falls from 3 to 2."
    assert sentences.first_to_last(pd.Series([3, 4]), "total") == "The total rises from 3 to 4."
    assert sentences.first_to_last(pd.Series(dtype=float), "total") == "The total has no numbers."


def test_two_changes_stand_in_one_sentence():
    row = pd.Series({"public_before": 0.9, "public_after": 0.8, "private_before": 0.7, "private_after": 0.7})
    said = sentences.before_after(row, {"public": "accuracy on the activity", "private": "accuracy on gender"})
    assert (
        said == "The accuracy on the activity falls from 90.0 % to 80.0 % and the accuracy on gender stays at 70.0 %."
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["exact", "within"], "All 2 decided values came out as printed."),
        (["exact", "differs", "undecided"], "1 of 2 decided values came out as printed (1 undecided)."),
        (["not reproducible", "no data", "no data"], "0 of 1 decided values came out as printed (2 without data)."),
        (["undecided", "no data"], "No value could be decided (1 undecided, 1 without data)."),
    ],
)
def test_verdicts_are_summed_up(words, said):
    assert sentences.verdicts(pd.DataFrame({"verdict": words, "basis": "rows"})) == said


def test_verdicts_by_construction_are_counted_apart():
    judged = pd.DataFrame({"verdict": ["exact", "exact", "differs"], "basis": ["construction", "rows", "rows"]})
    assert sentences.verdicts(judged) == "1 of 2 decided values came out as printed (1 hold by construction)."


def test_kept_features_are_named_and_what_they_change():
    kept = {"kept": ["a"], "accuracy": 0.9, "all_accuracy": 0.95, "identifiability": 0.2, "all_identifiability": 0.1}
    said = sentences.selection(kept, 3)
    assert said.startswith("1 of 3 features are kept: a. The accuracy falls from 95.0 % to 90.0 %")
    assert said.endswith("the identifiability rises from 10.0 % to 20.0 %.")
    assert sentences.selection(kept, 1).startswith("1 of 1 features are kept. ")


def test_what_cannot_be_measured_is_said():
    kept = {"kept": ["a"], "accuracy": 0.9, "all_accuracy": 0.95, "identifiability": None, "all_identifiability": None}
    said = sentences.selection(kept, 3)
    assert "no numbers" not in said
    assert said.endswith("Nobody is in training and in test rows, so there is no identifiability.")


def test_groups_are_listed():
    said = sentences.groups({"with_noise": ["age", "sex"], "kept": []})
    assert said == "With-noise: age, sex; kept: none."
    assert sentences.groups({}) == sentences.groups(None) == "There are no groups."
    words, beside = pd.Series({0.01: "pca"}), pd.DataFrame({"attack": [0.9]}, index=[0.01])
    assert sentences.groups(words, beside, "loss ") == "Loss 0.01: pca (attack 90.0 %)."


def test_classes_are_listed():
    said = sentences.classes({"activity": ["sit", "walk"], "gender": ["f", "m"]})
    assert said == "There are 2 classes of activity (sit, walk) and 2 classes of gender (f, m)."


def test_changed_cells_are_counted():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1, 1]})
    assert sentences.changed_cells(table, table) == "Every column is published, and no published cell is changed."
    noised = pd.DataFrame({"a": [1.0, 5.5], "b": ["x", None]}, index=[7, 8])
    said = "1 of 3 columns are not published, and noise changes 1 of 4 published cells."
    assert sentences.changed_cells(table, noised) == said


def test_a_closing_sentence_is_shown_below():
    table = shown_table(pd.DataFrame({"a": [1]}), "Caption", "So a < b.")
    assert table._repr_html_().endswith('<p class="sp-closing" style="text-align:left">So a &lt; b.</p>')
    assert "So" not in table.text
    assert repr(table).endswith("\nSo a < b.")
    assert shown_figure(b"", "F", closing="So.")._repr_html_().endswith(">So.</p>")
    assert "sp-closing" not in shown_table(pd.DataFrame({"a": [1]}), "t")._repr_html_()
