"""Each search is checked against its own rule, using its trace."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorprivacy.threeway import Appraiser, find_thresholds

RULES = ("alternate", "tabu", "literal", "strict", "grid")


def appraiser(seed, d=8, n=50):
    rng = np.random.default_rng(seed)
    return Appraiser(
        pd.DataFrame({f"c{k}": rng.integers(0, 1 + rng.integers(1, 60), n) for k in range(d)}).assign(id=range(n))
    )


starts = st.sampled_from([(0.5, 0.5), (0.5, 0.5), (0.8, 0.3), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0)])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), starts, st.sampled_from([0.05, 0.1, 0.13, 1.0]))
def test_every_trace_obeys_its_rule(seed, start, step):
    judge = appraiser(seed)
    best = find_thresholds(judge, *start, step, "grid")
    for rule in RULES:
        found = find_thresholds(judge, *start, step, rule)
        trace = found.trace
        assert best.appraisal.suitability >= found.appraisal.suitability
        assert tuple(trace.loc[0, ["move", "alpha", "beta", "accepted"]]) == ("start", *start, True)
        assert trace["alpha"].between(trace["beta"], 1).all()
        assert trace["beta"].between(0, 1).all()
        # every number in the trace is the appraiser's
        again = judge.table(trace[["alpha", "beta"]].itertuples(index=False))
        pd.testing.assert_frame_equal(trace[again.columns], again)
        way = trace[trace["accepted"]]
        assert tuple(way.iloc[-1][["alpha", "beta"]]) == (found.alpha, found.beta)
        assert found.appraisal.suitability == way.iloc[-1]["suitability"]
        assert way["suitability"].is_monotonic_increasing
        if rule != "grid":
            assert found.iterations == len(way) - 1
            assert not way[["alpha", "beta"]].duplicated().any()
        if rule in ("literal", "strict", "tabu"):
            for _, candidates in (
                trace[trace["accepted"].cumsum() < trace["accepted"].sum()].iloc[1:].groupby("iteration")
            ):
                chosen = candidates[candidates["accepted"]]
                if len(chosen) and len(candidates) > 1:
                    assert chosen["suitability"].iloc[0] == candidates["suitability"].max()


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_alternate_only_widens_and_ends_where_neither_move_helps(seed):
    judge = appraiser(seed)
    found = find_thresholds(judge)
    way = found.trace[found.trace["accepted"]]
    assert way["alpha"].is_monotonic_increasing
    assert way["beta"].is_monotonic_decreasing
    here = found.appraisal.suitability
    if found.beta >= 0.05:
        assert judge.at(found.alpha, round(found.beta - 0.05, 12)).suitability < here
    if found.alpha < 0.95:
        assert judge.at(round(found.alpha + 0.05, 12), found.beta).suitability < here


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_strict_ends_on_a_local_optimum_and_grid_on_the_global_one(seed):
    judge = appraiser(seed)
    found = find_thresholds(judge, search="strict")
    for move in ((-0.05, 0), (0.05, 0), (0, -0.05), (0, 0.05)):
        alpha, beta = round(found.alpha + move[0], 12), round(found.beta + move[1], 12)
        if 0 <= beta <= alpha < 1:
            assert judge.at(alpha, beta).suitability <= found.appraisal.suitability
    best = find_thresholds(judge, search="grid")
    lattice = [(a / 20, b / 20) for a in range(20) for b in range(a + 1)]  # alpha stays below 1
    assert best.appraisal.suitability == max(judge.table(lattice)["suitability"])
    assert len(best.trace) == len(lattice)


def test_literal_reports_a_cycle():
    """Two thresholds that do nothing: a plateau on which >= never ends."""
    judge = Appraiser(pd.DataFrame({"id": range(8), "one": [0] * 8, "two": [0] * 8}))
    found = find_thresholds(judge, search="literal")
    assert found.stopped.startswith("cycle: the next pair")
    assert "never ends" in found.stopped
    assert find_thresholds(judge, search="strict").stopped == "no neighbour is better"


@pytest.mark.parametrize("step", [0.01, 0.02, 0.025, 0.04, 0.05, 0.1, 0.125, 0.25, 0.5, 1 / 3, 1 / 6, 1 / 7])
@pytest.mark.parametrize("start", [0.5, 0.0])
def test_only_the_option_decides_whether_alpha_reaches_one(step, start):
    """REVIEW A1: added step by step, .5 + ten times .05 is above 1, and .5 + five times .1 is not."""
    alphas = sorted(float(Fraction(str(start)) + k * Fraction(step).limit_denominator(1000)) for k in range(-100, 101))
    judge = appraiser(0)
    for closed in (False, True):
        trace = find_thresholds(judge, start, 0, step, "grid", closed=closed).trace
        inside = [round(value, 12) for value in alphas if 0 <= value < 1 or (closed and value == 1)]
        assert sorted(set(trace["alpha"])) == inside
        assert (trace["alpha"] == 1).any() == (closed and float((1 - start) / step).is_integer())


def test_a_start_at_one_is_allowed_and_can_be_left():
    found = find_thresholds(appraiser(0), 1, 0, search="grid")
    assert found.trace["alpha"].iloc[0] == 1
    assert set(found.trace["alpha"]) == {round(1 - k / 20, 12) for k in range(21)}


@pytest.mark.parametrize("step", [0.05, 0.1])
def test_the_reason_of_the_end_names_the_range_of_the_search(step):
    judge = appraiser(0)
    for closed, ends in ((False, "alpha up leaves [0, 1)"), (True, "alpha up leaves [0, 1]")):
        found = find_thresholds(judge, step=step, closed=closed)
        assert found.stopped.endswith(ends)
        assert found.alpha == (1 if closed else 1 - step)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"step": 0}, "step=0"),
        ({"step": -0.1}, "step=-0.1"),
        ({"step": 1.01}, "step=1.01"),
        ({"step": math.nan}, "step=nan"),
        ({"step": 1e-4, "search": "grid"}, "pairs"),
        ({"alpha": 0.2, "beta": 0.3}, "alpha=0.2 < beta=0.3"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"beta": math.nan}, "beta=nan"),
        ({"search": "best"}, "search='best'"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        find_thresholds(appraiser(0), **arguments)
