"""Rewriting baselines: scikit-learn's own hasher, and the law that Laplace noise must follow."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, laplace
from sklearn.decomposition import SparsePCA
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sensorprivacy.mechanisms import SeededNoise
from sensorprivacy.minimize import rewrites
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise, components


@pytest.mark.parametrize("n_columns", [1, 3, 19])
def test_hashing_is_what_the_feature_hasher_does_with_rows_as_dicts(problem, n_columns):
    oracle = FeatureHasher(n_features=n_columns, input_type="dict").transform(problem.features.to_dict("records"))
    np.testing.assert_allclose(ColumnHasher(n_columns).fit_transform(problem.features), oracle.toarray(), atol=1e-12)


def test_printed_noise_has_one_scale_whatever_the_feature():
    table = pd.DataFrame({"small": np.zeros(20_000), "large": np.full(20_000, 1e6)})
    noisy = LaplaceNoise(0.5, seed=0).fit(table.iloc[:10]).transform(table)
    for column, centre in ((0, 0.0), (1, 1e6)):
        assert kstest(noisy[:, column] - centre, laplace(scale=2).cdf).pvalue > 0.01


def test_sound_noise_is_scaled_to_the_range_and_the_number_of_features():
    table = pd.DataFrame({"a": np.tile([0.0, 1.0], 10_000), "b": np.tile([0.0, 100.0], 10_000)})
    step = LaplaceNoise(4, sound=True, bounds=[(0, 1), (-50, 50)], seed=0).fit(table)
    np.testing.assert_array_equal(step.scale_, [0.5, 50])
    assert not step.bounds_from_data_
    noise = step.transform(table) - np.c_[table["a"], table["b"].clip(upper=50)]
    assert kstest(noise[:, 0], laplace(scale=0.5).cdf).pvalue > 0.01
    assert kstest(noise[:, 1], laplace(scale=50).cdf).pvalue > 0.01


def measured_epsilon(step, n=10_000):
    """Return the log of how much likelier one row is than another to fall below all low bounds, and its error.

    The two rows lie at the opposite ends of every range. For Laplace noise, no event separates them better.
    """
    below = [(step.transform(np.tile(row, (n, 1))) < step.low_).all(axis=1).sum() for row in (step.low_, step.high_)]
    return np.log(below[0] / below[1]), np.sqrt(1 / below[0] + 1 / below[1])


@pytest.mark.parametrize("seed", [None, 0])
def test_sound_noise_loses_epsilon_for_a_whole_row_and_no_more(seed):
    step = LaplaceNoise(1.5, sound=True, bounds=[(0, 1), (-30, 50)], seed=seed).fit(np.zeros((2, 2)))
    found, error = measured_epsilon(step)
    assert found == pytest.approx(1.5, abs=5 * error)
    assert 5 * error < 0.3


def test_the_measured_loss_reveals_noise_that_is_too_weak():
    """A scale that forgets that the features share epsilon loses twice as much."""
    step = LaplaceNoise(1.5, sound=True, bounds=[(0, 1), (-30, 50)], seed=0).fit(np.zeros((2, 2)))
    step.scale_ = step.scale_ / 2
    found, error = measured_epsilon(step)
    assert found > 1.5 + 5 * error


def test_printed_noise_does_not():
    step = LaplaceNoise(1.5).fit(np.zeros((2, 1)))
    assert abs(laplace.logpdf(0, 0, step.scale_[0]) - laplace.logpdf(0, 1000, step.scale_[0])) > 1000


def test_bounds_from_the_data_are_said_to_be_so():
    step = LaplaceNoise(1, sound=True).fit(np.array([[0.0, 5.0], [2.0, 5.0]]))
    assert step.bounds_from_data_
    np.testing.assert_array_equal(step.scale_, [4, 0])
    released = step.transform(np.array([[0.0, 5.0], [2.0, 9.0]]))
    assert (released[:, 1] == 5).all()
    assert (released[:, 0] != [0, 2]).all()


def test_sound_noise_without_a_seed_has_the_scale_of_the_seeded_noise():
    table = np.tile([[0.0, -50.0], [1.0, 50.0]], (5000, 1))
    for seed in (None, 0):
        noise = LaplaceNoise(4, sound=True, bounds=[(0, 1), (-50, 50)], seed=seed).fit(table).transform(table) - table
        assert kstest(noise[:, 0], laplace(scale=0.5).cdf).pvalue > 1e-9
        assert kstest(noise[:, 1], laplace(scale=50).cdf).pvalue > 1e-9


def test_noise_is_fresh_at_every_call_and_comes_back_with_the_seed():
    rows = np.zeros((5, 2))
    step = LaplaceNoise(1, seed=3).fit(rows)
    first, second = step.transform(rows), step.transform(rows)
    assert (first != second).all()
    np.testing.assert_array_equal(LaplaceNoise(1, seed=3).fit(rows).transform(rows), first)


@pytest.mark.parametrize("sparse", [False, True])
def test_components(problem, sparse):
    made = components(2, sparse=sparse, seed=0).fit(problem.features).transform(problem.features)
    assert made.shape == (240, 2)
    if not sparse:
        standard = (problem.features - problem.features.mean()) / problem.features.std(ddof=0)
        expected = np.linalg.svd(standard.to_numpy(), full_matrices=False)[1][:2] ** 2
        np.testing.assert_allclose((made**2).sum(axis=0), expected)


def test_sparse_components_are_fitted_to_few_rows(problem, monkeypatch):
    monkeypatch.setattr(rewrites, "SPARSE_PCA_ROWS", 50)
    fitted = components(2, sparse=True, seed=0).fit(problem.features)
    scaled = StandardScaler().fit_transform(problem.features)
    rows = np.random.default_rng(0).permutation(240)[:50]
    expected = SparsePCA(2, random_state=0).fit(scaled[rows]).transform(scaled)
    np.testing.assert_array_equal(fitted.transform(problem.features), expected)


def test_bad_input():
    with pytest.raises(ValueError, match="epsilon=0"):
        LaplaceNoise(0).fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="bounds must be 2 rows"):
        LaplaceNoise(1, sound=True, bounds=[(0, 1)]).fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="low <= high"):
        LaplaceNoise(1, sound=True, bounds=[(0, 1), (3, 2)]).fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="epsilon=150"):
        LaplaceNoise(300, sound=True, bounds=[(0, 1)] * 2).fit(np.zeros((2, 2)))


@parametrize_with_checks([ColumnHasher(3), LaplaceNoise(seed=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "bounds", [[(0, np.inf)], [(-np.inf, 0)], [(np.nan, 1)], [(np.inf, np.inf)], [(-1e308, 1e308)]]
)
def test_sound_noise_refuses_infinite_and_missing_bounds(bounds):
    with pytest.raises(ValueError, match="two finite numbers"):
        LaplaceNoise(1, sound=True, bounds=bounds).fit(np.zeros((2, 1)))


def share_on_the_coarse_grid(step, row):
    """Return how many releases near 0 are multiples of 2^-53, the grid of floating-point sums with the row 1.

    Mironov (CCS 2012) reads the row off that grid.
    """
    released = step.transform(np.full((20_000, 1), row))[:, 0]
    small = released[np.abs(released) < 2**-6]
    assert len(small) > 30
    return np.mean(small * 2**53 == np.rint(small * 2**53))


@pytest.mark.parametrize("row", [0.0, 1.0])
def test_digits_of_small_releases_do_not_reveal_the_row(row):
    step = LaplaceNoise(1, sound=True, bounds=[(0, 1)]).fit(np.zeros((2, 1)))
    assert share_on_the_coarse_grid(step, row) < 0.5


def test_digits_of_seeded_noise_do():
    """The check above can fail: NumPy's noise, which a seed selects, reveals which row is 1."""
    step = LaplaceNoise(1, sound=True, bounds=[(0, 1)], seed=0).fit(np.zeros((2, 1)))
    assert share_on_the_coarse_grid(step, 1.0) == 1
    assert share_on_the_coarse_grid(step, 0.0) < 0.5


def test_sound_noise_without_a_seed_comes_from_opendp(monkeypatch):
    step = LaplaceNoise(1, sound=True, bounds=[(0, 1)]).fit(np.zeros((2, 1)))
    monkeypatch.setattr(SeededNoise, "laplace", lambda *_: pytest.fail("NumPy's noise was drawn"))
    assert step.transform(np.zeros((3, 1))).shape == (3, 1)
