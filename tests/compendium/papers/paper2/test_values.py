"""What paper 2's claims ask of a run's tables, against hand-made tables whose answers are known."""

import pandas as pd
import pytest

from compendium.papers.paper2 import values as paper2
from compendium.verdicts import judge, printed_values


def test_entropies_are_matched_by_the_printed_name_whatever_its_spelling():
    values = printed_values(2)
    printed = values[values["table"] == "8"].set_index("row")["value"]
    ours = printed.rename(lambda name: name.upper().replace(" ", "_")).rename({"TARGET": "income"})
    claims = paper2.entropy_claims("8", ours, {"income": "Target"})
    assert len(claims) == 15
    assert (judge(claims, run="t")["verdict"] == "exact").all()


def test_an_attribute_that_is_missing_is_an_error():
    with pytest.raises(KeyError):
        paper2.entropy_claims("7", pd.Series({"Age": 0.5}))


def test_the_printed_thresholds_head_the_rows():
    assert paper2.printed_thresholds("9") == [(0.5, 0.5), (0.5, 0.45), (0.55, 0.45), (0.95, 0.1), (0.95, 0.05)]
    assert len(paper2.printed_thresholds("3")) == 6


@pytest.mark.parametrize("table", ["3", "9", "10", "11", "12", "13"])
def test_a_table_copied_from_the_paper_answers_every_cell_exactly(table):
    values = printed_values(2)
    cells = values[values["table"] == table]
    rows = cells["claim_id"].str.split("-").str[2]
    names = cells["claim_id"].str.split("-", n=3).str[3].str.replace("-", "_")
    frame = cells.assign(place=rows, name=names).pivot_table(index="place", columns="name", values="value")
    claims = paper2.appraisal_claims(table, frame)
    assert set(claims) == set(cells["claim_id"])
    assert (judge(claims, run="t")["verdict"] == "exact").all()


def test_a_table_of_another_length_is_refused():
    with pytest.raises(ValueError, match="4 appraised rows, but Table 9 prints 5"):
        paper2.appraisal_claims("9", pd.DataFrame({"utility": [0.1] * 4}))


def test_the_path_counts_only_accepted_pairs():
    pairs = paper2.printed_thresholds("9")
    trace = pd.DataFrame(pairs, columns=["alpha", "beta"]).assign(accepted=[True, True, True, False, True])
    sizes = {"sensitive": [4, 2], "non_sensitive": [8, 5], "ambiguous": [0, 5]}
    ends = pd.DataFrame({**sizes, "utility": [0.42, 0.72], "stability": [0, 0.21], "suitability": [0, 0.33]})
    ends = ends.assign(alpha=[0.5, 0.95], beta=[0.5, 0.05])
    claims = paper2.search_claims("titanic", trace, ends.iloc[0], ends.iloc[1])
    verdicts = judge(claims, run="t", unexplained="allow").set_index("claim_id")["verdict"]
    assert verdicts.pop("2-text-path-titanic-r4") == "differs"
    assert (verdicts == "exact").all()
    assert {"2-text-moved-titanic-sensitive", "2-text-gain-titanic-utility", "2-text-final-titanic"} <= set(
        verdicts.index
    )


def test_the_example_is_answered_from_its_rows():
    sample = pd.DataFrame({"Age": [1, 2, 3, 4], "Work": ["Gov.", "Self", "Priv.", "Priv."], "Loss": [0, 0, 0, 0]})
    groups = {"sensitive": ("Age",), "non_sensitive": ("Loss",), "ambiguous": ("Work",)}
    measures = {"utility": 0.9, "stability": 0.08, "suitability": 0.15}
    entropies = pd.Series({"Age": 1.386, "Work": 1.04, "Loss": 0.0})
    ours = paper2.example_claims(sample, entropies, groups, measures, (0.7, 0.3))
    assert ours["2-text-work-priv"] == 0.5
    assert (ours["2-text-example-numerator"], ours["2-text-example-denominator"]) == (1, 6)
    assert ours["2-text-sample-age-highest"] is True
    assert ours["2-text-sample-loss-lowest"] is True
    values = printed_values(2)
    of_example = values["claim_id"].str.match("2-text-(example|work|sample)-")
    assert set(ours) == set(values.loc[of_example, "claim_id"])


def test_titanic_s_own_sentences_are_answered():
    frame = pd.DataFrame({"PassengerId": [1, 2], "Sex": ["male", "female"], "Survived": [0, 1]})
    groups = {
        "sensitive": ("PassengerId", "Name"),
        "non_sensitive": ("Survived", "Sex", "SibSp", "Parch", "Embarked"),
        "ambiguous": ("Pclass", "Age", "Ticket", "Fare", "Cabin"),
    }
    evaluation = pd.Series({"PassengerId": 1.0, "Name": 1.0, "Sex": 0.0})
    ours = paper2.titanic_claims(frame, evaluation, groups)
    values = printed_values(2)
    assert set(ours) == set(values.loc[values["claim_id"].str.startswith("2-text-titanic-"), "claim_id"])
    assert (judge(ours, run="t")["verdict"] == "exact").all()
