"""Publishing: dropped, unchanged and noisy columns, the loop, and the stated guarantees."""

import math

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.threeway import Appraiser, Division, find_thresholds, publish
from sensorprivacy.threeway.publication import TRACE

DIVISION = Division(0.9, 0.1, ("id",), ("sex", "site"), ("age", "job", "fare"))


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 600
    return pd.DataFrame(
        {
            "id": range(n),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["m", "f"], n),
            "job": rng.choice(["a", "b", "c", None], n),
            "fare": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(2.0, 30.0, n)),
            "site": rng.choice(["x", "y"], n),
        },
        index=pd.Index([f"person {k}" for k in range(n)]),
    )


def test_drops_keeps_and_adds_noise(frame):
    """With the real, secure noise."""
    found = publish(frame, DIVISION)
    assert list(found.data.columns) == ["age", "sex", "job", "fare", "site"]
    assert found.data.index.tolist() == list(range(len(frame)))
    for name in ("sex", "site"):
        assert found.data[name].tolist() == frame[name].tolist()
    for name in ("age", "job", "fare"):
        assert found.data[name].tolist() != frame[name].tolist()
    assert found.data["age"].dtype == np.int64
    assert found.data["fare"].notna().all()
    assert set(found.data["job"].dropna()) == {"a", "b", "c"}
    assert found.data["job"].isna().any()
    assert found.epsilon_per_column.to_dict() == {"age": 1, "job": 1, "fare": 1}
    assert found.epsilon_total == 3
    assert (found.reached, found.stopped[:5]) == (True, "level")


def test_original_is_left_alone(frame, seeded):
    copy = frame.copy(deep=True)
    publish(frame, DIVISION, noise_source=seeded())
    pd.testing.assert_frame_equal(frame, copy)


def test_loop_lowers_epsilon_until_the_level_is_reached(frame, seeded):
    found = publish(frame, DIVISION, epsilon=32.0, level=0.5, shrink=0.5, noise_source=seeded())
    trace = found.trace
    assert list(trace.columns) == TRACE
    rounds = trace.groupby("round").first()
    assert len(rounds) > 2
    assert rounds["epsilon"].tolist() == [32 / 2**k for k in range(len(rounds))]
    assert (rounds["overall"][:-1] < 0.5).all()
    assert rounds["overall"].iloc[-1] == found.level >= 0.5
    assert (trace.groupby("round")["level"].min() == rounds["overall"]).all()
    assert trace.groupby("round")["column"].agg(list).map(lambda names: names == ["age", "job", "fare"]).all()
    assert (trace["accepted"] == (trace["round"] == trace["round"].max())).all()
    assert found.epsilon_total == pytest.approx(3 * rounds["epsilon"].iloc[-1])
    # more noise in every round: the scale is width over epsilon
    ages = trace[trace["column"] == "age"]
    assert (ages["parameter"] * ages["epsilon"]).tolist() == pytest.approx([71] * len(ages))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [({"max_rounds": 2}, "2 rounds, the most allowed"), ({"floor": 10.0}, "below the floor 10")],
)
def test_loop_reports_why_it_stops_early(frame, seeded, arguments, why):
    found = publish(frame, DIVISION, epsilon=30.0, level=0.99, noise_source=seeded(), **arguments)
    assert not found.reached
    assert why in found.stopped
    assert found.trace["epsilon"].min() == found.epsilon_per_column.max()


@pytest.mark.parametrize("query", ["mean", "count", "histogram", "record"])
def test_every_query_runs_the_loop(frame, seeded, query):
    found = publish(frame, DIVISION, epsilon=8.0, level=0.02, query=query, noise_source=seeded())
    assert found.reached
    one_number = found.trace["original"].notna().to_numpy()
    expected = [query in ("mean", "count"), query == "count", query in ("mean", "count")]
    assert (one_number == expected * (len(one_number) // 3)).all()


def test_guarantees_are_stated(frame, seeded):
    text = " ".join(publish(frame, DIVISION, epsilon=2.0, level=0.1, noise_source=seeded()).guarantees)
    for piece in (
        "e^epsilon",
        "total epsilon of 6",
        "does not cover this comparison",
        "age, job, fare were read",
        "guarantee: sex, site.",
    ):
        assert piece in text
    sound = publish(
        frame,
        DIVISION,
        bounds={"age": (0, 120), "fare": (0, 600)},
        categories={"job": ["a", "b", "c", "d", None]},
        noise_source=seeded(),
    )
    text = " ".join(sound.guarantees)
    assert "read from the data" not in text
    assert "comparison" not in text
    assert sound.trace.set_index("column").loc["age", "parameter"] == pytest.approx(120)


def test_clamp_puts_numbers_back_between_their_bounds(frame, seeded):
    bounds = {"age": (0, 120), "fare": (0, 600)}
    loose = publish(frame, DIVISION, bounds=bounds, noise_source=seeded()).data["age"]
    tight = publish(frame, DIVISION, bounds=bounds, clamp=True, noise_source=seeded()).data["age"]
    assert loose.min() < 0
    assert (tight == loose.clip(0, 120)).all()


def test_numbers_can_be_treated_as_categories(frame, seeded):
    found = publish(frame, DIVISION, categorical=["age"], noise_source=seeded())
    assert set(found.data["age"]) <= set(frame["age"])
    assert found.trace.set_index("column").loc["age", "mechanism"] == "randomized response"


def test_mean_survives_noise_in_size_that_theory_gives(frame):
    """The mean of n cells with Laplace noise of scale b is off by sqrt(2 / n) b; six of those are never exceeded."""
    bounds = {"age": (18, 89), "fare": (0, 600)}
    found = publish(frame, DIVISION, bounds=bounds)
    error = abs(found.data["age"].mean() - frame["age"].mean())
    assert error < 7 * math.sqrt(2 / len(frame)) * 71


def test_a_division_without_ambiguous_columns(frame, seeded):
    bare = Division(0.5, 0.5, ("id", "age", "job", "fare"), ("sex", "site"), ())
    found = publish(frame, bare, level=0.3, noise_source=seeded())
    assert found.data.equals(frame[["sex", "site"]].reset_index(drop=True))
    assert (found.epsilon_total, found.reached, len(found.trace)) == (0, False, 0)
    assert "no ambiguous column" in found.stopped


def test_a_constant_ambiguous_column_costs_nothing(seeded):
    frame = pd.DataFrame({"a": [1, 2], "b": [5, 5], "c": ["x", "x"]})
    found = publish(frame, Division(1, 0, ("a",), (), ("b", "c")), noise_source=seeded())
    assert found.data.to_dict("list") == {"b": [5, 5], "c": ["x", "x"]}
    assert found.epsilon_total == 0


def test_an_all_sensitive_table_has_no_published_columns(frame):
    everything = Division(0, 0, tuple(frame.columns), (), ())
    assert publish(frame, everything).data.shape == (len(frame), 0)


def test_with_the_division_of_an_appraiser(frame, seeded):
    division = Appraiser(frame).at(0.9, 0.1).division
    assert set(publish(frame, division, noise_source=seeded()).data.columns) == set(division.kept)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": -1}, "epsilon=-1"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"level": 1}, "level=1"),
        ({"level": -0.1}, "level=-0.1"),
        ({"level": math.nan}, "level=nan"),
        ({"shrink": 1}, "shrink=1"),
        ({"shrink": 0}, "shrink=0"),
        ({"floor": 0}, "floor=0"),
        ({"floor": 2}, "floor=2"),
        ({"max_rounds": 0}, "max_rounds=0"),
        ({"query": "median"}, "query='median'"),
        ({"bounds": {"nobody": (0, 1)}}, "'nobody'"),
        ({"bounds": {"age": (9, 1)}}, "bounds"),
        ({"categories": {"job": ["a"]}}, "'job' holds values"),
    ],
)
def test_refuses(frame, arguments, message):
    with pytest.raises(ValueError, match=message):
        publish(frame, DIVISION, **arguments)


def test_refuses_other_tables(frame):
    with pytest.raises(ValueError, match="divide a table with its columns"):
        publish(frame.drop(columns="job"), DIVISION)
    with pytest.raises(ValueError, match="0 rows"):
        publish(frame.head(0), DIVISION)
    with pytest.raises(TypeError, match="ndarray"):
        publish(frame.to_numpy(), DIVISION)
    with pytest.raises(ValueError, match="infinite"):
        publish(frame.assign(fare=np.inf), DIVISION, bounds={"fare": (0, 1)})


LEARNED = "one other cell can change the groups"
HOME = pd.DataFrame(
    {
        "id": range(12),
        "hour": [4, 2, 1, 1, 1, 0, 3, 5, 1, 3, 4, 4],
        "room": [1, 2, 2, 3, 2, 0, 1, 2, 0, 2, 3, 1],
        "lamp": [0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1],
        "door": [0] * 12,
    }
)


def test_one_cell_decides_whether_a_column_is_published_unchanged(seeded):
    """REVIEW A8: epsilon covers the noise on cells, not the choice of the columns that get noise."""
    neighbour = HOME.copy()
    neighbour.loc[9, "lamp"] = 2
    tables = [HOME, neighbour]
    divisions = [find_thresholds(Appraiser(table)).appraisal.division for table in tables]
    assert "lamp" in divisions[0].non_sensitive
    assert "lamp" in divisions[1].ambiguous
    for table, division in zip(tables, divisions, strict=True):
        learned = publish(table, division, noise_source=seeded())
        assert LEARNED in " ".join(learned.guarantees)
        # one division for both tables, learned on neither of them
        given = publish(table, DIVISION_OF_HOME, division_from_data=False, noise_source=seeded())
        assert LEARNED not in " ".join(given.guarantees)
        assert list(given.data) == ["hour", "room", "lamp", "door"]


DIVISION_OF_HOME = Division(0.9, 0.1, ("id",), ("door",), ("hour", "room", "lamp"))
