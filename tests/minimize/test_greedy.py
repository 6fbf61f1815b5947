"""Greedy orders, the sizes that the authors swept, and the knapsack against brute force."""

from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.minimize.greedy import PERCENTILES, knapsack, rank_features, size_at_percentile, take_features
from sensorprivacy.minimize.scores import cost_to_value


def frame(utility, identifiability, score="shap"):
    table = pd.DataFrame(
        {"feature": [f"f{i}" for i in range(len(utility))], "utility": utility, "identifiability": identifiability}
    )
    table = table.assign(ratio=cost_to_value(table["identifiability"], table["utility"]))
    table.attrs["score"] = score
    return table


FOUR = frame([0.4, 0.3, 0.2, 0.0], [0.8, 0.1, 0.3, 0.2])
cents = st.integers(0, 100).map(lambda n: n / 100)
scored = st.lists(st.tuples(cents, cents), min_size=1, max_size=8).map(
    lambda rows: frame(*map(list, zip(*rows, strict=True)))
)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("utility", "f0 f1 f2 f3"),
        ("identifiability", "f1 f3 f2 f0"),
        ("ratio", "f1 f2 f0 f3"),
        # mean of utility / .4 and (.8 - c) / .7: .5, .875, .607, .429
        ("tradeoff", "f1 f2 f0 f3"),
    ],
)
def test_orders_of_the_text(by, expected):
    assert rank_features(FOUR, by) == expected.split()


def test_orders_of_the_authors():
    information, gini = FOUR.copy(), FOUR.copy()
    information.attrs, gini.attrs = {"score": "information"}, {"score": "gini"}
    assert rank_features(information, "identifiability", variant="authors") == ["f0", "f2", "f3", "f1"]
    # mean of utility / .4 and c / .8: 1, .44, .44, .125, so f1 and f2 depend on rounding
    assert rank_features(information, "tradeoff", variant="authors")[::3] == ["f0", "f3"]
    # c / (1 + v): .571, .077, .25, .2; the highest first
    assert rank_features(gini, "ratio", variant="authors") == ["f0", "f2", "f3", "f1"]
    # SHAP values are ordered as in the text
    assert rank_features(FOUR, "ratio", variant="authors") == rank_features(FOUR, "ratio")
    assert rank_features(gini, "utility", variant="authors") == rank_features(gini, "utility")


@given(scored, st.sampled_from(["utility", "identifiability", "ratio", "tradeoff"]))
def test_an_order_is_a_permutation_sorted_by_its_key(scores, by):
    names = rank_features(scores, by)
    assert sorted(names) == sorted(scores["feature"])
    if by != "tradeoff":
        key = scores.set_index("feature")[by][names].to_numpy()
        np.testing.assert_array_equal(key, np.sort(key)[::-1] if by == "utility" else np.sort(key))


# in thousandths: the solver holds sums to a millionth of V, so nearer misses than that are not its to tell
@given(scored, st.integers(0, 1000))
def test_knapsack_against_every_subset(scores, thousandths):
    wanted = thousandths / 1000 * scores["utility"].sum()
    rows = range(len(scores))
    every = chain.from_iterable(combinations(rows, size) for size in range(len(scores) + 1))
    value, cost = scores["utility"].to_numpy(), scores["identifiability"].to_numpy()
    best = min(cost[list(s)].sum() for s in every if value[list(s)].sum() >= wanted - 1e-12)
    kept = scores["feature"].isin(knapsack(scores, wanted))
    assert value[kept].sum() >= wanted - 1e-6
    assert cost[kept].sum() == pytest.approx(best, abs=1e-6)


def test_a_small_total_utility_is_not_lost_in_the_solver_s_tolerance():
    assert len(knapsack(frame([0.01], [0.01]), 1e-9)) == 1
    assert knapsack(frame([0.01], [0.01]), 0.0) == []


def test_greedy_is_not_the_optimum():
    # utility .3 can be had for .1 by f1; greedy by utility pays .8 for f0
    assert take_features(FOUR, "utility", n_features=1) == ["f0"]
    assert knapsack(FOUR, 0.3) == ["f1"]


def test_sizes_of_the_authors_sweeps(root: Path):
    """Every size they printed, less those that a rule for distinct scores cannot give."""
    table = pd.read_csv(root / "data/paper/logs/sweep_sizes.csv")
    assert set(table["percentile"]) == set(chain(*PERCENTILES.values()))
    table = table[table["dataset"] != "service"]  # copies of CIC-IDS, see the column note
    table = table[table["method"] != "shap_ctv (8)"].join(
        table.groupby("dataset")["n_features"].max(), "dataset", suffixes=("", "_all")
    )
    # features of score zero come and go together
    tied = (table["threshold"].abs() < 0.0025) & (table["n_features"] > 2)
    checked = 0
    for row in table[~tied].itertuples():
        gini = row.method.startswith("impurity")
        # the notebook on NetML had 35 of the 36 features left when it came to impurities
        d = 35 if gini and row.dataset == "netml" else row.n_features_all
        assert row.n_features == size_at_percentile(d, row.percentile, inclusive=gini), row
        checked += 1
    assert checked > 170


def test_percentiles():
    # the authors' preselections: Opportunity's 14, 10, 7 and 5 features at percentiles 10, 7, 5, 3; NetML's 14 at 40
    assert [size_at_percentile(135, p) for p in (10, 7, 5, 3)] == [14, 10, 7, 5]
    assert size_at_percentile(36, 40) == 14
    assert [size_at_percentile(74, p, inclusive=True) for p in (0.03, 3, 10, 100)] == [1, 3, 8, 74]
    assert size_at_percentile(5, 0.03) == 1


def test_bad_input():
    with pytest.raises(ValueError, match="unknown order 'cost'"):
        rank_features(FOUR, "cost")
    with pytest.raises(ValueError, match="unknown variant 'mine'"):
        rank_features(FOUR, variant="mine")
    with pytest.raises(ValueError, match="n_features=5: keep between 1 and 4"):
        take_features(FOUR, n_features=5)
    with pytest.raises(ValueError, match="n_features=0"):
        take_features(FOUR, n_features=0)
    with pytest.raises(ValueError, match="percentile=0"):
        size_at_percentile(4, 0)
    with pytest.raises(ValueError, match=r"total_utility=1\.0: must be between 0 and 0\.9"):
        knapsack(FOUR, 1.0)
    with pytest.raises(ValueError, match="total_utility=-1"):
        knapsack(FOUR, -1)


def scores(utility, identifiability):
    found = pd.DataFrame({"utility": utility, "identifiability": identifiability, "feature": list("abcdef")})
    return found.assign(ratio=np.where(found.utility > 0, found.identifiability / found.utility.clip(1e-12), np.inf))


def test_a_feature_that_does_not_help_is_no_candidate():
    """REVIEW C10: of 2,000 noise columns, hundreds had the ratio 0 and came before the one that shows the task."""
    found = scores([0.001, 0.0, 0.3, 0.2, 0.002, 0.01], [0.0, 0.0, 0.1, 0.01, 0.0, 0.9])
    assert rank_features(found, "ratio") == ["a", "e", "d", "c", "f", "b"]  # the paper's rule
    assert rank_features(found, "ratio", variant="own") == ["d", "c", "f", "e", "a", "b"]
    equal = scores([0.1, 0.3, 0.2, 0.0, 0.25, 0.0], [0.0] * 6)
    assert rank_features(equal, "ratio", variant="own") == ["b", "e", "c", "a", "d", "f"]
    assert rank_features(scores([0.0] * 6, [0.0] * 6), "ratio", variant="own") == list("abcdef")
