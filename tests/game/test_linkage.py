"""Record linkage against brute force and hand-made tables; k-anonymity against counting by hand."""

import tracemalloc
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorprivacy.game.linkage import k_anonymity, link, linkage
from sensorprivacy.game.wilson import wilson


def by_loops(original, published, numbers, exact=()):
    """The definition, row by row, in plain Python: no missing values."""
    spans = {c: (original[c].max() - original[c].min()) or 1 for c in numbers}
    hits = 0.0
    for i in range(len(published)):
        gaps = []
        for j in range(len(original)):
            d = 0.0
            for c in original:
                x, y = published[c].iloc[i], original[c].iloc[j]
                if c in exact:
                    d += 1e6 * (x != y)
                else:
                    d += abs(x - y) / spans[c] if c in numbers else float(x != y)
            gaps.append(d)
        best = min(gaps)
        near = [j for j, d in enumerate(gaps) if d <= best + 1e-9]
        hits += (i in near) / len(near)
    return hits / len(published)


rows = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.integers(-3, 9), st.sampled_from("abc")),
    min_size=2,
    max_size=9,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows)
def test_equals_the_definition(table):
    frame = pd.DataFrame(table, columns=["n", "c", "n2", "c2"])
    original = frame[["n", "c"]]
    published = frame[["n2", "c2"]].set_axis(["n", "c"], axis=1)
    assert link(original, published).share == pytest.approx(by_loops(original, published, {"n"}))
    # one column that must match: at most one mismatch, so the weights of loop and library agree
    assert link(original, published, exact=["c"]).share == pytest.approx(by_loops(original, published, {"n"}, {"c"}))


def test_unchanged_rows_are_found_and_twins_shared():
    people = pd.DataFrame({"age": [20, 30, 30, 50], "sex": list("mffm")})
    found = link(people, people)
    assert found.share == pytest.approx((1 + 0.5 + 0.5 + 1) / 4)
    assert (found.chance, found.rows, found.columns) == (0.25, 4, 2)
    assert found.low < found.share < found.high


def test_independent_noise_does_not_beat_chance():
    rng = np.random.default_rng(0)
    original = pd.DataFrame({"x": rng.normal(size=1500), "c": rng.integers(9, size=1500).astype(str)})
    published = original.apply(lambda column: rng.permutation(column))
    found = link(original, published)
    assert wilson(found.share * found.rows, found.rows, 0.9999)[0] <= found.chance


def test_constant_columns_give_chance_exactly():
    same = pd.DataFrame({"a": [1] * 10, "b": ["x"] * 10})
    assert link(same, same).share == pytest.approx(0.1)


def test_four_attacks():
    rng = np.random.default_rng(3)
    n = 400
    original = pd.DataFrame(
        {"id": range(n), "age": rng.integers(18, 90, n), "town": rng.integers(40, size=n).astype(str)}
    )
    published = original[["age", "town"]].assign(age=original["age"] + rng.integers(-30, 31, n))
    table = linkage(original, published)
    assert table.index.tolist() == ["published", "exact columns first", "exact columns only", "without noise"]
    assert table.loc["published", "columns"] == 2
    assert table.loc["exact columns only", "columns"] == 1
    # the town alone: one hit per town that occurs, whoever is picked
    assert table.loc["exact columns only", "share"] == pytest.approx(original["town"].nunique() / n)
    classes = len(original[["age", "town"]].drop_duplicates())
    assert table.loc["without noise", "share"] == pytest.approx(classes / n)
    assert table.loc["without noise", "share"] > table.loc["exact columns first", "share"]
    assert table.loc["exact columns first", "share"] >= table.loc["exact columns only", "share"]


def test_given_exact_columns_are_used():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [1, 1, 2]})
    assert linkage(frame, frame, exact=["b"]).loc["exact columns only", "share"] == pytest.approx(2 / 3)
    assert "exact columns only" not in linkage(frame, frame, exact=[]).index


def test_sample_is_seeded_and_near_the_whole():
    rng = np.random.default_rng(5)
    original = pd.DataFrame({"x": rng.normal(size=3000)})
    published = original + rng.normal(scale=1e-3, size=(3000, 1))
    whole = linkage(original, published, sample=None).loc["published"]
    part = linkage(original, published, sample=500, seed=1).loc["published"]
    assert whole["rows"] == 3000
    assert part["rows"] == 500
    assert part.equals(linkage(original, published, sample=500, seed=1).loc["published"])
    low, high = wilson(500 * part["share"], 500, 0.9999)
    assert low <= whole["share"] <= high


def test_chunks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(6)
    original = pd.DataFrame({"x": rng.normal(size=200), "c": rng.integers(5, size=200).astype(str)})
    published = original.assign(x=original["x"] + rng.normal(scale=0.1, size=200))
    whole = link(original, published)
    monkeypatch.setattr("sensorprivacy.game.linkage._CELLS", 700)
    assert link(original, published).share == pytest.approx(whole.share)


def test_only_one_array_of_distances_is_in_memory(monkeypatch):
    """`publish` needed three or four, 480 to 640 MB, which was more than anything else that it did."""
    table = pd.DataFrame({"x": np.arange(4000.0), "lamp": ["on", "off"] * 2000, "room": ["a", "b", "c", "d"] * 1000})
    monkeypatch.setattr("sensorprivacy.game.linkage._CELLS", 4_000_000)  # 32 MB of distances
    tracemalloc.start()
    link(table, table.assign(lamp=table["lamp"][::-1].to_numpy()), exact=["room"], rows=np.arange(3000))
    assert tracemalloc.get_traced_memory()[1] < 1.4 * 32e6
    tracemalloc.stop()


def test_missing_and_other_types():
    original = pd.DataFrame(
        {
            "age": [10.0, None, 30.0, 20.0],
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"]),
            "job": ["a", None, "b", "b"],
            "on": [True, False, True, False],
            "kind": pd.Categorical(["u", "v", None, "u"]),
        }
    )
    assert link(original, original).share == 1.0
    # a missing number is looked for in the middle, where noise has put it
    published = pd.DataFrame({"age": [10.0, 20.0, 30.0, 10.0]})
    assert link(original[["age"]], published).share == pytest.approx((1 + 0.5 + 1 + 0) / 4)


UNITS = ("s", "ms", "us", "ns")


def in_unit(instants, unit, zone=None, arrow=False):
    """Return instants (seconds since 1970, or None) as a column of another unit and time zone."""
    stamps = [np.datetime64("NaT") if instant is None else np.datetime64(int(instant), "s") for instant in instants]
    column = pd.Series(np.array(stamps, dtype="datetime64[s]"))
    column = column.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else column
    column = column.dt.as_unit(unit)
    return column.convert_dtypes(dtype_backend="pyarrow") if arrow else column


def test_a_published_time_of_a_coarser_unit_is_as_exposed_as_in_its_own_unit():
    """REVIEW A5: each unit was converted by its own count of ticks, so most links were missed."""
    draw = np.random.default_rng(0)
    original = pd.DataFrame({"when": in_unit(1_500_000_000 + draw.integers(0, 10**7, 400), "us")})
    noisy = original["when"] + pd.to_timedelta(draw.laplace(0, 20_000, 400).round(), unit="s")
    shares = [link(original, pd.DataFrame({"when": noisy.dt.as_unit(unit)})).share for unit in UNITS]
    assert shares[0] > 0.25  # chance is .0025
    assert shares == [shares[0]] * len(UNITS)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**31), 2**32)), min_size=2, max_size=9),
    *[st.tuples(st.sampled_from(UNITS), st.sampled_from([None, "UTC", "Asia/Kolkata"]), st.booleans())] * 2,
)
def test_equal_instants_link_alike_in_every_unit_and_zone(instants, one, other):
    plain = pd.DataFrame({"when": in_unit(instants, "s")})
    original, published = (pd.DataFrame({"when": in_unit(instants, *kind)}) for kind in (one, other))
    assert link(original, published).share == link(plain, plain).share


def test_a_time_published_unchanged_in_another_unit_counts_as_exact():
    original = pd.DataFrame({"when": in_unit([1, 2, 3, 3], "ns"), "age": [4, 5, 6, 7]})
    published = pd.DataFrame({"when": in_unit([1, 2, 3, 3], "s", "Asia/Kolkata", arrow=True), "age": [9, 9, 9, 9]})
    assert linkage(original, published).loc["exact columns only", "share"] == 0.75


def test_fractions_of_a_second_are_compared_exactly():
    stamps = pd.to_datetime(["2024-01-01 00:00:00.001", "2024-01-01 00:00:00.002", "2024-01-01 00:00:00.003"])
    original = pd.DataFrame({"when": stamps.as_unit("ms")})
    assert link(original, pd.DataFrame({"when": stamps.as_unit("ns").tz_localize("UTC")})).share == 1.0


@pytest.mark.parametrize(
    ("original", "published", "message"),
    [
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1, 2]}), "1 original rows and 2 published"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]}), "no common column"),
        (pd.DataFrame({"a": []}), pd.DataFrame({"a": []}), "original has 0 rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), pd.DataFrame({"a": [1]}), "repeats"),
    ],
)
def test_refuses(original, published, message):
    with pytest.raises(ValueError, match=message):
        linkage(original, published)


def test_refuses_other_types_and_empty_samples():
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(TypeError, match="ndarray"):
        link(frame, frame.to_numpy())
    with pytest.raises(ValueError, match="sample=0"):
        linkage(frame, frame, sample=0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", None]), st.integers(0, 2)), min_size=1, max_size=20))
def test_k_anonymity_counts(table):
    found = k_anonymity(pd.DataFrame(table, columns=["c", "n"]))
    counts = Counter(table)
    assert found.k == min(counts.values())
    assert found.unique == pytest.approx(sum(c == 1 for c in counts.values()) / len(table))
    assert dict(zip(found.classes["size"], found.classes["classes"], strict=True)) == Counter(counts.values())
    assert found.classes["rows"].sum() == len(table)


def test_k_anonymity_of_no_columns_and_bad_ones():
    frame = pd.DataFrame({"a": [1, 2, 3]})
    assert k_anonymity(frame, []).k == 3
    with pytest.raises(ValueError, match="'b'"):
        k_anonymity(frame, ["b"])
    with pytest.raises(ValueError, match="0 rows"):
        k_anonymity(frame.head(0))
