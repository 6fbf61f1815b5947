import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorprivacy.data import Windows
from sensorprivacy.latent import Codebook, LatentAnonymizer, SeededSource
from sensorprivacy.latent.guaranteed import GuaranteedRelease
from sensorprivacy.mechanisms import SeededNoise, response_probabilities


@pytest.fixture(scope="module")
def synthetic(anonymizer: LatentAnonymizer) -> LatentAnonymizer:
    return anonymizer.with_(transfer=Codebook(3, synthetic=True), spectral_noise=0.5)


def response_matrix(cells: tuple[int, ...], activity_epsilon: float, cell_epsilon: float) -> np.ndarray:
    """Return the probability of every response to every activity and cell, by exact enumeration.

    Parameters
    ----------
    cells : tuple of int
        Number of cells of each activity.
    activity_epsilon, cell_epsilon : float
        Privacy losses, as for `GuaranteedRelease`.

    Returns
    -------
    numpy.ndarray of shape (inputs, outputs)
        Rows: activity and true cell, activity by activity, for as many cells as the largest activity has. Columns:
        activity and published cell. No entry is more than e^(activity_epsilon + cell_epsilon) times another entry of
        its column.

    """
    activities, largest = len(cells), max(cells)
    first = _responses(activities, activity_epsilon)
    blocks = []
    for said, many in enumerate(cells):
        second = _responses(many, cell_epsilon)[np.arange(largest) % many]  # true cell x published cell
        blocks.append(np.einsum("a,cd->acd", first[:, said], second).reshape(activities * largest, many))
    return np.concatenate(blocks, axis=1)


def _responses(k: int, epsilon: float) -> np.ndarray:
    """Return the k x k matrix of k-ary randomized response; without a budget, a uniform draw."""
    if k < 2:
        return np.ones((1, 1))
    if not epsilon:
        return np.full((k, k), 1 / k)
    kept, _ = response_probabilities(k, epsilon)
    return (1 - kept) / k + kept * np.eye(k)


@given(
    cells=st.lists(st.integers(1, 6), min_size=2, max_size=5).map(tuple),
    activity=st.floats(0.01, 20),
    cell=st.one_of(st.just(0.0), st.floats(0.01, 20)),
)
def test_no_output_is_more_likely_than_the_budget_allows(cells: tuple[int, ...], activity: float, cell: float) -> None:
    """Every pair of inputs and every output, by enumeration; the earlier claim of ln 3 was measured as 1.95."""
    matrix = response_matrix(cells, activity, cell)
    assert matrix.shape == (len(cells) * max(cells), sum(cells))
    assert np.allclose(matrix.sum(axis=1), 1, atol=1e-9)
    loss = np.log(matrix.max(axis=0)) - np.log(matrix.min(axis=0))
    assert loss.max() <= activity + cell + 1e-9
    # the budget is used, not only kept
    assert loss.max() >= activity + (cell if max(cells) > 1 else 0) - 1e-2


class Enumerated:
    """A source of noise that takes one path through the mechanism and adds up the path's probability."""

    def __init__(self, path: tuple[int, ...]) -> None:
        self.path, self.probability, self.sizes = list(path), 1.0, []

    def _next(self, shares: list[float]) -> int:
        self.sizes.append(len(shares))
        taken = self.path.pop(0) if self.path else 0
        self.probability *= shares[taken]
        return taken

    def flags(self, n: int, probability: float) -> np.ndarray:
        return np.array([self._next([1 - probability, probability]) for _ in range(n)], dtype=bool)

    def integers(self, n: int, k: int) -> np.ndarray:
        return np.array([self._next([1 / k] * k) for _ in range(n)], dtype=np.int64)


def distribution(release: GuaranteedRelease, activity: int, cell: int) -> dict[tuple[int, int], float]:
    """Return the exact distribution of a response, by walking all paths through the code that publishes."""
    found: dict[tuple[int, int], float] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        path = waiting.pop()
        noise = Enumerated(path)
        said, cells = release.respond(np.array([activity]), np.array([cell]), noise)  # type: ignore[arg-type]
        if len(path) < len(noise.sizes):  # one more decision was taken: follow all its branches
            waiting += [(*path, branch) for branch in range(noise.sizes[len(path)])]
        else:
            key = int(said[0]), int(cells[0])
            found[key] = found.get(key, 0) + noise.probability
    return found


@pytest.mark.parametrize(("activity", "cell"), [(1.0, 0.5), (0.2, 0.0), (4.0, 2.0)])
def test_the_code_that_publishes_has_the_enumerated_distribution(
    synthetic: LatentAnonymizer, activity: float, cell: float
) -> None:
    release = GuaranteedRelease(synthetic, activity, cell)
    matrix = response_matrix(release.cells, activity, cell)
    outputs = [(said, at) for said, many in enumerate(release.cells) for at in range(many)]
    for row, given_ in enumerate(itertools.product(range(len(release.cells)), range(max(release.cells)))):
        exact = distribution(release, *given_)
        assert sum(exact.values()) == pytest.approx(1)
        assert [exact[output] for output in outputs] == pytest.approx(matrix[row].tolist(), rel=1e-9)


def test_published_windows_depend_on_the_raw_ones_only_through_the_response(
    synthetic: LatentAnonymizer, unseen: Windows
) -> None:
    """With the same responses and randomness, other raw windows give the same publication, bit for bit."""
    release = GuaranteedRelease(synthetic, 2.0, 1.0, every=1)
    fixed = replace(release)
    many = unseen.n_windows
    object.__setattr__(fixed, "respond", lambda *_: (np.arange(many) % 2, np.zeros(many, dtype=int)))
    other = replace(unseen, values=unseen.values[::-1] * 3)
    one, two = (fixed.publish(some, SeededNoise(0), SeededSource(0))[0].values for some in (unseen, other))
    assert np.array_equal(one, two)


def test_the_budget_adds_up_over_recordings_and_people(synthetic: LatentAnonymizer, unseen: Windows) -> None:
    """24 recordings of 16 windows, four of each person; windows start every 8 of 32 samples a second."""
    per_window = GuaranteedRelease(synthetic, 3.0, 1.0, every=1).budget(unseen)
    assert per_window["epsilon"].tolist() == [4, 16 * 4, 4 * 16 * 4]
    assert per_window["per_minute"].iloc[0] == pytest.approx(60 * 32 / 8)
    per_recording = GuaranteedRelease(synthetic, 3.0, 1.0, every=0).budget(unseen)
    assert per_recording["epsilon"].tolist() == [4, 4, 16]
    assert GuaranteedRelease(synthetic, 3.0, 1.0, every=5).budget(unseen)["responses"].tolist() == [1, 4, 16]


def test_the_default_source_is_secure_and_a_recording_has_one_response(
    synthetic: LatentAnonymizer, unseen: Windows
) -> None:
    release = GuaranteedRelease(synthetic, 8.0, 0.0)
    published, _ = release.publish(unseen)
    assert not np.array_equal(published.values, release.publish(unseen)[0].values)
    seeded = release.seeded(3)
    assert np.array_equal(seeded(unseen).values, seeded(unseen).values)
    models = synthetic.models_
    kept = models.public_model.predict(models.scaled(published)) == models.codes(unseen)[0]
    assert kept.mean() > 0.8
    assert response_probabilities(2, 8.0)[0] > 0.99


def test_real_training_windows_are_refused(anonymizer: LatentAnonymizer) -> None:
    with pytest.raises(ValueError, match="give transfer=Codebook\\(synthetic=True\\)"):
        GuaranteedRelease(anonymizer.with_(transfer=Codebook(2)))
    good = anonymizer.with_(transfer=Codebook(2, synthetic=True))
    for wrong in ({"activity_epsilon": 0.0}, {"cell_epsilon": math.nan}, {"every": -1}):
        with pytest.raises(ValueError, match="give"):
            GuaranteedRelease(good, **wrong)  # type: ignore[arg-type]
