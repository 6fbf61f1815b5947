"""Tables 2 and 3 beside other people: what nine can decide, and what they cannot."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from compendium.papers.paper3.people import beside_printed, compare_people
from compendium.papers.paper3.values import ROWS
from compendium.verdicts import printed_values

NINE = {"people": {"MobiFall": [2, 3, 4, 5, 7, 8, 9, 10, 11]}, "paper_people": 8}
COLUMNS = [f"{who}_{when}" for who in ("public", "private") for when in ("before", "after")]
WINDOWS = {"WAL": 10741, "STD": 10782, "JOG": 1073, "STU": 342}  # of the real set, seed 0


def measured(half: float, **values: float) -> pd.DataFrame:
    """Return accuracies with intervals of this half width; 0.9 if not given."""
    row: dict[str, Any] = {}
    for name in COLUMNS:
        middle = values.get(name, 0.9)
        row |= {name: middle, f"{name}_low": middle - half, f"{name}_high": middle + half}
    table = pd.DataFrame([row | {"n": "9 people"}] * 4, index=list(ROWS["mobiact"]))
    return table.assign(windows=pd.Series(WINDOWS))


def trainings(number: int, spread: float = 0.001, **values: float) -> pd.DataFrame:
    return pd.DataFrame(
        {"seed": seed, "change": "mean shift", "public class": name}
        | {column: values.get(column, 0.9) + spread * (-1) ** seed for column in COLUMNS}
        for seed in range(number)
        for name in ROWS["mobiact"]
    )


def verdicts(table: pd.DataFrame, repeated: pd.DataFrame | None, provenance: Mapping[str, Any] = NINE) -> pd.Series:
    return compare_people("mobifall", "gender", table, provenance, repeated).set_index("claim_id")["verdict"]


def test_networks_that_saw_fewer_windows_contradict_nothing() -> None:
    table, repeated = measured(0.05, private_after=0.5), trainings(5, private_after=0.5)
    some = compare_people("mobifall", "gender", table, {**NINE, "most": 60}, repeated).set_index("claim_id")
    every = verdicts(table, repeated)
    assert every["3-T2-walking-gen-after"] == "differs"
    assert some.loc["3-T2-walking-gen-after", "verdict"] == "undecided"
    assert "saw 60 windows of each recording" in some.loc["3-T2-walking-gen-after", "reason"]
    accuracies = ~some.index.str.endswith("embeddings")
    assert (some["verdict"][accuracies].eq("within") == every[accuracies].eq("within")).all()


def test_our_value_is_of_the_training_that_its_interval_is_about() -> None:
    """On MobiFall the mean of five trainings was .80, beside an interval of .85 to .95 of the first one."""
    compared = compare_people("mobifall", "gender", measured(0.05), NINE, trainings(5, public_after=0.8))
    accuracies = compared[~compared["claim_id"].str.endswith("embeddings")]
    assert accuracies["ours"].between(accuracies["low"], accuracies["high"]).all()


def test_every_cell_has_a_row_with_its_basis() -> None:
    for private, number in (("gender", "2"), ("weight", "3")):
        compared = compare_people("mobifall", private, measured(0.05), NINE)
        printed = printed_values(3)
        assert set(compared["claim_id"]) == set(printed.loc[printed["table"] == number, "claim_id"])
        assert set(compared["basis"]) == {"rows, 8 of 36 people"}


@pytest.mark.parametrize(
    ("dataset", "private", "protocol"),
    [
        ("mobiact", "gender", ("paper", "deterministic")),
        ("mobifall", "subject", ("paper", "deterministic")),
        ("mobifall", "gender", ("tail", "deterministic")),
        ("mobifall", "gender", ("paper", "probabilistic")),
    ],
)
def test_only_the_papers_protocol_on_other_people_is_compared(
    dataset: str, private: str, protocol: tuple[str, str]
) -> None:
    assert compare_people(dataset, private, measured(0.05), NINE, protocol=protocol).empty


def test_what_nine_people_can_decide() -> None:
    """Printed for walking, activity before: 98 %."""
    claim, close, far = "3-T2-walking-act-before", {"public_before": 0.95}, {"public_before": 0.6}
    assert verdicts(measured(0.05, **close), None)[claim] == "undecided", "one training"
    assert verdicts(measured(0.05, **close), trainings(5, **close))[claim] == "within"
    assert verdicts(measured(0.15, **close), trainings(5, **close))[claim] == "undecided", "too wide"
    assert verdicts(measured(0.05, **far), trainings(5, **far))[claim] == "differs"
    assert verdicts(measured(0.05, **far), trainings(5, 0.3, **far))[claim] == "undecided", "trainings differ as much"


def test_numbers_of_windows_are_scaled_to_the_papers_people() -> None:
    """Standing: 43.2k of 36 people, so 10.8k of nine. Stairs: more windows of a person than the paper has."""
    counts = compare_people("mobifall", "gender", measured(0.05), NINE).set_index("claim_id")
    counts = counts[counts.index.str.endswith("embeddings")]
    assert counts["ours"].astype(int).tolist() == [42964, 43128, 4292, 1368]
    assert counts["verdict"].tolist() == ["within", "within", "within", "differs"]
    assert counts.loc["3-T2-stairs-up-embeddings", "reason"] == "38 test windows of a person here, 28 in the paper"
    thin = verdicts(measured(0.05), None, NINE | {"most": 40})
    assert thin["3-T2-standing-embeddings"] == "undecided"


def test_the_layout_of_the_printed_tables() -> None:
    compared = compare_people("mobifall", "gender", measured(0.05, public_before=0.95), NINE)
    table = beside_printed(compared, 9)
    assert table.index.get_level_values("activity").unique().tolist() == ["Walking", "Standing", "Jogging", "Stairs up"]
    printed, ours = table.index.get_level_values("values")[:2]
    assert (printed, ours) == ("printed, 36 people", "ours, 9 people, 8 of the paper's 36")
    assert table.loc[("Walking", printed), "Act. Before"] == "98.00%"
    assert table.loc[("Walking", ours), "Act. Before"] == "95% [90, 100] ?"
    assert table.loc[("Standing", ours), "nb. Embeddings"] == "43.1k ≈"
