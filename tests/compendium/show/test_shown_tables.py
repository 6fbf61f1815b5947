"""Tables for readers: percentages, intervals beside values, at most eight columns, nothing lost without a word."""

import re

import pandas as pd
import pytest

from compendium.show.tables import FOLDED, MOST_COLUMNS, readable, shown_table


def shown(**columns):
    return readable(pd.DataFrame(columns))


def test_bounds_stand_beside_their_value():
    found = shown(accuracy=[0.62], accuracy_low=[0.591], accuracy_high=[0.648], n=[96])
    assert found.head == ["accuracy, %", "n"]
    assert found.rows == [["62.0 [59.1, 64.8]", "96"]]


def test_plain_low_and_high_belong_to_the_value_between_them():
    found = shown(deviation=[0.001], accuracy=[0.62], low=[0.591], high=[0.648])
    assert found.head == ["deviation", "accuracy, %"]
    assert found.rows == [["0.001", "62.0 [59.1, 64.8]"]]


def test_bounds_that_are_missing_are_left_out():
    found = shown(share=[0.5, 0.25], share_low=[float("nan"), 0.1], share_high=[float("nan"), 0.4])
    assert [row[0] for row in found.rows] == ["50.0", "25.0 [10.0, 40.0]"]


def test_only_shares_become_percentages():
    found = shown(suitability=[0.33], loss=[125.2], private_after=[0.2457], rows=[48842])
    assert found.head == ["suitability", "loss", "private after, %", "rows"]
    assert found.rows == [["0.33", "125", "24.6", "48842"]]


def test_a_table_has_one_unit():
    assert shown(score=[0.702], chance=[0.57], above=[0.132]).head == ["score, %", "chance, %", "above, %"]


def test_an_empty_column_is_not_shown():
    found = shown(column=["age", "work"], original=[float("nan")] * 2, level=[0.1, 0.2], reason=["", ""])
    assert (found.head, found.rows) == (["column", "level"], [["age", "0.1"], ["work", "0.2"]])


def test_a_sentence_has_a_wide_column():
    html = shown_table(pd.DataFrame({"reason": ["word " * 20, "short"]}), "t")._repr_html_()
    assert html.count("min-width:16rem") == 1


def test_large_numbers_are_no_powers_of_ten():
    assert shown(seconds=[24576.4]).rows == [["24,576"]]


def wide(columns):
    """Return a table of that many columns with long texts, which does not fit a page."""
    return pd.DataFrame([[f"{n}{row} " + "word " * 6 for n in range(columns)] for row in "ab"]).add_prefix("c")


def test_at_most_eight_columns_and_the_others_are_named():
    found = readable(wide(12).assign(same=7.5))
    assert found.head == ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"]
    assert found.remarks == ["The same in all rows: same 7.5.", "More columns in the CSV file: c8, c9, c10, c11."]


def test_what_several_columns_have_in_common_is_said_once():
    """Table 1 over trainings has four units and four numbers of trainings, all the same."""
    same = {f"{name}_{end}": value for name in ("before", "after") for end, value in {"unit": "runs", "n": 5}.items()}
    found = readable(wide(9).assign(**same, before_method="t"))
    assert found.remarks[0] == "The same in all rows: unit runs, n 5, before method t."
    same["after_n"] = [5, 6]
    found = readable(wide(9).assign(**same))
    assert found.remarks[0] == "The same in all rows: unit runs, before n 5."


def test_the_last_column_is_kept():
    assert readable(wide(12)).head == ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c11"]


def test_a_column_with_an_interval_is_kept_before_others():
    frame = wide(10).assign(attack=[0.5, 0.6], attack_low=[0.4, 0.5], attack_high=[0.7, 0.8], reason=["a", "b"])
    assert readable(frame).head == ["c0", "c1", "c2", "c3", "c4", "c5", "attack, %", "reason"]


def test_a_table_of_counts_may_have_a_column_more():
    frame = pd.DataFrame([[1, "rows", 84, 11, 16, 39, 6, 12, 0]] * 2, columns=list("abcdefghi"))
    assert readable(frame).head == list("abcdefghi")


def test_a_narrow_table_keeps_its_constant_columns():
    assert shown(a=[1, 2], b=[3, 3]).head == ["a", "b"]


def test_a_wide_table_scrolls_in_its_own_box_and_says_what_is_missing():
    html = shown_table(wide(11), "Many")._repr_html_()
    assert '<div class="sp-table" style="overflow-x:auto"' in html
    assert "More columns in the CSV file: c7, c8, c9." in html
    assert len(re.findall("<th ", html)) == MOST_COLUMNS


def test_its_markdown_keeps_every_column():
    frame = pd.DataFrame([list(range(10))], columns=list("abcdefghij"))
    assert "| i | j |" in shown_table(frame, "").text


def test_a_row_with_nothing_beside_its_name_becomes_a_remark():
    """Notebook 10's base table had a row "printed in Table 2", whose values are in columns that pages leave out."""
    found = shown(split=["random", "printed in Table 2"], accuracy=[0.5, float("nan")])
    assert found.rows == [["random", "50.0"]]
    assert found.remarks == ["More rows in the CSV file, without a value in these columns: printed in Table 2."]


def test_scores_of_features_are_in_the_unit_of_their_ratio():
    scores = pd.DataFrame({"feature": ["UDP"], "utility": [0.05], "identifiability": [0.02], "ratio": [0.4]})
    shown = readable(scores)
    assert shown.head == ["feature", "utility", "identifiability", "ratio"]
    assert shown.rows == [["UDP", "0.05", "0.02", "0.4"]]
    assert readable(scores.drop(columns="utility")).head[1] == "identifiability, %"  # a share of recognized rows


@pytest.mark.parametrize(("rows", "folds"), [(FOLDED - 1, False), (FOLDED, True)])
def test_a_long_table_is_folded(rows, folds):
    html = shown_table(pd.DataFrame({"n": range(rows)}), "Rows")._repr_html_()
    assert (f"<details><summary>{rows} rows</summary>" in html) == folds
    assert html.count("<tr") == rows + 1
    assert html.count("</details>") == folds
