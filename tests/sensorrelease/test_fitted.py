"""A saved defence publishes new rows as the fitted one does, and damaged or foreign folders are refused."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler
from skops import io

from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorrelease.defences import as_frame
from sensorrelease.own_table import OwnTable
from sensorrelease.publishing.fitted import OTHER, FittedTable, load_fitted, save_fitted
from sensorrelease.publishing.saved import FILE, FittedFolderError, write_saved
from sensorrelease.schema import Constraints, draft
from sensorrelease.words import parse

WORDS = ["none", "minimize:threshold=.1", "minimize+noise:threshold=.1,epsilon=60", "noise:epsilon=60"]
WORDS += [
    "threeway:epsilon=30",
    "method:gini_utility,columns=2",
    "prediction",
    "method:pca,columns=2",
    "method:hashing",
]


MEASURED = dict.fromkeys(("score", "low", "high", "chance", "p", "p_any", "balanced", "unseen"), 0.5)
MEASURED |= dict.fromkeys(("auc", "exposed_recall", "exposed_precision"))
MEASURED |= {"about": "user who", "attacker": "naive forest", "data": "published", "level": "row", "n": 50}
MEASURED |= {"unit": "rows"}


def table(seed=0, n=200):
    draw = np.random.default_rng(seed)
    room, who = draw.integers(2, size=n), draw.integers(3, size=n)
    return pd.DataFrame(
        {
            "room": room,
            "who": who,
            "lux": room + draw.normal(0, 0.3, n),
            "voice": who + draw.normal(0, 0.3, n),
            "hour": draw.integers(24, size=n),
            "lamp": draw.choice(["on", "off"], n),
        }
    )


def fitted(word):
    """Return a fitted defence; lux, voice, hour and lamp leave."""
    schema = draft(table(), "room", "who", identifying=True)
    wide = {"role": "feature", "step": 1e-6, "constraints": Constraints(minimum=-9, maximum=30)}
    fields = [one.model_copy(update=wide if one.is_number else {}) for one in schema.fields]
    own = OwnTable(table(), schema.model_copy(update={"fields": fields}))
    own.learn(1000)
    problem, step, gate = own.problem(), word, own.gate
    if isinstance(word, str):
        published = parse(word).publish(problem, np.arange(140), None)
        step, gate = published.step, gate.with_steps(published.values)
    elif hasattr(step, "transform"):
        values = as_frame(step.transform(problem.features), step, np.arange(200))
        gate = gate.with_steps(values, None if isinstance(step, FeatureMinimizer | LaplaceNoise) else problem.features)
    return FittedTable(str(word), "A test.", gate, step, {"measured": [MEASURED], "measured_on": ["On test rows."]})


@pytest.mark.first(1)
@pytest.mark.parametrize("word", WORDS)
def test_a_loaded_defence_publishes_the_same(word, tmp_path):
    first = fitted(word)
    save_fitted(first, tmp_path)
    again = load_fitted(tmp_path)
    assert (again.facts, again.columns) == ({"measured": [MEASURED]}, first.columns)
    new = table() if again.step.__dict__.get("epsilon") else table(seed=1)  # noise clips to the bounds of the fit
    one, two = first.release(new), again.release(new)
    assert list(one) == list(two)
    assert getattr(again.step, "epsilon_total_", None) == getattr(first.step, "epsilon_total_", None)
    assert getattr(again.step, "guarantees_", ()) == getattr(first.step, "guarantees_", ())
    for name in one:
        if "epsilon" not in word:
            assert one[name].equals(two[name])
        elif pd.api.types.is_numeric_dtype(one[name]):  # noise is drawn anew, with the same scale and type
            assert one[name].dtype == two[name].dtype
            spread = [(some[name] - new[name]).abs().mean() for some in (one, two)]
            assert spread[0] == spread[1] == 0 or 0.6 < spread[0] / spread[1] < 1.6
        else:
            assert set(two[name]) <= {"on", "off"}


@pytest.mark.first(1)
@pytest.mark.parametrize("word", WORDS)
def test_new_rows_need_only_the_columns_that_the_release_depends_on(word, tmp_path):
    """Issue 41: a service can stop collecting the others, for every defence; nothing else in them changes a release."""
    save_fitted(fitted(word), tmp_path)
    loaded, new = load_fitted(tmp_path), table(1)
    few = loaded.release(new[loaded.needed])
    more = loaded.release(new.assign(**dict.fromkeys({"lux", "voice", "hour", "lamp"} - {*loaded.needed}, "x")))
    assert list(few) == list(more)
    if "noise" not in word and "threeway" not in word:
        pd.testing.assert_frame_equal(few, more)
    assert (len(loaded.needed) < 4) == word.startswith(("minimize", "threeway", "method:gini"))
    with pytest.raises(ValueError, match=f"no column '{loaded.needed[0]}'"):
        loaded.release(new[loaded.needed[1:]])


def test_noise_of_a_loaded_defence_is_secure(tmp_path):
    save_fitted(fitted("minimize+noise:epsilon=5"), tmp_path)
    again = load_fitted(tmp_path)
    assert again.step.noise_.seed is None
    assert not again.release(table()).equals(load_fitted(tmp_path).release(table()))


def test_fitted_estimators_of_the_library_can_be_saved(tmp_path):
    data = table()
    numbers = data.drop(columns=["room", "who"]).assign(lamp=data["lamp"].eq("on").astype(int))
    minimizer = FeatureMinimizer(0.1, n_preselect=None, estimator=RandomForestClassifier(2), progress=False)
    for step in (minimizer.fit(numbers, data["room"], users=data["who"]), LaplaceNoise(4, sound=True).fit(numbers)):
        folder = tmp_path / type(step).__name__
        folder.mkdir()
        save_fitted(fitted(step), folder)
        assert list(load_fitted(folder).release(data)) == list(map(str, step.get_feature_names_out()))


class Foreign(PCA):
    """A class that neither scikit-learn nor this package has."""


def numbers():
    return table().drop(columns=["room", "who"]).assign(lamp=table()["lamp"].eq("on").astype(int))


@pytest.mark.parametrize(
    "step",
    [
        PCA(2),
        KBinsDiscretizer(2, encode="ordinal", strategy="uniform"),
        make_pipeline(StandardScaler(), PCA(2)),
        FunctionTransformer(np.log1p),
    ],
    ids=lambda step: type(step).__name__,
)
def test_transformers_of_scikit_learn_can_be_saved(tmp_path, step):
    first = fitted(step.set_output(transform="pandas").fit(numbers()))
    save_fitted(first, tmp_path)
    new = table(seed=1)
    pd.testing.assert_frame_equal(load_fitted(tmp_path).release(new), first.release(new))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (Foreign(2), "test_fitted.Foreign could run any code"),
        (FunctionTransformer(lambda values: values), "lambda.* could run any code"),
    ],
)
def test_classes_that_could_run_code_are_refused(tmp_path, step, words):
    with pytest.raises(ValueError, match=words):
        save_fitted(fitted(step.fit(numbers())), tmp_path)
    assert list(tmp_path.iterdir()) == []


def restate(folder, whole, **changes):
    """Replace the second file, and correct all digests."""
    (folder / OTHER).write_bytes(whole)
    content = json.loads((folder / FILE).read_text()) | changes
    kind, stated = content.pop("format"), ("digest", "files", "version")
    write_saved(folder, kind, {name: value for name, value in content.items() if name not in stated})


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / OTHER).unlink(), "step.skops is not the file"),
        (lambda folder: (folder / OTHER).write_bytes(b"PK"), "step.skops is not the file"),
        (
            lambda folder: restate(folder, io.dumps(Foreign(2).fit(numbers()))),
            "Foreign in step.skops could run any code",
        ),
        (
            lambda folder: restate(folder, (folder / OTHER).read_bytes(), sklearn="0.1.0"),
            "with scikit-learn 0.1.0, here",
        ),
    ],
)
def test_a_second_file_that_is_damaged_or_foreign_is_refused(tmp_path, damage, words):
    save_fitted(fitted(PCA(2).fit(numbers())), tmp_path)
    damage(tmp_path)
    with pytest.raises(FittedFolderError, match=words):
        load_fitted(tmp_path)


def test_there_is_no_pickle(tmp_path):
    save_fitted(fitted("threeway:epsilon=1"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    with pytest.raises(pickle.UnpicklingError), (tmp_path / FILE).open("rb") as file:
        pickle.load(file)


def cut(folder):
    (folder / FILE).write_bytes((folder / FILE).read_bytes()[:300])


def edit(**changes):
    def change(folder):
        content = json.loads((folder / FILE).read_text())
        (folder / FILE).write_text(json.dumps(content | changes))

    return change


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / FILE).unlink(), "holds no fitted defence: there is no defence.json"),
        (cut, "is damaged: .*defence.json is no JSON"),
        (lambda folder: (folder / FILE).write_text("[1]"), "has not the format"),
        (edit(format="other"), "has not the format"),
        (edit(version=99), "has version 99, this package reads version 1: fit and save again"),
        (edit(kept=["lux"]), "does not have the digest"),
        (edit(extra=1), "does not have the digest"),
    ],
)
def test_damaged_and_foreign_folders_are_refused(tmp_path, damage, words):
    save_fitted(fitted("none"), tmp_path)
    damage(tmp_path)
    with pytest.raises(FittedFolderError, match=words):
        load_fitted(tmp_path)
