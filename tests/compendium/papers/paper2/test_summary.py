"""What paper 2 says of its data sets together, against hand-made tables whose answers are known."""

import pandas as pd

from compendium.papers.paper2 import values as paper2_summary


def measures(**columns):
    return pd.DataFrame(columns, index=["titanic", "adult"])


def test_extreme_utility_is_compared_as_printed():
    rows = {name: [value, value] for name, value in (("ambiguous", 1), ("stability", 0.2), ("suitability", 0.3))}
    final, extreme = measures(utility=[0.7912, 0.5], **rows), measures(utility=[0.7914, 0.6], **rows)
    found = paper2_summary.summary_statements(final, final, extreme)
    assert found == {"2-text-extreme-utility-titanic": False}  # .79 against .79; Adult has no such statement


def test_what_holds_of_all_five_sets():
    five = ["titanic", "adult", "bank", "heart", "student"]
    start, final, extreme = (
        pd.DataFrame(
            {"ambiguous": sizes, "utility": utility, "stability": stability, "suitability": stability}
        ).set_axis(pd.Index(five))
        for sizes, utility, stability in (
            ([0] * 5, [0.4] * 5, [0.0] * 5),
            ([5] * 5, [0.7] * 5, [0.2, 0.2, 0.2, 0.2, 0.1]),
            ([9] * 5, [0.8] * 5, [0.1, 0.1, 0.1, 0.1, 0.2]),
        )
    )
    ours = paper2_summary.summary_statements(start, final, extreme)
    assert ours["2-text-all-improve"] is True
    assert ours["2-text-extreme-stability"] is False  # the last one's .2 is not below .1
    assert ours["2-text-start-smallest-ambiguous"] is True
    assert ours["2-text-datasets"] == 5


def test_steps_are_compared_by_ratio():
    steep = pd.Series({0.01: 100.0, 0.05: 20.0, 0.1: 15.0, 0.2: 12.0})
    level = pd.Series({0.01: 30.0, 0.05: 20.0, 0.1: 10.0})
    good = paper2_summary.iteration_statements(steep, {"adult": "ends"}, 0.05)
    poor = paper2_summary.iteration_statements(level, {"adult": "cycle: (1, 2)"}, 0.05)
    flags = ["2-text-fig3-more-iterations-below", "2-text-fig3-little-change-beyond", "2-text-algorithm-stops"]
    assert [good[flag] for flag in flags] == [True, True, True]
    assert [poor[flag] for flag in flags] == [False, False, False]


def test_what_the_paper_assumes_of_thresholds_is_held_against_its_own_tables():
    assert paper2_summary.threshold_statements() == {
        "2-text-beta-below-alpha": False,
        "2-text-thresholds-sum-to-one": False,
    }
