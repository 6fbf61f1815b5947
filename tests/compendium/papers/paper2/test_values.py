"""What paper 2's claims ask of a run's tables, against hand-made tables whose answers are known."""

import pandas as pd
import pytest

from compendium.papers.paper2 import values as paper2
from compendium.verdicts import judge, printed_values
from compendium.verdicts.printed import printed_table
from sensorprivacy import threeway


def test_the_printed_thresholds_head_the_rows():
    assert paper2.printed_thresholds("9") == [(0.5, 0.5), (0.5, 0.45), (0.55, 0.45), (0.95, 0.1), (0.95, 0.05)]
    assert len(paper2.printed_thresholds("3")) == 6


def test_a_table_copied_from_the_paper_answers_every_cell_exactly(judged):
    printed = printed_table(2, "9")
    pairs = pd.DataFrame(paper2.printed_thresholds("9"), columns=["alpha", "beta"])
    names = [*paper2.GROUPS, *paper2.GAINS]
    copied = pairs.join(printed.set_axis(names, axis=1).reset_index(drop=True)).assign(on_path=True)
    assert (judged("21_threeway_division-titanic", {"printed-pairs": copied})["verdict"] == "exact").all()


def test_what_table_14_and_15_print():
    assert paper2.printed_groups().loc["titanic"].tolist() == [2, 5, 5]
    assert paper2.printed_gains().loc["titanic"].tolist() == pytest.approx([0.3, 0.21, 0.33])


def test_the_path_counts_only_accepted_pairs_and_changes_are_gains_or_losses(judged):
    pairs = pd.DataFrame(paper2.printed_thresholds("9"), columns=["alpha", "beta"])
    walked = paper2.with_path(pairs, pairs.assign(accepted=[True, True, True, False, True]))
    assert walked["on_path"].tolist() == [True, True, True, False, True]
    sizes = {"sensitive": [4, 2], "non_sensitive": [8, 5], "ambiguous": [0, 5]}
    ends = pd.DataFrame({**sizes, "utility": [0.42, 0.72], "stability": [0, 0.21], "suitability": [0, 0.33]})
    ends = paper2.ends_table(ends.assign(alpha=[0.5, 0.95], beta=[0.5, 0.05]))
    verdicts = judged("21_threeway_division-titanic", {"ends": ends})["verdict"]
    assert (verdicts == "exact").all()
    assert {"2-text-moved-titanic-sensitive", "2-text-gain-titanic-utility", "2-text-final-titanic"} <= set(
        verdicts.index
    )


def test_groups_have_the_names_of_the_file_and_those_printed():
    groups = {"sensitive": ("b", "a"), "non_sensitive": (), "ambiguous": ("class",)}
    table = paper2.group_table(groups, {"class": "Target"})
    assert table.loc["sensitive"].tolist() == [["a", "b"], ["a", "b"]]
    assert table.loc["ambiguous"].tolist() == [["class"], ["Target"]]


def test_the_example_is_answered_from_its_rows():
    sample = pd.DataFrame({"Age": [1, 2, 3, 4], "Work": ["Gov.", "Self", "Priv.", "Priv."], "Loss": [0, 0, 0, 0]})
    groups = {"sensitive": ("Age",), "non_sensitive": ("Loss",), "ambiguous": ("Work",)}
    entropies = pd.Series({"Age": 1.386, "Work": 1.04, "Loss": 0.0})
    ours = paper2.example_statements(sample, entropies, groups, (0.7, 0.3))
    assert (ours["2-text-example-numerator"], ours["2-text-example-denominator"]) == (1, 6)
    assert ours["2-text-sample-age-highest"] is True
    assert ours["2-text-sample-loss-lowest"] is True
    values = printed_values(2)
    stated = values[(values["run"] == "20_threeway_example") & (values["our_table"] == "statements")]["claim_id"]
    assert set(ours) == set(stated) - {"2-text-count-sensitivity"}


def test_titanic_s_own_sentences_are_answered():
    frame = pd.DataFrame({"PassengerId": [1, 2, 3, 4], "Sex": ["male", "female"] * 2, "Survived": [0, 1, 1, 0]})
    division = threeway.Division(0.95, 0.05, ("PassengerId",), ("Sex",), ("Age", "Fare", "Cabin"))
    evaluation = pd.Series({"PassengerId": 1.0, "Name": 1.0, "Sex": 0.0})
    ours = paper2.titanic_statements(frame, evaluation, division)
    values = printed_values(2)
    stated = values[(values["run"] == "21_threeway_division-titanic") & (values["our_table"] == "statements")]
    assert set(ours) == set(stated["claim_id"])
    assert (judge(ours, run="t")["verdict"] == "exact").all()
    assert paper2.titanic_statements(frame[:3], evaluation, division)["2-text-titanic-none-alone"] is False


def test_values_are_counted_at_printed_precision():
    """A copy of Table 9 has all 30 values, and loses those that are changed."""
    names = [*paper2.GROUPS, *paper2.GAINS]
    pairs = pd.DataFrame(paper2.printed_thresholds("9"), columns=["alpha", "beta"])
    copied = pairs.join(printed_table(2, "9").set_axis(names, axis=1).reset_index(drop=True))

    class Copy:
        def table(self, thresholds):
            assert thresholds == paper2.printed_thresholds("9")
            return copied

    assert paper2.exact_values("titanic", Copy()) == 30
    copied.loc[0, ["utility", "ambiguous"]] = [0.426, 1]
    copied.loc[4, "stability"] += 0.004  # rounds to the printed value
    assert paper2.exact_values("titanic", Copy()) == 28
