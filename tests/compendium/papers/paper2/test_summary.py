"""What paper 2 says of its data sets together, against hand-made tables whose answers are known."""

import pandas as pd
import pytest

from compendium.papers.paper2 import summary as paper2_summary


def measures(**columns):
    return pd.DataFrame(columns, index=["titanic", "adult"])


def test_extreme_utility_is_compared_as_printed():
    row = pd.Series({"utility": 0.7912, "stability": 0.2, "suitability": 0.3})
    better = row.replace(0.7912, 0.7914)
    claims = paper2_summary.extreme_claims("titanic", row, row, better)
    assert claims["2-text-extreme-utility-titanic"] is False  # .79 against .79
    assert claims["2-T15-titanic-extreme-utility"] == 0.7914


def test_the_summary_tells_the_least_and_the_greatest_gain_and_what_holds_of_all():
    start = measures(ambiguous=[0, 0], utility=[0.4, 0.6], stability=[0.0, 0.0], suitability=[0.0, 0.0])
    final = measures(ambiguous=[5, 8], utility=[0.7, 0.7], stability=[0.2, 0.1], suitability=[0.3, 0.2])
    extreme = measures(ambiguous=[9, 9], utility=[0.8, 0.7], stability=[0.1, 0.2], suitability=[0.1, 0.1])
    ours = paper2_summary.summary_claims(start, final, extreme)
    assert ours["2-text-gain-utility-least"] == pytest.approx(0.1)
    assert ours["2-text-gain-utility-most"] == pytest.approx(0.3)
    assert ours["2-text-all-improve"] is True
    assert ours["2-text-extreme-stability"] is False  # adult's .2 is not below .1
    assert ours["2-text-extreme-suitability"] is True
    assert ours["2-text-datasets"] == 2


def test_steps_are_compared_by_ratio():
    steep = pd.Series({0.01: 100.0, 0.05: 20.0, 0.1: 15.0, 0.2: 12.0})
    level = pd.Series({0.01: 30.0, 0.05: 20.0, 0.1: 10.0})
    good = paper2_summary.iteration_claims(steep, {"adult": "ends"}, 0.05)
    poor = paper2_summary.iteration_claims(level, {"adult": "cycle: (1, 2)"}, 0.05)
    flags = ["2-text-fig3-more-iterations-below", "2-text-fig3-little-change-beyond", "2-text-algorithm-stops"]
    assert [good[flag] for flag in flags] == [True, True, True]
    assert [poor[flag] for flag in flags] == [False, False, False]


def test_what_the_paper_assumes_of_thresholds_is_held_against_its_own_tables():
    assert paper2_summary.threshold_claims() == {
        "2-text-beta-below-alpha": False,
        "2-text-thresholds-sum-to-one": False,
    }


def test_missing_data_are_given_as_the_reason_claim_by_claim():
    reasons = paper2_summary.unanswered(["2-T4-adult-records"], {"adult": "get adult", "smart-home": "get the list"})
    assert "2-T4-adult-records" not in reasons
    assert reasons["2-T15-adult-start-utility"] == "get adult"
    assert reasons["2-T6-m06-type"] == "get the list"
    assert reasons["2-T5-r1-value"] == paper2_summary.SAMPLE_TABLES
    absent = {"smart-home-readings": "get the readings"}
    assert paper2_summary.unanswered([], absent)["2-T5-r2-value"].endswith("; get the readings")
    assert reasons["2-text-all-improve"] == "needs all five data sets; not on this machine: adult"
    assert not any(claim.startswith("2-T15-titanic") for claim in reasons)
