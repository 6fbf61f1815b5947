"""Every transformer of the library takes and returns tables of polars."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import TransformerMixin
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.minimize import minimizer, rewrites
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise
from sensorprivacy.threeway import divider
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorrelease import transformers
from sensorrelease.transformers import MinimizedTable, Rewritten, Rounded, TaskPrediction, TopColumns

FOREST = RandomForestClassifier(2)
STEPS = [
    ColumnHasher(2),
    FeatureMinimizer(0.2, n_preselect=None, estimator=FOREST, progress=False),
    LaplaceNoise(4, sound=True, bounds=[(-1, 3)] * 4, seed=0),
    MinimizedTable(0.2, trees=2),
    Rewritten("pca", 2),
    Rewritten("hashing", 3),
    TaskPrediction(2),
    ThreeWayDivider(bounds={"hour": (0, 23)}, search=None),
    TopColumns("gini_utility", 2),
]


def test_the_list_is_complete():
    modules = (divider, minimizer, rewrites, transformers)
    found = {
        one
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one) and issubclass(one, TransformerMixin) and one.__module__ == module.__name__
    }
    named = {type(step) for step in STEPS} | {rewrites.SampledSparsePCA, transformers._KeepsColumns}
    named |= {transformers.Rounded}  # it takes the names of text columns: test_matching.py
    assert found == named


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_tables_of_polars_come_out(step, library):
    polars = pytest.importorskip("polars")
    draw = np.random.default_rng(0)
    task, users = draw.integers(2, size=90), draw.integers(3, size=90)
    values = draw.normal(0, 0.2, (90, 3)) + np.c_[task, users, task]
    table = pd.DataFrame(values, columns=["lux", "voice", "watt"]).assign(hour=draw.integers(24, size=90))
    given = table if library == "pandas" else polars.from_pandas(table)
    extra = {"users": users} if "users" in inspect.signature(step.fit).parameters else {}
    found = step.set_output(transform="polars").fit(given, task, **extra).transform(given)
    assert isinstance(found, polars.DataFrame)
    assert found.columns == list(step.get_feature_names_out())
    assert len(found) == 90


def test_three_way_division_knows_names_and_texts_of_polars():
    polars = pytest.importorskip("polars")
    table = {"id": range(8), "hour": [0, 0, 1, 1, 2, 2, 3, 3], "lamp": ["on", "off"] * 4}
    step = ThreeWayDivider(bounds={"hour": (0, 23)}).fit(polars.DataFrame(table))
    assert (step.domains_["hour"].low, step.domains_["hour"].high) == (0, 23)
    assert list(step.transform(polars.DataFrame(table)).columns) == ["hour", "lamp"]
    assert step.domains_["hour"].integer


def test_rounding_keeps_significant_digits_and_categories():
    rows = pd.DataFrame({"lux": [12345.0, 0.0, -0.001299, 0.3], "place": [11, 12, 13, 14], "hour": [1, 19, 23, 105]})
    found = Rounded(2).fit(rows, texts=["place"]).transform(rows)
    assert found["lux"].tolist() == [12000.0, 0.0, -0.0013, 0.3]
    assert found["place"].tolist() == [11, 12, 13, 14]
    assert found["hour"].tolist() == [1, 19, 23, 100]
    assert Rounded(1).fit_transform(rows)["hour"].tolist() == [1, 20, 20, 100]
