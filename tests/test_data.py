"""Problem and Windows: what they refuse, and that their digest stands for their content."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.data import Problem, Windows, _labels_as_bytes


def problem(**changes):
    given = {
        "features": pd.DataFrame({"rate": [1.0, 2.0, 3.0], "size": [4, 5, 6]}, index=[7, 8, 9]),
        "task": ["tv", "tv", "fridge"],
        "users": ["ann", "bob", "ann"],
        "groups": [1, 1, 2],
        "name": "toy",
        "provenance": {"rows": "all"},
    }
    return Problem(**{**given, **changes})


def windows(**changes):
    given = {
        "values": np.arange(24, dtype=float).reshape(3, 2, 4),
        "public": ["walk", "walk", "jog"],
        "private": pd.DataFrame({"gender": ["f", "m", "f"]}, index=[5, 6, 7]),
        "subject": [1, 2, 1],
        "trial": [11, 11, 12],
    }
    return Windows(**{**given, **changes})


def test_problem_aligns_everything_to_one_index():
    given = problem(task=pd.Series(["a", "b", "c"], index=[7, 8, 9]))
    for part in (given.features, given.task, given.users, given.groups):
        assert part.index.equals(pd.RangeIndex(3))
    assert list(given.task) == ["a", "b", "c"]
    assert (given.n_records, given.n_features) == (3, 2)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"features": np.ones((3, 2))}, TypeError, "DataFrame"),
        ({"features": pd.DataFrame()}, ValueError, "0 rows x 0 columns"),
        ({"features": pd.DataFrame([[1, 2]] * 3, columns=["a", "a"])}, ValueError, r"repeats column names \['a'\]"),
        ({"features": pd.DataFrame({"word": list("abc")})}, TypeError, "'word'"),
        ({"features": pd.DataFrame({"ok": [1, 2, 3], "gap": [1, np.nan, 2]})}, ValueError, "'gap'.*1 of 3 rows.*row 1"),
        ({"features": pd.DataFrame({"far": [1, 2, np.inf]})}, ValueError, "'far'.*row 2"),
        ({"features": pd.DataFrame(np.full((3, 7), np.nan)).add_prefix("c")}, ValueError, "'c0'.*'c4'.* and 2 more"),
        ({"features": pd.DataFrame({"gap": pd.array([1, None, 2], dtype="Int64")})}, ValueError, "'gap'"),
        ({"features": pd.DataFrame({"key": [1, 2**53 + 1, 3]})}, ValueError, "'key'.*9007199254740993.*drop it"),
        ({"features": pd.DataFrame({"key": pd.array([1, -(2**60), 2], dtype="Int64")})}, ValueError, "'key'.*-11529"),
        ({"features": pd.DataFrame({"key": np.array([1, 2**64 - 1, 2], "uint64")})}, ValueError, "'key'.*18446744"),
        ({"task": ["tv"]}, ValueError, "task has 1 labels for 3 rows"),
        ({"users": ["ann", None, "bob"]}, ValueError, "users is missing in 1 rows"),
        ({"groups": [1, 2]}, ValueError, "groups has 2 labels"),
        ({"task": pd.Series(list("abc"))}, ValueError, "another index"),
        ({"provenance": {"when": object()}}, TypeError, "JSON"),
    ],
)
def test_problem_refuses(changes, error, says):
    with pytest.raises(error, match=says):
        problem(**changes)


def test_integers_that_a_float_holds_exactly_are_accepted():
    exact = pd.DataFrame({"large": [2**53, -(2**53), 0], "real": [1e300, 2.0, 3.0], "on": [True, False, True]})
    assert problem(features=exact).n_features == 3


def test_problem_digest_stands_for_content_not_for_name():
    assert problem().digest == problem(name="other", provenance={}).digest
    others = [
        problem(task=["tv", "fridge", "tv"]),
        problem(users=["ann", "bob", "bob"]),
        problem(groups=None),
        problem(features=pd.DataFrame({"rate": [1.0, 2.0, 3.5], "size": [4, 5, 6]})),
        problem(features=pd.DataFrame({"rates": [1.0, 2.0, 3.0], "size": [4, 5, 6]})),
        problem(task=["tvt", "v", "fridge"]),
    ]
    assert len({problem().digest, *(other.digest for other in others)}) == 7


def test_problem_does_not_change_with_the_frame_it_came_from():
    frame = pd.DataFrame({"rate": [1.0, 2.0, 3.0]})
    given = problem(features=frame)
    frame.loc[0, "rate"] = 99.0
    assert given.features["rate"].iloc[0] == 1.0


def test_windows_shape_and_take():
    given = windows()
    assert given.values.dtype == np.float32
    assert (given.n_windows, given.n_channels, given.length) == (3, 2, 4)
    last = given.take(np.array([False, False, True]))
    assert last.n_windows == 1
    assert last.public.tolist() == ["jog"]
    assert last.private["gender"].tolist() == ["f"]
    assert np.array_equal(given.take([2, 0]).values, given.values[[2, 0]])


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"values": np.ones((3, 4))}, ValueError, r"shape \(3, 4\)"),
        ({"values": np.ones((0, 2, 4))}, ValueError, "not empty"),
        ({"values": np.full((3, 2, 4), np.nan)}, ValueError, "3 of 3 windows"),
        ({"public": ["walk"]}, ValueError, "public has 1 labels for 3 rows"),
        ({"subject": [1, None, 2]}, ValueError, "subject is missing"),
        ({"private": ["f", "m", "f"]}, TypeError, "DataFrame"),
        ({"private": pd.DataFrame({"gender": ["f", None, "m"]})}, ValueError, "gender"),
    ],
)
def test_windows_refuses(changes, error, says):
    with pytest.raises(error, match=says):
        windows(**changes)


def test_windows_digest_stands_for_content():
    moved = windows().values.copy()
    moved[0, 0, 0] += 1
    assert windows().digest == windows(name="other").digest
    assert len({windows().digest, windows(values=moved).digest, windows(subject=[1, 2, 2]).digest}) == 3


@given(st.lists(st.one_of(st.text(max_size=3), st.integers(0, 2), st.booleans(), st.sampled_from([1.0, None]))))
def test_labels_are_written_one_by_one(values):
    """Equal texts are written once and repeated; 1, True and 1.0 are equal in Python, but other labels."""
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    texts = [f"{type(value).__name__}:{value}".encode() for value in values]
    assert _labels_as_bytes(labels) == b"".join(f"{len(text)}:".encode() + text for text in texts)
    names = np.array([text.decode() for text in texts], dtype=object)
    again = [f"str:{name}".encode() for name in names]
    assert _labels_as_bytes(names) == b"".join(f"{len(text)}:".encode() + text for text in again)
