"""The shared forest: scikit-learn's trees and forests as the oracle; no answer depends on how it was asked for."""

import itertools
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from compendium.datasets import problem as load
from sensorprivacy.minimize.engine_protocol import Engine, EngineData
from sensorprivacy.minimize.engines import make_engine
from sensorprivacy.minimize.forest import coding
from sensorprivacy.minimize.forest import engine as module
from sensorprivacy.minimize.forest.coding import WIDE, code_columns, group_rows, lay_out, most_groups, subset_rows
from sensorprivacy.minimize.forest.engine import SharedEngine, tried_features
from sensorprivacy.minimize.forest.kernel import _draw_weights, vote
from sensorprivacy.minimize.forest.primitives import BINS, mix, sort_by_code, sorted_items, tree_keys


def held_of(X, y, cut, users=None):
    X, y = np.asarray(X, float), np.asarray(y)
    users = y if users is None else np.asarray(users)
    return EngineData(X[:cut], X[cut:], {"task": (y[:cut], y[cut:]), "users": (users[:cut], users[cut:])})


def single_tree(X, y, cut, **options):
    """Predictions of one tree over all rows and all features, from the engine."""
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None)
    engine = SharedEngine(held_of(X, y, cut), forest, **options)
    return engine.predict([tuple(range(np.shape(X)[1]))], "task")[0]


# --- one tree: exactly scikit-learn's


@pytest.mark.parametrize("n_values", [2, 7, 50, 100_000])
@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_tree_on_one_feature_is_sklearns(n_values, n_classes):
    rng = np.random.default_rng(n_values + n_classes)
    X = rng.integers(0, n_values, (700, 1)).astype(float)
    y = rng.integers(0, n_classes, 700)
    oracle = DecisionTreeClassifier(random_state=0).fit(X[:500], y[:500]).predict(X[500:])
    np.testing.assert_array_equal(single_tree(X, y, 500), oracle)


def separated(n, d, n_classes, seed):
    """Rows whose best splits are unique: classes of unequal sizes, shifted by unequal amounts, continuous noise."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    return rng.normal(size=(n, d)) + np.outer(y, rng.uniform(3, 9, d)), y


@pytest.mark.parametrize("seed", range(8))
def test_tree_on_several_features_is_sklearns_where_no_splits_tie(seed):
    X, y = separated(900, 4, 3, seed)
    # two splits of a node of two rows always tie, and the order of features decides: 60 orders show which rows it moves
    trees = [DecisionTreeClassifier(random_state=state).fit(X[:600], y[:600]) for state in range(60)]
    answers = np.array([tree.predict(X[600:]) for tree in trees])
    ours = single_tree(X, y, 600)
    same = (answers == answers[0]).all(axis=0)
    assert same.mean() > 0.95
    np.testing.assert_array_equal(ours[same], answers[0][same])
    assert (answers == ours).any(axis=0).all()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=2, max_size=40),
    st.lists(st.integers(-9, 9), min_size=1, max_size=12),
    st.integers(1, 3),
)
def test_any_small_table_of_one_feature(train, test, scale):
    X = np.array([[value * scale] for value, _ in train] + [[value / 2 * scale] for value in test], float)
    y = np.array([label for _, label in train] + [0] * len(test))
    cut = len(train)
    oracle = DecisionTreeClassifier(random_state=0).fit(X[:cut], y[:cut]).predict(X[cut:])
    np.testing.assert_array_equal(single_tree(X, y, cut), oracle)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 6), st.integers(2, 60))
def test_a_full_tree_repeats_its_own_rows(seed, width, n_classes, n):
    # rows that differ somewhere can be told apart, whatever features were drawn: training rows get their own class
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 4, (n, width)), axis=0).astype(float)
    y = rng.integers(0, n_classes, len(X))
    held = held_of(np.vstack([X, X]), np.r_[y, y], len(X))
    engine = SharedEngine(held, RandomForestClassifier(3, bootstrap=False), int(seed))
    assert engine.score([tuple(range(width))], "task") == [1.0]


def test_thresholds_lie_halfway_as_sklearns_do():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [5.5], [5.4999], [5.5001], [-3.0], [99.0]])
    y = np.array([0, 0, 1, 1, 0, 0, 0, 0, 0])
    assert single_tree(X, y, 4).tolist() == [0, 0, 1, 0, 1]


@pytest.mark.parametrize("copies", [1, 4])
def test_the_first_feature_drawn_wins_where_all_part_the_classes(copies):
    # two rows (or two groups of equal rows) that any of three features tells apart, beside one that tells nothing: a
    # held-out row on class 1's side of two of them gets two votes of three, within the noise of 3000 trees
    X = np.array([[0.0, 9.0, 0.0, 0.0]] * copies + [[1.0, 9.0, 2.0, 3.0]] * copies + [[0.4, 9.0, 1.6, 1.6]])
    y = np.r_[np.zeros(copies, int), np.ones(copies, int), 0]
    columns = code_columns(X[:-1], X[-1:])
    rows, layout, asked = subset_rows(columns, np.arange(4), y[:-1])
    votes = np.zeros((1, 2))
    keys = tree_keys(np.uint64(0), np.arange(4), 3000)
    vote(rows, layout, 2, False, keys, np.zeros(1, np.uint32), votes)
    assert asked.tolist() == [0]
    assert votes.sum() == 3000
    assert abs(votes[0, 1] / 3000 - 2 / 3) < 4 * np.sqrt(2 / 9 / 3000)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("width", [1, WIDE - 1, WIDE, 3 * WIDE])
def test_equal_rows_are_grouped_in_the_order_of_their_first(width, dtype):
    draw = np.random.default_rng(width)
    kinds = draw.integers(0, 300, (20, width)).astype(dtype)
    kinds[1], kinds[1, -1] = kinds[0], kinds[0, -1] + 256  # differ in one column, and there in one byte
    which, labels = draw.integers(0, 20, 200), draw.integers(0, 2, 200)
    seen = {}
    expected = [
        seen.setdefault((tuple(kinds[kind]), label), len(seen)) for kind, label in zip(which, labels, strict=True)
    ]
    group, first = group_rows(np.ascontiguousarray(kinds[which].T), labels)
    assert group.tolist() == expected
    assert first.tolist() == [expected.index(number) for number in range(len(seen))]


@pytest.mark.parametrize("spread", [2, 40, 10_000])
def test_grouping_stops_when_no_column_can_part_more_rows(spread):
    rng = np.random.default_rng(spread)
    X = rng.integers(0, spread, (400, 5)).astype(float)
    X[300:] = X[:100]  # equal rows, so the groups are never as many as the rows
    classes = rng.integers(0, 2, 300)
    columns = code_columns(X[:300], X[300:])
    most = most_groups(columns, classes)
    assert most == (len(np.unique(np.c_[X[:300], classes], axis=0)), len(np.unique(X[300:], axis=0)))
    for subset in ([0], [1, 4], [0, 2, 3], [0, 1, 2, 3, 4]):
        stopped, whole = (subset_rows(columns, np.array(subset), classes, known) for known in (most, None))
        for ours, oracle in zip(stopped[0][:5], whole[0][:5], strict=True):
            np.testing.assert_array_equal(ours, oracle)
        np.testing.assert_array_equal(stopped[2], whole[2])


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("rows", [1, 20, 3000])
def test_items_are_sorted_by_column_and_then_by_row(rows, dtype):
    rng = np.random.default_rng(rows)
    codes = np.stack([rng.integers(0, top, rows) for top in (1, 5, 60_000)]).astype(dtype)
    classes = rng.integers(0, 7, rows)
    layout = lay_out(6, rows - 1, int(codes.max()))
    order = np.argsort(codes, axis=1, kind="stable")
    oracle = np.take_along_axis(codes, order, axis=1).astype(np.uint64) << layout.code
    oracle |= (order.astype(np.uint64) << layout.row) | classes[order].astype(np.uint64)
    np.testing.assert_array_equal(sorted_items(codes, classes, layout), oracle)


@pytest.mark.slow
def test_more_than_65536_distinct_values():
    rng = np.random.default_rng(0)
    X = rng.permutation(90_000).astype(float)[:, None]
    y = (X[:, 0] // 1000 % 5).astype(int)
    engine = SharedEngine(held_of(X, y, 80_000), RandomForestClassifier(1, bootstrap=False))
    assert engine.columns.train.dtype == np.uint32
    oracle = DecisionTreeClassifier().fit(X[:80_000], y[:80_000]).predict(X[80_000:])
    np.testing.assert_array_equal(engine.predict([(0,)], "task")[0], oracle)


def drawn_weights(engine, subset, n):
    """Bootstrap weight of each training row in each tree."""
    weights = np.empty((engine.n_trees, n), np.uint32)
    for tree, key in enumerate(tree_keys(engine.seed, np.array(subset), engine.n_trees)):
        _draw_weights(weights[tree], np.arange(n), np.uint64(mix(np.uint64((int(key) + 1) % 2**64))), True)
    return weights


@pytest.mark.parametrize("n_values", [30, 10_000])
def test_a_forest_is_sklearns_trees_on_the_same_draws(n_values):
    # on one feature nothing but the bootstrap is random: scikit-learn's trees, given the draws, must agree in every row
    rng = np.random.default_rng(4)
    X = rng.integers(0, n_values, (500, 1)).astype(float)
    y = rng.integers(0, 7, 500)
    engine = SharedEngine(held_of(X, y, 300), RandomForestClassifier(25), seed=5)
    weights = drawn_weights(engine, (0,), 300)
    assert (weights.sum(axis=1) == 300).all()
    assert abs((weights > 0).mean() - (1 - np.exp(-1))) < 0.02
    trees = [DecisionTreeClassifier().fit(X[:300], y[:300], sample_weight=weight) for weight in weights]
    shares = sum(tree.predict_proba(X[300:]) for tree in trees)
    np.testing.assert_array_equal(engine.predict([(0,)], "task")[0], shares.argmax(axis=1))


# --- forests: as scikit-learn's under another seed


@pytest.mark.slow
@pytest.mark.parametrize("table", [load_digits, load_breast_cancer])
def test_forests_differ_from_sklearns_as_those_among_themselves(table):
    X, y = table(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y, cut = X[order], y[order], len(X) // 2
    columns = np.random.default_rng(1).choice(X.shape[1], 6, replace=False)
    subsets = list(itertools.combinations(sorted(int(c) for c in columns), 3))[::2]
    ours = np.array(SharedEngine(held_of(X, y, cut), RandomForestClassifier(60), seed=0).score(subsets, "task"))
    theirs = np.array(
        [
            [
                RandomForestClassifier(60, random_state=seed).fit(X[:cut, s], y[:cut]).score(X[cut:, s], y[cut:])
                for s in map(list, subsets)
            ]
            for seed in (1, 2, 3)
        ]
    )
    among = np.abs(theirs[:, None] - theirs[None]).sum() / (6 * len(subsets))
    between = np.abs(ours - theirs).mean()
    assert between < 1.5 * among + 0.001
    assert abs((ours - theirs).mean()) < 3 * theirs.std(axis=0).mean() / np.sqrt(len(subsets))


@pytest.mark.slow
@pytest.mark.mirror
def test_iot_23_scores_like_sklearn(mirror):
    problem = load("iot-23")
    rng = np.random.default_rng(0)
    chosen = rng.permutation(problem.n_records)[:3000]
    X = problem.features.to_numpy(float)[chosen]
    users = np.unique(problem.users.to_numpy()[chosen].astype(str), return_inverse=True)[1]
    held = held_of(X, users, 2000)
    subsets = [(0,), (3,), (0, 4), (1, 5, 7), tuple(range(X.shape[1]))]
    ours = np.array(SharedEngine(held, RandomForestClassifier(50)).score(subsets, "task"))
    theirs = [
        RandomForestClassifier(50, random_state=1).fit(held.train[:, s], users[:2000]).predict(held.test[:, s])
        for s in map(list, subsets)
    ]
    np.testing.assert_allclose(ours, np.mean(np.array(theirs) == users[2000:], axis=1), atol=0.02)


# --- nothing but data, seed, tree and subset matters


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return held_of(X, y, 900, users=np.arange(len(y)) // 9)


SUBSETS = [(20, 21, 27, 33), (27,), (3, 42), (42, 43, 44), (20, 21)]


def test_answers_do_not_depend_on_threads_batches_or_order(digits):
    forest = RandomForestClassifier(12)
    one = SharedEngine(digits, forest, n_threads=1).predict(SUBSETS, "users")
    many = SharedEngine(digits, forest, n_threads=3).predict(SUBSETS, "users")
    alone = [SharedEngine(digits, forest).predict([subset], "users")[0] for subset in SUBSETS]
    turned = SharedEngine(digits, forest, n_threads=2).predict([s[::-1] for s in SUBSETS[::-1]], "users")[::-1]
    for answers in (many, alone, turned):
        np.testing.assert_array_equal(answers, one)


def test_answers_do_not_depend_on_the_size_of_a_call_or_on_who_else_is_asked(digits, monkeypatch):
    forest = RandomForestClassifier(30)
    whole = SharedEngine(digits, forest).predict(SUBSETS, "task")
    monkeypatch.setattr(module, "_ROWS_A_CALL", 1)  # one tree a call: rows that are decided are dropped after each
    np.testing.assert_array_equal(SharedEngine(digits, forest).predict(SUBSETS, "task"), whole)
    few = EngineData(
        digits.train, digits.test[::7], {"task": (digits.labels["task"][0], digits.labels["task"][1][::7])}
    )
    answers = SharedEngine(few, forest).predict(SUBSETS, "task")
    np.testing.assert_array_equal(answers, [answer[::7] for answer in whole])


def test_a_decided_row_has_the_winner_of_all_trees(digits, monkeypatch):
    forest = RandomForestClassifier(40)
    dropped = SharedEngine(digits, forest).predict(SUBSETS, "users")
    monkeypatch.setattr(module, "undecided", lambda votes, asked, left: asked)
    np.testing.assert_array_equal(SharedEngine(digits, forest).predict(SUBSETS, "users"), dropped)


def test_equal_rows_taken_together_change_nothing():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (600, 4)).astype(float), rng.integers(0, 3, 600)
    columns = code_columns(X[:400], X[400:])
    subset, classes = np.arange(4), y[:400].astype(np.int64)
    rows, layout, asked = subset_rows(columns, subset, classes)
    assert len(rows.classes) < 300
    codes = columns.train
    order = np.argsort(codes, axis=1, kind="stable")
    alone_layout = lay_out(2, 399, int(codes.max()))
    items = np.take_along_axis(codes, order, 1).astype(np.uint64) << alone_layout.code
    items |= (order.astype(np.uint64) << alone_layout.row) | classes[order].astype(np.uint64)
    alone = rows._replace(
        codes=codes,
        ordered=items,
        group=np.arange(400, dtype=rows.group.dtype),
        classes=classes,
        test_codes=columns.test,
    )
    keys = tree_keys(np.uint64(0), subset, 20)
    together, apart = np.zeros((len(rows.test_codes[0]), 3)), np.zeros((200, 3))
    everyone = [np.arange(len(votes), dtype=np.uint32) for votes in (together, apart)]
    vote(rows, layout, 2, True, keys, everyone[0], together)
    vote(alone, alone_layout, 2, True, keys, everyone[1], apart)
    np.testing.assert_array_equal(together[asked], apart)
    np.testing.assert_allclose(apart.sum(axis=1), 20)


def test_sorted_lists_and_sorting_at_the_node_grow_the_same_trees(digits, monkeypatch):
    rng = np.random.default_rng(0)
    crowded = np.exp(8 * rng.normal(size=(5000, 4)))  # continuous: nodes take the bucket, digit and insertion sorts
    crowded[:, 3] = np.round(crowded[:, 3] % 97)
    tables = [digits, held_of(crowded, rng.integers(0, 9, 5000), 4000)]
    subsets = [(20, 21, 22, 23, 24, 30, 33), (0, 1, 2, 3)]
    lists = [
        SharedEngine(t, RandomForestClassifier(8)).predict([s], "task") for t, s in zip(tables, subsets, strict=True)
    ]
    monkeypatch.setattr(coding, "WIDE", 1)
    for table, subset, answer in zip(tables, subsets, lists, strict=True):
        np.testing.assert_array_equal(SharedEngine(table, RandomForestClassifier(8)).predict([subset], "task"), answer)


@pytest.mark.parametrize("m", [1, 24, 25, 700, 9000])
@pytest.mark.parametrize("spread", [3, 500, 2**16, 2**31])
def test_sorting_by_code(m, spread):
    rng = np.random.default_rng(m)
    codes = rng.integers(0, spread, m).astype(np.uint64)
    codes[rng.random(m) < 0.7] %= np.uint64(50)  # crowded at the low end
    rows = np.zeros((3, m), np.uint64)
    rows[1] = codes << np.uint64(20) | rng.integers(0, 2**20, m).astype(np.uint64)
    items = rows[1].copy()
    bins = np.empty(BINS, np.int32)
    line = sort_by_code(rows, 1, 2, m, codes.min(), codes.max(), np.uint64(20), bins)
    assert (np.diff(rows[line] >> np.uint64(20)).astype(np.int64) >= 0).all()
    np.testing.assert_array_equal(np.sort(rows[line]), np.sort(items))


def test_seeds_and_subsets_draw_anew(digits):
    forest = RandomForestClassifier(5)
    keys = [tree_keys(np.uint64(seed), np.array(subset), 50) for seed in (0, 1) for subset in ((1,), (2,), (1, 2))]
    assert len(np.unique(keys)) == 300
    by_seed = [SharedEngine(digits, forest, seed=seed).predict(SUBSETS[:1], "users")[0] for seed in (0, 0, 1, 2**40)]
    np.testing.assert_array_equal(by_seed[0], by_seed[1])
    assert (by_seed[0] != by_seed[2]).any()
    assert (by_seed[2] != by_seed[3]).any()
    drawn = [SharedEngine(digits, forest, seed=None).predict(SUBSETS[:1], "users")[0] for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()


def test_a_copy_sent_to_a_worker_answers_the_same_on_one_thread(digits):
    engine = SharedEngine(digits, RandomForestClassifier(6), n_threads=2)
    copy = pickle.loads(pickle.dumps(engine))
    assert (engine.n_threads, copy.n_threads) == (2, 1)
    assert copy.score(SUBSETS, "task") == engine.score(SUBSETS, "task")
    assert sys.getsizeof(engine) > engine.columns.train.nbytes


# --- odd tables


def test_constant_features_are_passed_over():
    X, y = separated(400, 2, 3, 0)
    constant = np.full((400, 6), 7.0)
    wide = np.hstack([constant, X])
    forest = RandomForestClassifier(20, max_features=1)
    score = SharedEngine(held_of(wide, y, 300), forest).score([tuple(range(8)), (6, 7), (0, 1, 2)], "task")
    assert abs(score[0] - score[1]) < 0.1
    # nothing to split: every row gets the most frequent class
    assert score[2] == np.mean(y[300:] == np.bincount(y[:300]).argmax())


def test_one_class():
    X = np.arange(20.0)[:, None]
    assert SharedEngine(held_of(X, np.zeros(20, int), 15), RandomForestClassifier(3)).score([(0,)], "task") == [1.0]


def test_classes_that_only_held_out_rows_have_are_never_answered():
    X, y = separated(300, 2, 3, 1)
    y = np.where(np.arange(300) >= 280, 9, 2 * y)
    engine = SharedEngine(held_of(X, y, 200), RandomForestClassifier(20))
    answers = engine.predict([(0, 1)], "task")[0]
    assert set(answers) <= {0, 2, 4}
    assert engine.score([(0, 1)], "task")[0] <= 0.8


def test_equal_rows_of_different_classes_vote_with_their_shares():
    X = np.array([[1.0]] * 5 + [[2.0]] * 4 + [[1.0], [2.0]])
    y = np.array([0, 1, 1, 2, 2, 3, 3, 3, 0, 0, 0])
    # a tie of classes 1 and 2: the first wins, as scikit-learn's argmax has it
    assert single_tree(X, y, 9).tolist() == [1, 3]


def test_max_features_by_sklearns_rules():
    assert [tried_features("log2", w) for w in (1, 2, 9)] == [1, 1, 3]
    assert [tried_features(0.5, w) for w in (1, 9)] == [1, 4]
    assert [tried_features(3, w) for w in (2, 9)] == [2, 3]
    assert tried_features(None, 9) == 9


# --- refusals


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DecisionTreeClassifier(), "cannot train DecisionTreeClassifier: use engine='sklearn'"),
        (RandomForestClassifier(max_depth=3), "does not support max_depth=3"),
        (RandomForestClassifier(class_weight="balanced", criterion="entropy"), "class_weight='balanced'"),
    ],
)
def test_what_the_engine_cannot_train_is_refused(digits, model, message):
    with pytest.raises(ValueError, match=message):
        SharedEngine(digits, model)


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1e300])
def test_missing_and_infinite_values_are_refused(broken):
    X = np.ones((10, 3))
    X[4, 2] = broken
    with pytest.raises(
        ValueError, match=r"column 2 has missing, infinite or too large values in 1 rows \(first: row 4"
    ):
        SharedEngine(held_of(X, np.arange(10) % 2, 6))


@pytest.mark.parametrize(
    ("subset", "message"), [((), "at least one"), ((1, 1), "each once"), ((64,), "columns are 0 to 63")]
)
def test_wrong_subsets_are_refused(digits, subset, message):
    with pytest.raises(ValueError, match=message):
        SharedEngine(digits).score([subset], "task")


def test_other_refusals(digits):
    with pytest.raises(KeyError):
        SharedEngine(digits).score([(0,)], "height")
    with pytest.raises(ValueError, match="n_threads=0"):
        SharedEngine(digits, n_threads=0)
    with pytest.raises(ValueError, match="equal width"):
        code_columns(np.ones((3, 2)), np.ones((3, 1)))
    with pytest.raises(ValueError, match="too many for the shared forest"):
        lay_out(2**16, 2**24, 2**24)


# --- as an engine


def test_it_is_the_engine_called_shared(digits):
    engine: Engine = make_engine("shared", digits, RandomForestClassifier(4), 7)
    assert isinstance(engine, SharedEngine)
    assert (engine.name, engine.threads) == ("shared", True)
    other = make_engine("shared", digits, RandomForestClassifier(5), 7)
    assert engine.model != other.model


@pytest.mark.slow
def test_ctrl_c_stops_it_within_seconds(tmp_path, interruptible):
    code = textwrap.dedent(
        """
        import numpy as np, time
        from sklearn.ensemble import RandomForestClassifier
        from sensorprivacy.minimize.engine_protocol import EngineData
        from sensorprivacy.minimize.forest.engine import SharedEngine
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20_000, 6)), rng.integers(0, 50, 20_000)
        data = EngineData(X, X[:5000], {"task": (y, y[:5000])})
        engine = SharedEngine(data, RandomForestClassifier(2000), n_threads=2)
        print("started", flush=True)
        engine.score([(0, 1, 2), (3, 4), (1, 5), (0, 5), (2, 3)], "task")
        """
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "preexec_fn": interruptible}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as run:
        assert run.stdout.readline() == "started\n"
        time.sleep(1.0)
        run.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, errors = run.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - begun < 30  # seconds on an idle machine; unstopped it would be minutes
