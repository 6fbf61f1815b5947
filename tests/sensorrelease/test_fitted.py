"""A saved defence publishes new rows as the fitted one does, and damaged or foreign folders are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorrelease.defences import as_frame
from sensorrelease.own_table import OwnTable
from sensorrelease.publishing.fitted import FittedTable, load_fitted, save_fitted
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


def numbers():
    return table().drop(columns=["room", "who"]).assign(lamp=table()["lamp"].eq("on").astype(int))


@pytest.mark.parametrize(
    "step",
    [PCA(2), KBinsDiscretizer(2, encode="ordinal", strategy="uniform"), make_pipeline(StandardScaler(), PCA(2))],
    ids=lambda step: type(step).__name__,
)
def test_transformers_of_scikit_learn_can_be_saved(tmp_path, step):
    first = fitted(step.set_output(transform="pandas").fit(numbers()))
    save_fitted(first, tmp_path)
    new = table(seed=1)
    pd.testing.assert_frame_equal(load_fitted(tmp_path).release(new), first.release(new))
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_more_than_data_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"func of a FunctionTransformer holds .*log1p.*more than data"):
        save_fitted(fitted(FunctionTransformer(np.log1p).fit(numbers())), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_to_be_loaded_is_not_saved(tmp_path, monkeypatch):
    step = fitted(PCA(2).fit(numbers()))
    monkeypatch.setattr("sensorrelease.publishing.steps._MOST", 10)
    with pytest.raises(ValueError, match=r"PCA.* cannot be saved: its arrays unpack to .* which is too much"):
        save_fitted(step, tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setattr("sensorprivacy.paths._MOST_JSON", 100)
    with pytest.raises(ValueError, match="at most 100 are read"):
        save_fitted(step, tmp_path)


def test_another_version_of_scikit_learn_is_refused(tmp_path):
    save_fitted(fitted(PCA(2).fit(numbers())), tmp_path)
    content = json.loads((tmp_path / FILE).read_text()) | {"sklearn": "0.1.0"}
    kind, stated = content.pop("format"), ("digest", "files", "version")
    write_saved(tmp_path, kind, {name: value for name, value in content.items() if name not in stated})
    with pytest.raises(FittedFolderError, match=r"with scikit-learn 0.1.0, here"):
        load_fitted(tmp_path)


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
        (edit(version=99), "has version 99, this package reads version 2: fit and save again"),
        (edit(kept=["lux"]), "does not have the digest"),
        (edit(extra=1), "does not have the digest"),
    ],
)
def test_damaged_and_foreign_folders_are_refused(tmp_path, damage, words):
    save_fitted(fitted("none"), tmp_path)
    damage(tmp_path)
    with pytest.raises(FittedFolderError, match=words):
        load_fitted(tmp_path)
