"""The rule of every verdict."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compendium.verdicts import Ours, judge
from compendium.verdicts.ledger import Entry
from compendium.verdicts.printed import COLUMNS as VALUE_COLUMNS
from compendium.verdicts.verdicts import COLUMNS, UnexplainedError

TEXTS = {"paper": 2, "title": "t", "says": "s", "evidence": "r", "effect": "e", "choice": "c"}
TEXTS |= {"status": "conjectured", "demonstration": ("tests/x.py",)}
ENTRY = Entry(id="D7", reason="the rows differ", explains=("2-T2-b", "2-T14-s"), **TEXTS)
MENDED = {"Martial status": "Marital status"}
MISPRINT = Entry(id="D8", reason="misprint", bears_on=("2-T14-*",), misprints=MENDED, **TEXTS)


def claims(**printed: tuple[str, float, int | None]) -> pd.DataFrame:
    rows = [
        (f"2-{name.replace('_', '-')}", 2, name.split("_")[0].removeprefix("T"), "row", name, text, value, decimals)
        for name, (text, value, decimals) in printed.items()
    ]
    frame = pd.DataFrame(rows, columns=list(VALUE_COLUMNS[:8])).astype({"decimals": "Int64", "value": float})
    return frame.assign(basis="rows | log", varied="")


MEASURED = "1-T5-thr0-accuracy"  # other test rows were drawn
TRAINED = "3-T1-walking-gen-after"  # other networks were trained
VALUES = claims(
    T2_a=("0.50", 0.5, 2),
    T2_b=("0.20", 0.2, 2),
    T2_f=("2/20", 0.1, None),
    T14_s=("{Age, Martial status}", math.nan, None),
    T15_p=("(0.70, 0.3)", math.nan, None),
    text_path_t=("true", math.nan, None),
    T6_w=("Living room", math.nan, None),
)


VALUES = pd.concat(
    [
        VALUES,
        VALUES.head(1).assign(claim_id=MEASURED, varied="rows, draws"),
        VALUES.head(1).assign(claim_id=TRAINED, varied="trainings"),
    ],
    ignore_index=True,
)


def one(ours: object, claim: str = "2-T2-a", **options) -> pd.Series:
    options = {"values": VALUES, "ledger": (ENTRY, MISPRINT), "unexplained": "allow"} | options
    return judge({claim: ours}, run="r", **options).iloc[0]


def test_columns_are_exactly_those_of_the_contract():
    judged = judge({"2-T2-age": 1.0}, run="r")
    assert tuple(judged.columns) == COLUMNS
    head = "claim_id,paper,table,row,column,printed,ours,low,high,unit,verdict,basis,reason,run"
    assert ",".join(COLUMNS) == head
    assert judged.iloc[0].to_dict() | {"low": 0, "high": 0} == {
        **{"claim_id": "2-T2-age", "paper": 2, "table": "2", "row": "Age", "column": "Entropy", "printed": "1.0"},
        **{"ours": "1", "low": 0, "high": 0, "unit": "", "verdict": "exact", "basis": "rows", "reason": "", "run": "r"},
    }


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(0.5, "exact"), (0.505, "exact"), (0.495, "exact"), (0.5051, "differs"), (0.4949, "differs"), (1, "differs")],
)
def test_exact_reaches_half_a_unit_of_the_last_digit(ours, verdict):
    assert one(ours)["verdict"] == verdict


@given(st.integers(0, 6), st.integers(-10_000, 10_000), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_exact_is_what_rounds_to_the_printed_value(decimals, units, shift):
    unit = 10.0**-decimals
    text = f"{units * unit:.{decimals}f}"
    value, ours = float(text), units * unit + shift * unit
    verdict = one(ours, values=claims(T2_a=(text, value, decimals)))["verdict"]
    if abs(abs(shift) - 0.5) > 1e-4:  # on the half unit itself both neighbours count
        assert (verdict == "exact") == (abs(shift) < 0.5)


@given(st.floats(0.01, 1), st.floats(0, 0.3), st.floats(0, 0.3))
@settings(max_examples=40, deadline=None)
def test_within_is_what_our_interval_holds(value, below, above):
    judged = one(Ours(value, value - below, value + above, "rows", 90), MEASURED)
    if abs(value - 0.5) > 0.0051:
        inside = value - below <= 0.5 + 1e-12 and value + above >= 0.5 - 1e-12  # as the judge
        assert judged["verdict"] == ("within" if inside else "differs")
    assert judged["low"] == pytest.approx(value - below)
    assert judged["high"] == pytest.approx(value + above)


def test_a_fraction_is_held_exactly():
    assert one(2 / 20, "2-T2-f")["verdict"] == "exact"
    assert one(0.1001, "2-T2-f")["verdict"] == "differs"


def test_a_printed_value_outside_our_interval_differs():
    assert one(Ours(0.52, 0.51, 0.53, "rows"), MEASURED)["verdict"] == "differs"


def test_a_printed_value_in_our_interval_has_this_as_its_reason():
    judged = one(Ours(0.6, 0.4, 0.8, "rows", 2181), MEASURED)
    assert judged["reason"] == "the printed value lies in our interval over rows"
    assert judged["unit"] == "2,181 rows"


def test_an_interval_does_not_make_a_value_less_than_exact():
    assert one(Ours(0.5, 0.4, 0.6, "rows"), MEASURED)["verdict"] == "exact"


def test_an_interval_over_what_the_paper_shared_decides_nothing():
    """B6: the paper's test recordings are ours too. Only another training could give another value."""
    judged = one(Ours(0.6, 0.4, 0.8, "recordings", 96), TRAINED)
    assert judged["verdict"] == "undecided"
    assert judged["reason"].endswith("the paper used the same recordings")
    assert one(Ours(0.6, 0.4, 0.8, "trainings", 5), TRAINED)["verdict"] == "within"
    assert one(Ours(0.6, 0.4, 0.8, "rows"))["verdict"] == "undecided"  # nothing varied in paper 2's tables


@pytest.mark.parametrize("n", [1, 3, 4])
def test_few_trainings_decide_nothing(n):
    """B6: neither agreement nor a difference follows from three trainings."""
    for value in (0.6, 0.9):
        judged = one(Ours(value, value - 0.15, value + 0.15, "trainings", n), TRAINED, unexplained="error")
        assert judged["verdict"] == "undecided"
        assert judged["reason"] == f"{n} training{'s' * (n > 1)}: a prediction interval needs 5"
    assert one(Ours(0.5, over="trainings", n=n), TRAINED)["verdict"] == "exact"
    assert one(Ours(0.9, 0.8, 1.0, "trainings", 5), TRAINED)["verdict"] == "differs"


def test_a_claim_that_the_data_cannot_decide_is_undecided():
    reason = "one pair of data sets\ndoes not decide"
    with_value = one(True, "2-text-path-t", undecided={"2-text-path-t": reason})
    assert with_value[["ours", "verdict", "reason"]].tolist() == ["true", "undecided", " ".join(reason.split())]
    judged = judge({}, run="r", undecided={"2-text-path-t": "why"}, values=VALUES, ledger=()).iloc[0]
    assert judged[["ours", "verdict", "reason"]].tolist() == ["", "undecided", "why"]


def test_a_run_may_name_the_basis():
    assert one(0.5, MEASURED)["basis"] == "rows"
    assert one(0.5, MEASURED, basis={MEASURED: "log"})["basis"] == "log"


def test_differs_quotes_the_ledger():
    judged = one(0.3, "2-T2-b", unexplained="error")
    assert (judged["verdict"], judged["reason"]) == ("differs", "D7: the rows differ")


def test_a_difference_that_nothing_explains_is_an_error():
    with pytest.raises(UnexplainedError, match=r"2-T2-a \(printed 0\.50, ours 0\.9\)"):
        one(0.9, unexplained="error")
    assert one(0.9)["reason"] == ""


def test_what_the_paper_contradicts_is_not_reproducible():
    judged = one(0.9, impossible={"2-T2-a": "row 1 says 0.4", "2-T2-b": "not asked"}, unexplained="error")
    assert (judged["verdict"], judged["reason"]) == ("not reproducible", "row 1 says 0.4")
    assert one(0.5, impossible={"2-T2-a": "row 1 says 0.4"})["verdict"] == "exact"
    assert one(0.9, "2-T2-b", impossible={"2-T2-b": "why"})["reason"] == "why; D7: the rows differ"


def test_no_data_carries_its_reason():
    judged = judge({}, run="r", no_data={"2-T2-a": "in the\n12 GB"}, values=VALUES, ledger=()).iloc[0]
    assert (judged["verdict"], judged["reason"], judged["ours"]) == ("no data", "in the 12 GB", "")


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ({"age", "Marital-Status"}, "exact"),
        (["Age", "marital status"], "exact"),
        (pd.Index(["AGE", "marital_status"]), "exact"),
        (np.array(["Age", "Maritalstatus"]), "exact"),
        (["Age", "Martial status"], "exact"),
        ({"Age"}, "differs"),
        ({"Age", "Marital status", "Name"}, "differs"),
        (["Age", "Age", "Marital status"], "differs"),
        (set(), "differs"),
    ],
)
def test_sets_are_compared_as_sets_of_names(ours, verdict):
    assert one(ours, "2-T14-s")["verdict"] == verdict


def test_a_mended_misprint_is_owned_up_to():
    assert one({"Age", "Marital status"}, "2-T14-s")["reason"] == "D8: 'Martial status' read as 'Marital status'"
    assert one({"Age", "Martial status"}, "2-T14-s")["reason"] == ""
    assert one({"Age"}, "2-T14-s")["reason"] == "D7: the rows differ"


def test_the_text_of_a_set_does_not_hang_on_its_order():
    assert one({"b", "Age"}, "2-T14-s")["ours"] == one(["Age", "b"], "2-T14-s")["ours"] == "{Age, b}"


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [((0.7, 0.3), "exact"), ([0.7000000001, 0.3], "exact"), ((0.7, 0.25), "differs"), ((0.3, 0.7), "differs")],
)
def test_pairs_of_thresholds(ours, verdict):
    assert one(ours, "2-T15-p")["verdict"] == verdict


@pytest.mark.parametrize(("ours", "verdict"), [(True, "exact"), (np.True_, "exact"), (False, "differs")])
def test_statements_are_true_or_false(ours, verdict):
    assert one(ours, "2-text-path-t")["verdict"] == verdict


@pytest.mark.parametrize(
    ("ours", "verdict"), [("livingroom", "exact"), ("LIVING-ROOM", "exact"), ("bedroom", "differs")]
)
def test_text_is_compared_without_case_and_blanks(ours, verdict):
    assert one(ours, "2-T6-w")["verdict"] == verdict


def test_verdicts_come_in_the_papers_order():
    ours = {"2-text-path-t": True, "2-T2-b": 0.2, "2-T2-a": 0.5}
    judged = judge(ours, run="r", values=VALUES, ledger=())
    assert judged["claim_id"].tolist() == ["2-T2-a", "2-T2-b", "2-text-path-t"]


def test_ours_is_written_without_noise_of_the_last_bits():
    assert one(0.1 + 0.2)["ours"] == "0.3"
    assert one(-0.0)["ours"] == "0"
    assert one(-1e-17)["ours"] == "0"
    assert one(2667)["ours"] == "2667"
    assert one(1412865.0)["ours"] == "1412865"


def test_every_printed_value_of_paper_2_is_exact_against_itself():
    from compendium.verdicts.printed import kind_of, pair_in, printed_values, set_in

    values = printed_values(2)
    read = {
        "number": lambda claim: claim.value,
        "set": lambda claim: set_in(claim.printed),
        "pair": lambda claim: [part[0] for part in pair_in(claim.printed)],
        "truth": lambda claim: claim.printed == "true",
        "text": lambda claim: claim.printed,
    }
    ours = {claim.claim_id: read[kind_of(claim.printed, claim.value)](claim) for claim in values.itertuples()}
    judged = judge(ours, run="r", ledger=())
    assert (judged["verdict"] == "exact").all()
    assert (judged["reason"] == "").all()
