"""A saved transformer is data: what could run code or name a path is neither written nor read."""

import copy
import json
import pickle
import shutil
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, FastICA, KernelPCA, SparsePCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

from sensorrelease.publishing.fitted import load_fitted
from sensorrelease.publishing.saved import FILE, FittedFolderError, read_saved, write_saved
from sensorrelease.publishing.steps import StepError, step_from_json, step_to_json
from sensorrelease.publishing.tables import publish
from sensorrelease.transformers import Rewritten, Rounded, TaskPrediction


def numbers():
    draw = np.random.default_rng(0)
    return pd.DataFrame(draw.normal(size=(60, 3)), columns=["lux", "voice", "load"]).assign(
        lamp=draw.integers(2, size=60)
    )


TASK = np.where(numbers()["lux"] > 0, "on", "off")
KEPT = [
    PCA(2),
    make_pipeline(StandardScaler(), make_pipeline(SimpleImputer(), PCA(2))),
    KBinsDiscretizer(2, strategy="uniform", encode="onehot-dense"),
    QuantileTransformer(n_quantiles=9),
    OrdinalEncoder(),
    TruncatedSVD(2),
    SparsePCA(1),
    FastICA(2),
    FeatureUnion([("a", PCA(1)), ("b", StandardScaler())]),
    ColumnTransformer([("a", StandardScaler(), ["lux"]), ("b", OneHotEncoder(sparse_output=False), ["lamp"])]),
    ColumnTransformer([("a", StandardScaler(), [0]), ("b", "passthrough", slice(1, 3))]),
    Rounded(2),
    TaskPrediction(trees=5),
    *(Rewritten(method, 2) for method in ("pca", "hashing")),
]


@pytest.mark.parametrize("step", KEPT, ids=lambda step: type(step).__name__)
def test_what_is_read_transforms_as_what_was_written(step):
    with warnings.catch_warnings(action="ignore"):
        step = step.fit(numbers(), TASK)
    again = step_from_json(json.loads(json.dumps(step_to_json(step))))
    one, two = step.transform(numbers()), again.transform(numbers())
    pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(two))


def run_code(*given):
    raise AssertionError("code runs")


class Foreign(PCA):
    """A class that neither scikit-learn nor this package has."""


# every parameter of the saved classes that takes a path, a callable or an object, and nests of them
MORE = {
    "memory of a Pipeline is '/tmp/cache'": Pipeline([("a", PCA())], memory="/tmp/cache"),
    "memory of a Pipeline is 'cache'": make_pipeline(PCA(), Pipeline([("a", PCA())], memory="cache")),
    "memory of a Pipeline holds Memory": Pipeline([("a", PCA())], memory=joblib.Memory("cache", verbose=0)),
    "memory of a Pipeline is '..'": ColumnTransformer([("a", Pipeline([("a", PCA())], memory=".."), [0])]),
    "memory of a Pipeline is 'c'": FeatureUnion([("a", Pipeline([("a", PCA())], memory="c"))]),
    "func of a FunctionTransformer": FunctionTransformer(run_code),
    "func of a FunctionTransformer holds <ufunc": FunctionTransformer(np.log1p),
    "inverse_func of a FunctionTransformer": FunctionTransformer(inverse_func=run_code),
    "feature_names_out of a FunctionTransformer": FunctionTransformer(feature_names_out=run_code),
    "kw_args of a FunctionTransformer": FunctionTransformer(kw_args={"a": run_code}),
    "fun of a FastICA": FastICA(fun=run_code),
    "strategy of a SimpleImputer": SimpleImputer(strategy=run_code),
    "fill_value of a SimpleImputer is 'a'": SimpleImputer(strategy="constant", fill_value="a"),
    "transformers of a ColumnTransformer": ColumnTransformer([("a", PCA(), run_code)]),
    "transformers of a ColumnTransformer holds <sk": ColumnTransformer([("a", PCA(), make_column_selector("l.*"))]),
    "verbose_feature_names_out of a ColumnTransformer": ColumnTransformer([], verbose_feature_names_out=run_code),
    "verbose_feature_names_out of a ColumnTransformer is": ColumnTransformer(
        [], verbose_feature_names_out="{transformer_name.__class__}"
    ),
    "feature_name_combiner of a OneHotEncoder": OneHotEncoder(feature_name_combiner=run_code),
    "dtype of a OneHotEncoder": OneHotEncoder(dtype=object),
    "random_state of a PCA": PCA(random_state=np.random.RandomState(0)),
    "random_state of a PCA is 'a'": PCA(random_state="a"),
    "method of a Rewritten is '/tmp/x'": Rewritten("/tmp/x"),
    "n_components of a PCA holds functools": PCA(partial(run_code)),
    "a SelectKBest is none of": SelectKBest(),
    "a KernelPCA is none of": make_pipeline(KernelPCA()),
    "a Foreign is none of": Foreign(),
}


@pytest.mark.parametrize("words", MORE)
def test_more_than_data_is_not_written(words):
    with pytest.raises(StepError, match=words.replace(".", r"\.")):
        step_to_json(MORE[words])


def test_a_method_in_an_attribute_is_not_written():
    step = PCA(2).fit(numbers())
    step.mean_ = step.fit
    with pytest.raises(StepError, match="mean_ of a PCA holds"):
        step_to_json(step)


def changed(path, value):
    """Return a saved pipeline with one value replaced, added or removed."""
    data = copy.deepcopy(step_to_json(make_pipeline(StandardScaler(), PCA(2)).fit(numbers())))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


PCA_OF = ("of", "steps", "list", 1, "tuple", 1)
FORGED = {
    "memory of a Pipeline is '/etc'": (("of", "memory"), "/etc"),
    "svd_solver of a PCA is 'a'": ((*PCA_OF, "of", "svd_solver"), "a"),
    "'Memory' is none of": (("of", "memory"), {"step": "Memory", "of": {"location": "cache"}}),
    "'os.system' is none of": ((*PCA_OF, "step"), "os.system"),
    "'fit' is no attribute": ((*PCA_OF, "of", "fit"), "a"),
    "'__class__' is no attribute": ((*PCA_OF, "of", "__class__"), "a"),
    "'a b' is no attribute": ((*PCA_OF, "of", "a b"), 1),
    "holds no transformer: 'pickle'": ((*PCA_OF, "of", "mean_"), {"pickle": "gASV"}),
    "is no type of numbers": ((*PCA_OF, "of", "mean_"), {"array": "|O", "shape": [1], "zlib": ""}),
    "holds no transformer: 'system'": ((*PCA_OF, "of", "dtype"), {"type": "system"}),
    "too much": ((*PCA_OF, "of", "mean_"), {"array": "<f8", "shape": [10**9], "zlib": ""}),
    "holds no transformer: cannot reshape": (
        (*PCA_OF, "of", "mean_"),
        {"array": "<f8", "shape": [10**6], "zlib": "eJwDAAAAAAE="},
    ),
}


@pytest.mark.parametrize("words", FORGED)
def test_more_than_data_is_not_read(words):
    with pytest.raises(StepError, match=words):
        step_from_json(changed(*FORGED[words]))


def test_a_file_sets_no_number_of_processes():
    assert step_from_json(step_to_json(FeatureUnion([("a", PCA())], n_jobs=9999))).n_jobs is None


TREE = {"left_child": 10**9, "right_child": 0, "feature": 7}


@pytest.mark.parametrize("name", TREE)
def test_a_tree_that_points_outside_is_refused(name):
    """scikit-learn reads memory at these places without a check."""
    data = step_to_json(TaskPrediction(trees=1).fit(numbers(), TASK))
    step = step_from_json(data)
    data["of"]["forest_"]["forest"][0][name] = step_to_json(carrier(step, name, TREE[name]))["of"]["value"]
    with pytest.raises(StepError, match="a tree points outside its nodes or features"):
        step_from_json(data)


def carrier(step, name, value):
    found = Rounded()
    cells = np.array(step.forest_.estimators_[0].tree_.__getstate__()["nodes"][name])
    cells[0] = value
    found.value = cells
    return found


def table(n=200):
    draw = np.random.default_rng(1)
    room, owner = draw.integers(2, size=n), draw.integers(4, size=n)
    columns = {"load": room + draw.normal(0, 0.2, n), "voice": owner + draw.normal(0, 0.3, n)}
    return pd.DataFrame(columns | {"hour": draw.integers(24, size=n), "room": room, "owner": owner})


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    words = {"task": "room", "user": "owner", "defence": make_pipeline(StandardScaler(), PCA(1))}
    words |= {"accept_draft": True}
    publish(table(), out=folder / "out", save=folder / "fitted", **words)
    return folder / "fitted"


def forge(folder, **changes):
    """Change a fitted folder as a forger does, with right digests."""
    content = json.loads((folder / FILE).read_text()) | changes
    kind, stated = content.pop("format"), ("digest", "files", "version")
    write_saved(folder, kind, {name: value for name, value in content.items() if name not in stated})


def test_a_planted_pickle_does_not_run(saved, tmp_path):
    """Issue 57: ``memory`` let joblib unpickle a planted result, because `publish` fitted the loaded pipeline again."""
    folder, ran = shutil.copytree(saved, tmp_path / "fitted"), tmp_path / "ran"
    step = json.loads((folder / FILE).read_text())["step"]
    step["of"]["memory"] = str(tmp_path / "cache")
    forge(folder, step=step)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "output.pkl").write_bytes(pickle.dumps(Evil(str(ran))))
    with pytest.raises(FittedFolderError, match=r"memory of a Pipeline is .*cache"):
        publish(table(), fitted=folder, out=tmp_path / "out")
    assert not ran.exists()
    assert not (tmp_path / "out").exists()


def test_what_was_loaded_is_not_fitted_again(saved, tmp_path, monkeypatch):
    for kind in (PCA, StandardScaler, Pipeline):
        for name in ("fit", "fit_transform"):
            monkeypatch.setattr(kind, name, run_code)
    card = publish(table(), fitted=saved, out=tmp_path / "out")
    assert "is not fitted again" in card.facts["matched"]["in_words"]


def plant_folder(folder):
    (folder / "cache").mkdir()


def plant_link(folder):
    shutil.move(folder / FILE, folder.parent / "elsewhere.json")
    (folder / FILE).symlink_to(folder.parent / "elsewhere.json")


PLANTED = {
    "a folder": (plant_folder, "cache"),
    "a link": (plant_link, FILE),
    "a link to a folder": (lambda folder: (folder / "more").symlink_to(folder.parent), "more"),
    "a pickle": (lambda folder: (folder / "output.pkl").write_bytes(b"x"), "output.pkl"),
    "a digested file": (lambda folder: ((folder / "step.skops").write_bytes(b"x"), forge(folder)), "step.skops"),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_folder_with_anything_else_is_refused(saved, tmp_path, kind):
    plant, name = PLANTED[kind]
    folder = shutil.copytree(saved, tmp_path / "fitted")
    plant(folder)
    with pytest.raises(FittedFolderError, match=f"holds '{name}', which is no file of a fitted defence"):
        load_fitted(folder)


def test_recordings_may_have_one_other_file(tmp_path):
    (tmp_path / "anonymizer.safetensors").write_bytes(b"x")
    write_saved(tmp_path, "a kind", {})
    assert read_saved(tmp_path, "a kind", "anonymizer.safetensors") == {}
    (tmp_path / "more").touch()
    with pytest.raises(FittedFolderError, match="'more'"):
        read_saved(tmp_path, "a kind", "anonymizer.safetensors")
