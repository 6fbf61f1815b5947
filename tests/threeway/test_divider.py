"""ThreeWayDivider: the scikit-learn contract, and agreement with the functions that it uses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_global_output_transform_pandas,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
)

from sensorprivacy.threeway import Appraiser, Division, ThreeWayDivider, find_thresholds


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "id": range(n),
            "age": rng.integers(18, 90, n),
            "job": pd.Categorical(rng.choice(list("abcdef"), n)),
            "score": rng.integers(0, 40, n) / 2,
            "sex": rng.choice(["m", "f"], n),
            "flag": rng.random(n) < 0.02,
        },
        index=[f"p{k}" for k in range(n)],
    )


SECURE = {"check_estimators_pickle": "noise is drawn anew by every transform, so no two outputs agree"}
FORGETFUL = {
    "check_pipeline_consistency": "its table rounds to columns of equal entropy, which cannot be divided",
    "check_methods_sample_order_invariance": "noise goes by place in the table, not by row",
    "check_methods_subset_invariance": "noise goes by place in the table, not by row",
}


def test_check_estimator_with_secure_noise():
    check_estimator(ThreeWayDivider(), expected_failed_checks=SECURE, on_skip=None)


def test_check_estimator_with_repeatable_noise(forgetful):
    """Noise that repeats lets scikit-learn run the checks that it skips for random transformers."""
    results = check_estimator(ThreeWayDivider(noise_source=forgetful()), expected_failed_checks=FORGETFUL, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert {"check_transformer_general", "check_estimators_pickle", "check_transformer_preserve_dtypes"} <= set(passed)


@pytest.mark.filterwarnings("ignore:X .*feature names")
@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_global_output_transform_pandas,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
    ],
)
def test_output_as_scikit_learn_checks_it(check, forgetful):
    check("ThreeWayDivider", ThreeWayDivider(noise_source=forgetful()))


def test_fit_agrees_with_the_functions(frame):
    divider = ThreeWayDivider().fit(frame)
    appraiser = Appraiser(frame)
    found = find_thresholds(appraiser)
    pd.testing.assert_series_equal(divider.entropies_, appraiser.entropies)
    pd.testing.assert_series_equal(divider.evaluation_, appraiser.evaluation)
    pd.testing.assert_frame_equal(divider.trace_, found.trace)
    assert divider.division_ == found.appraisal.division
    assert (divider.alpha_, divider.beta_) == (found.alpha, found.beta)
    assert divider.stopped_ == found.stopped
    assert divider.epsilon_total_ == len(divider.division_.ambiguous)


def test_transform_drops_keeps_and_adds_noise(frame):
    divider = ThreeWayDivider(0.95, 0.05, search=None).fit(frame)
    assert divider.division_.sensitive == ("id",)
    assert divider.division_.non_sensitive == ("flag",)
    out = divider.transform(frame)
    assert list(out.columns) == list(divider.get_feature_names_out()) == ["age", "job", "score", "sex", "flag"]
    assert out.index.equals(frame.index)
    assert out["flag"].equals(frame["flag"])
    for name in ("age", "job", "score", "sex"):
        assert out[name].tolist() != frame[name].tolist()
        assert out[name].dtype == frame[name].dtype
    # noise is drawn anew at every call
    assert not divider.transform(frame).equals(out)


def test_new_rows_get_noise_within_the_domains_of_fit(frame, seeded):
    divider = ThreeWayDivider(1, 0, search=None, clamp=True, noise_source=seeded()).fit(frame)
    new = frame.head(3).assign(age=[5, 500, 50])
    out = divider.transform(new)
    assert out["age"].between(frame["age"].min(), frame["age"].max()).all()
    strange = frame.head(3).assign(sex=["m", "x", "f"])
    with pytest.raises(ValueError, match="'sex' holds values"):
        divider.transform(strange)
    assert set(divider.set_params(unknown="redraw").transform(strange)["sex"]) <= {"m", "f"}


def test_set_output_clone_pickle_pipeline(frame, forgetful):
    divider = ThreeWayDivider(noise_source=forgetful(), bounds={"age": (0, 120)})
    assert clone(divider).get_params()["bounds"] == {"age": (0, 120)}
    out = divider.set_output(transform="pandas").fit_transform(frame)
    assert isinstance(out, pd.DataFrame)
    back = pickle.loads(pickle.dumps(divider))
    pd.testing.assert_frame_equal(back.transform(frame), out)
    chain = make_pipeline(divider, FunctionTransformer(feature_names_out="one-to-one")).fit(frame)
    assert list(chain.get_feature_names_out()) == list(out.columns)
    assert list(divider.feature_names_in_) == list(frame.columns)


def test_arrays_go_in_and_come_out(forgetful):
    X = np.random.default_rng(0).integers(0, [2, 5, 40], (100, 3)).astype(float)
    divider = ThreeWayDivider(1, 0, search=None, noise_source=forgetful()).fit(X)
    assert isinstance(divider.transform(X), np.ndarray)
    assert divider.get_feature_names_out().tolist() == ["x0", "x1"]
    assert divider.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b"]


def test_a_division_learned_elsewhere_does_not_depend_on_the_table(frame, forgetful):
    elsewhere = ThreeWayDivider(0.95, 0.05, search=None).fit(frame.sample(150, random_state=1)).division_
    learned = ThreeWayDivider(noise_source=forgetful()).fit(frame)
    given = ThreeWayDivider(division=elsewhere, noise_source=forgetful()).fit(frame.assign(flag=range(len(frame))))
    assert given.division_ == elsewhere
    assert (given.alpha_, given.beta_, given.stopped_) == (0.95, 0.05, "division as given")
    assert not hasattr(given, "entropies_")
    assert list(given.transform(frame)) == ["age", "job", "score", "sex", "flag"]
    assert "can change the groups" in " ".join(learned.guarantees_)
    assert "can change the groups" not in " ".join(given.guarantees_)
    assert f"total epsilon of {given.epsilon_total_:g}" in " ".join(given.guarantees_)


def test_refuses_a_division_of_other_columns(frame):
    with pytest.raises(ValueError, match=r"the division has columns \['age'\]"):
        ThreeWayDivider(division=Division(0.9, 0.1, (), (), ("age",))).fit(frame)
    with pytest.raises(TypeError, match="division is a dict: give a Division"):
        ThreeWayDivider(division={}).fit(frame)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: f.head(0), "0 rows"),
        (lambda f: f.head(1), "n_samples=1"),
        (lambda f: f[["age"]], "n_features=1"),
        (lambda f: f.assign(age=np.nan), "'age' is all missing"),
        (lambda f: f.assign(score=np.inf), "'score' holds infinite"),
        (lambda f: f.set_axis([*"aabcde"], axis=1), "repeats column names"),
        (lambda f: f[["sex"]].assign(twin=f["sex"]), "all 2 attributes"),
    ],
)
def test_refuses_tables(frame, spoil, message):
    with pytest.raises(ValueError, match=message):
        ThreeWayDivider().fit(spoil(frame))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.2, "beta": 0.4}, "alpha=0.2 < beta=0.4"),
        ({"alpha": 1.2}, "alpha=1.2"),
        ({"beta": -1}, "beta=-1"),
        ({"step": 0}, "step=0"),
        ({"step": 2}, "step=2"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": -3}, "epsilon=-3"),
        ({"search": "best"}, "search='best'"),
        ({"utility": "best"}, "utility='best'"),
        ({"unknown": "keep"}, "unknown='keep'"),
        ({"bounds": {"nobody": (0, 1)}}, "'nobody'"),
    ],
)
def test_refuses_parameters_at_fit(frame, parameters, message):
    with pytest.raises(ValueError, match=message):
        ThreeWayDivider(**parameters).fit(frame)


def test_refuses_transform_before_fit_and_other_columns(frame):
    with pytest.raises(NotFittedError):
        ThreeWayDivider().transform(frame)
    divider = ThreeWayDivider().fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        divider.transform(frame.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="infinite"):
        ThreeWayDivider(1, 0, search=None).fit(frame).transform(frame.assign(score=np.inf))
    with pytest.raises(ValueError, match="input_features"):
        divider.get_feature_names_out(["a"])
