"""Minimizations treat new rows as the first ones, rank wide tables by use, and take tables of every library."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from sensorprivacy import feature_minimize
from sensorprivacy.columns.identifiers import IdentifierWarning
from sensorprivacy.minimize.greedy import rank_features
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.settings import SearchSettings

TINY = RandomForestClassifier(8, random_state=0)


def table(rows=240, seed=0):
    draw = np.random.default_rng(seed)
    task, who = draw.integers(0, 2, rows), draw.integers(0, 3, rows)
    X = pd.DataFrame(
        {
            "load": 100 * task + draw.normal(0, 15, rows),
            "voice": who + draw.normal(0, 0.2, rows),
            "mode": np.where(draw.random(rows) < 0.7, np.where(task, "on", "idle"), "auto"),
        }
    )
    return X, task, who


def holed(X):
    X = X.copy()
    X.loc[::7, "load"], X.loc[::11, "voice"], X.loc[::13, "mode"] = np.nan, np.nan, None
    return X


def minimizer(missing, **options):
    return FeatureMinimizer(0.3, estimator=TINY, missing=missing, **options)


KINDS = {
    "frame": lambda X: X,
    "numbers": lambda X: X[["load", "voice"]],
    "nullable": lambda X: X[["load", "voice"]].convert_dtypes(),
    "array": lambda X: X[["load", "voice"]].to_numpy(),
    "lists": lambda X: X[["load", "voice"]].to_numpy().tolist(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_missing_cells_are_filled_when_fitting_and_afterwards(kind):
    """REVIEW C9: `missing="impute"` could not transform or score what it was fitted to."""
    X, task, who = table()
    X = KINDS[kind](holed(X))
    # the paper's rule keeps the number: a missing text stays as it is
    fitted = minimizer("impute", search=SearchSettings()).fit(X, task, users=who)
    assert not pd.isna(pd.DataFrame(fitted.transform(X))).any(axis=None)
    assert fitted.score(X, task) > 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_missing_cells_are_an_error_when_fitting_and_afterwards(kind):
    X, task, who = table()
    with pytest.raises(ValueError, match=r"missing|NaN"):
        minimizer("error").fit(KINDS[kind](holed(X)), task, users=who)
    fitted = minimizer("error").fit(KINDS[kind](X), task, users=who)
    with pytest.raises(ValueError, match=r"missing|NaN"):
        fitted.score(KINDS[kind](holed(X)), task)


@pytest.mark.slow
def test_a_pipeline_and_a_search_fill_missing_cells():
    X, task, _ = table()
    X = holed(X)[["load", "voice"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = make_pipeline(minimizer("impute"), LogisticRegression())  # which takes no missing cell
        assert cross_val_score(steps, X, task, cv=3).min() > 0.6
        search = GridSearchCV(steps, {"featureminimizer__threshold": [0.1, 0.3]}, cv=2).fit(X, task)
        assert search.best_score_ > 0.6
        framed = minimizer("impute").set_output(transform="pandas").fit(X, task)
    assert not framed.transform(X).isna().any(axis=None)


def test_a_fill_is_the_median_of_the_training_rows():
    X, task, who = table()
    X = holed(X)[["load", "voice"]]
    fitted = minimizer("impute").fit(X, task, users=who)
    name = fitted.get_feature_names_out()[0]
    expected = X[name].iloc[fitted.split_.train].median()
    row = X.iloc[[0]].assign(**{name: np.nan})
    assert fitted.transform(row)[0, 0] == pytest.approx(expected)


def test_new_rows_may_lack_dropped_features_only():
    """REVIEW C13: a service could not stop collecting what the minimization drops."""
    X, task, who = table()
    fitted = minimizer("error").fit(X, task, users=who)
    kept = list(fitted.get_feature_names_out())
    assert len(kept) < 3
    np.testing.assert_array_equal(fitted.transform(X[kept]), fitted.transform(X))
    assert fitted.score(X[kept], task) == fitted.score(X, task)
    with pytest.raises(ValueError, match=kept[0]):
        fitted.transform(X.drop(columns=kept[0]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda load: load / 1000, "unit"),
        (lambda load: load + 500, "outside"),
        (lambda load: 1_700_000_000 + np.arange(len(load)), "points in time"),
        (lambda load: np.arange(len(load)), "row numbers"),
        (lambda load: 19_630_101 + np.arange(len(load)) % 28, "points in time"),
    ],
)
def test_new_rows_unlike_the_first_ones_are_reported(change, says):
    X, task, who = table()
    X["load"] += 200
    fitted = minimizer("error", n_preselect=None).fit(X[["load"]].assign(noise=X["voice"] % 0.1), task, users=who)
    assert "load" in fitted.get_feature_names_out()
    new = pd.DataFrame({"load": change(X["load"]).astype(float), "noise": X["voice"] % 0.1})
    with pytest.warns(IdentifierWarning, match=f"load .*{says}"):
        fitted.transform(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(new.assign(load=X["load"]))


def test_new_rows_with_unseen_texts_are_reported():
    X, task, who = table()
    fitted = minimizer("error").fit(X[["mode"]].assign(noise=X["voice"] % 0.1), task, users=who)
    new = pd.DataFrame({"mode": X["mode"].where(X.index % 9 > 0, "defrost"), "noise": 0.05})
    with pytest.warns(IdentifierWarning, match=r"mode \(the fitted defence has not seen 11% of its cells, .*defrost"):
        fitted.transform(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.transform(new.assign(mode=X["mode"].where(X.index % 90 > 0, "defrost")))


@pytest.mark.first(5)
@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow"])
@pytest.mark.parametrize("column", ["row", "when", "mail", "badge", "day"])
def test_tables_of_every_library_get_the_same_checks(kind, column):
    """REVIEW C12: row numbers and texts were checked in pandas only, and LazyFrame was refused."""
    import polars as pl
    import pyarrow as pa

    X, task, who = table()
    cells = {"row": np.arange(len(X)), "when": [f"2024-05-{1 + at % 28:02} 10:00" for at in X.index]}
    cells |= {"mail": [f"u{at}@b.org" for at in who], "badge": who * 17 + 48_213, "day": 19_630_101 + X.index % 28}
    X = X[["load", "voice"]].assign(**{column: cells[column]})
    made = {"pandas": X, "polars": pl.from_pandas(X), "lazy": pl.from_pandas(X).lazy(), "arrow": pa.table(X)}[kind]
    with pytest.warns(IdentifierWarning, match=column):
        feature_minimize(made, task, who, 0.3, estimator=TINY)


def scores(utility, identifiability):
    found = pd.DataFrame({"utility": utility, "identifiability": identifiability, "feature": list("abcdef")})
    return found.assign(ratio=np.where(found.utility > 0, found.identifiability / found.utility.clip(1e-12), np.inf))


def test_a_feature_that_does_not_help_is_no_candidate():
    """REVIEW C10: of 2,000 noise columns, hundreds had the ratio 0 and came before the one that shows the task."""
    found = scores([0.001, 0.0, 0.3, 0.2, 0.002, 0.01], [0.0, 0.0, 0.1, 0.01, 0.0, 0.9])
    assert rank_features(found, "ratio") == ["a", "e", "d", "c", "f", "b"]  # the paper's rule
    assert rank_features(found, "ratio", variant="own") == ["d", "c", "f", "e", "a", "b"]
    equal = scores([0.1, 0.3, 0.2, 0.0, 0.25, 0.0], [0.0] * 6)
    assert rank_features(equal, "ratio", variant="own") == ["b", "e", "c", "a", "d", "f"]
    assert rank_features(scores([0.0] * 6, [0.0] * 6), "ratio", variant="own") == list("abcdef")
