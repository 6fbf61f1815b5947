"""Printed values: forms of numbers, rules of the files, decimals to be held to."""

import math
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.verdicts.printed import (
    COLUMNS,
    kind_of,
    pair_in,
    precision,
    printed_table,
    printed_values,
    set_in,
)
from compendium.verdicts.words import BASES, PAPERS

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

VARIED = {"rows", "draws", "trainings", "windows"}
"""What can differ between the paper's run and ours: test rows; training rows and models, too; trainings; timing."""


def plain(text: str) -> tuple[float, int] | None:
    match = re.fullmatch(r"-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?", text.strip())
    return match and (float(match[0].replace(",", "")), max(len(match[3] or "") - 1, 0))


def number_in(printed: str) -> tuple[float, int | None] | None:
    """Return the number that a printed text states, and its printed decimals; None if it states none.

    A percentage has two decimals more, and a fraction is exact: it has none.
    """
    text = printed.strip()
    if text in WORDS:
        return float(1 + WORDS.index(text)), 0
    if text.endswith("%") and (share := plain(text[:-1])):
        return round(share[0] / 100, share[1] + 2), share[1] + 2
    if "/" in text and all(parts := [plain(part) for part in text.split("/", 1)]):
        return parts[0][0] / parts[1][0], None
    if "×" in text and all(parts := [plain(part) for part in text.split("×")]):
        return math.prod(part[0] for part in parts if part), 0
    return plain(text)


@pytest.mark.parametrize(
    ("printed", "number"),
    [
        ("0.75", (0.75, 2)),
        ("1", (1.0, 0)),
        ("48,842", (48842.0, 0)),
        ("-0.50", (-0.5, 2)),
        ("30%", (0.3, 2)),
        ("97.5%", (0.975, 3)),
        ("2/20", (0.1, None)),
        ("12 × 10 × 1", (120.0, 0)),
        ("three", (3.0, 0)),
        ("0.000696", (0.000696, 6)),
    ],
)
def test_numbers_are_read_in_every_form_that_the_papers_use(printed, number):
    assert number_in(printed) == number


@pytest.mark.parametrize(
    "printed", ["", "{Age}", "(0.5, 0.5)", "true", "N/A", "4,88", "1.2.3", "2020-05-04 12:55:45", "a/b"]
)
def test_what_is_no_number_is_none(printed):
    assert number_in(printed) is None


@given(st.decimals(min_value=-9999, max_value=9999, places=4, allow_nan=False).filter(lambda number: abs(number) >= 1))
def test_a_decimal_number_keeps_its_value_and_its_decimals(number):
    assert number_in(f"{number:.4f}") == (float(f"{number:.4f}"), 4)


@pytest.mark.parametrize(
    ("printed", "value", "kind"),
    [
        ("0.75", 0.75, "number"),
        ("{Age, Name}", math.nan, "set"),
        ("(0.95, 0.05)", math.nan, "pair"),
        ("true", math.nan, "truth"),
        ("Motion", math.nan, "text"),
        ("5895", math.nan, "text"),
    ],
)
def test_a_claim_is_told_by_its_form(printed, value, kind):
    assert kind_of(printed, value) == kind


def test_sets_and_pairs_are_taken_apart():
    assert set_in("{Walc, Health }") == ("Walc", "Health")
    assert pair_in("(0.70, 0.3)") == ((0.7, 2), (0.3, 1))
    with pytest.raises(ValueError, match=r"'0\.7' is not a pair"):
        pair_in("0.7")


def test_only_one_paper_when_asked():
    assert set(printed_values(2)["paper"]) == {2}
    assert {"2-T2-age"} <= set(printed_values()["claim_id"])
    with pytest.raises(ValueError, match="paper=4: the papers are 1, 2, 3"):
        printed_values(4)


def test_a_caller_cannot_spoil_the_values_for_the_next():
    first = printed_values(2)
    first.loc[0, "value"] = 99.0
    assert printed_values(2).loc[0, "value"] != 99.0


@pytest.mark.parametrize("paper", PAPERS)
def test_the_files_keep_their_rules(root, paper):
    """Each id names its paper and table, each number is what its text states, each word is a known one."""
    text = (root / "data" / "paper" / f"paper-{paper}.csv").read_text(encoding="utf-8")
    assert tuple(text.partition("\n")[0].split(",")) == COLUMNS
    values = printed_values(paper)
    assert values["claim_id"].is_unique
    assert (values["paper"] == paper).all()
    assert (values["printed"] != "").all()
    for claim in values.itertuples():
        table = "text" if claim.table == "text" else f"T{claim.table}"
        assert re.fullmatch(rf"{paper}-{table}-[a-z0-9]+(-[a-z0-9]+)*", claim.claim_id)
        decimals = None if pd.isna(claim.decimals) else claim.decimals
        if math.isnan(claim.value):
            assert decimals is None, claim.claim_id
        else:
            assert number_in(claim.printed) == (claim.value, decimals)
        assert set(claim.basis.split(" | ")) <= set(BASES), claim.claim_id
        assert set(filter(None, claim.varied.split(", "))) <= VARIED, claim.claim_id
        cells = (claim.basis, claim.our_table, claim.where, claim.our_column)
        assert len({cell.count("|") for cell in cells}) == 1, claim.claim_id


def test_dropped_zeros_are_restored():
    values = printed_values(2)
    held = dict(zip(values["claim_id"], precision(values), strict=True))
    assert held["2-T9-r1-suitability"] == 2  # printed 0
    assert held["2-T12-r5-utility"] == 2  # printed 0.8
    assert held["2-T7-name"] == 3  # printed 1
    assert held["2-T7-survived"] == 4  # printed with more than is usual
    assert held["2-T9-r1-sensitive"] == 0
    assert held["2-text-adult-start-stability"] == 2  # printed 0, beside 0.23
    assert pd.isna(held["2-text-work-gov"])  # 2/20 is exact
    assert pd.isna(held["2-T14-adult-sensitive"])


def test_precision_is_never_less_than_printed():
    values = printed_values().dropna(subset=["decimals"])
    assert (precision(values) >= values["decimals"]).all()


def test_a_printed_table_has_its_own_rows_and_columns():
    table = printed_table(2, "10")
    assert table.index[:2].tolist() == ["(0.50, 0.50)", "(0.50, 0.45)"]
    assert table.columns.tolist() == ["Sen", "Non-Sen", "Amb", "Utility", "Stability", "Suitability"]
    assert table.loc["(0.50, 0.50)", "Utility"] == 0.68
    assert printed_table(2, "10", "claim_id").iloc[2, 3] == "2-T10-r3-utility"


def test_every_value_states_a_basis_and_only_measured_ones_what_varied():
    """Batch sizes, sums and statements have no interval, so nothing can be 'within' for them."""
    values = printed_values()
    assert (values["basis"] != "").all()
    assert set(values.loc[values["varied"] != "", "basis"]) <= {"rows", "log", "rows | log", "arithmetic"}
    named = values.set_index("claim_id")["basis"]
    assert named["1-T7-thr0-accuracy"] == "rows | log"
    assert named["3-text-probabilistic-prevents"] == "text"
    assert named["2-T4-adult-records"] == "configuration"
