"""A fitted minimization takes new rows of numbers, with all its features or with the kept ones only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from sensorprivacy import FeatureMinimizer, feature_minimize

TINY = RandomForestClassifier(8, random_state=0)


@pytest.fixture
def rows():
    draw = np.random.default_rng(0)
    task, who = draw.integers(0, 2, 240), draw.integers(0, 3, 240)
    X = pd.DataFrame({"load": 100 * task + draw.normal(0, 15, 240), "voice": who + draw.normal(0, 0.2, 240)})
    return X, task, who


KINDS = {
    "frame": lambda X: X,
    "nullable": lambda X: X.convert_dtypes(),
    "arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "objects": lambda X: X.astype(object),
    "array": lambda X: X.to_numpy(),
    "lists": lambda X: X.to_numpy().tolist(),
    "unnamed": lambda X: X.set_axis([0, 1], axis=1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_every_kind_are_taken_and_missing_ones_refused(kind, rows):
    X, task, who = rows
    fitted = FeatureMinimizer(0.3, estimator=TINY).fit(KINDS[kind](X), task, users=who)
    np.testing.assert_array_equal(fitted.support_, [True, False])
    np.testing.assert_array_equal(np.asarray(fitted.transform(KINDS[kind](X)), dtype=float), X[["load"]])
    holed = KINDS[kind](X.mask(np.repeat(X.index.to_numpy()[:, None] % 7 == 0, 2, axis=1)))
    with pytest.raises(ValueError, match=r"missing|NaN"):
        fitted.transform(holed)
    with pytest.raises(ValueError, match=r"is missing or infinite in 35 of 240 rows"):
        FeatureMinimizer(0.3, estimator=TINY).fit(holed, task, users=who)


WORDS = ["on", "off"] * 120
NO_NUMBERS = {
    "texts": WORDS,
    "categories": pd.Categorical(WORDS),
    "points in time": pd.date_range("2024-05-01", periods=240),
    "durations": pd.to_timedelta(np.arange(240), unit="s"),
}


@pytest.mark.parametrize("holds", NO_NUMBERS)
def test_a_column_that_is_no_number_is_named_with_a_remedy(holds, rows):
    X, task, who = rows
    odd = X.assign(room=NO_NUMBERS[holds])
    says = f"column 'room' holds {holds}: code it first, for example with OrdinalEncoder, or use sensorrelease"
    with pytest.raises(ValueError, match=says):
        FeatureMinimizer(0.3, estimator=TINY).fit(odd, task, users=who)
    with pytest.raises(ValueError, match=says):
        feature_minimize(odd, task, who, 0.3, estimator=TINY)
    fitted = FeatureMinimizer(0.3, estimator=TINY).fit(X, task, users=who)
    with pytest.raises(ValueError, match=says.replace("room", "load")):
        fitted.transform(X.assign(load=NO_NUMBERS[holds]))


def test_a_pipeline_codes_texts_and_fills_missing_cells(rows):
    X, task, _ = rows
    X = X.assign(mode=np.where(task, "on", "off"))
    X.loc[::7, "load"] = np.nan
    coded = make_column_transformer((OrdinalEncoder(), ["mode"]), (SimpleImputer(), ["load", "voice"]))
    steps = make_pipeline(coded, FeatureMinimizer(0.3, estimator=TINY), TINY)
    with pytest.warns(UserWarning, match="no users given"):
        steps.fit(X, task)
    assert steps[:-1].transform(X).shape == (240, 1)
    assert steps.score(X, task) > 0.8


def test_new_rows_may_lack_dropped_features_only(rows):
    """REVIEW C13: a service could not stop collecting what the minimization drops."""
    X, task, who = rows
    fitted = FeatureMinimizer(0.3, estimator=TINY).fit(X, task, users=who)
    np.testing.assert_array_equal(fitted.transform(X[["load"]]), fitted.transform(X))
    with pytest.raises(ValueError, match="load"):
        fitted.transform(X[["voice"]])
