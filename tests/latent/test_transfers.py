import numpy as np
import pytest

from sensorprivacy.latent.transfers import Codebook, Donor, MeanShift, Moving, Statistics, Transfer, Transport, means

SIZE = 6000


@pytest.fixture(scope="module")
def latents() -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes of different mean and covariance."""
    generator = np.random.default_rng(0)
    private = np.repeat([0, 1], SIZE)
    narrow = generator.normal(size=(SIZE, 2)) @ np.array([[1.0, 0.0], [0.8, 0.3]]).T + [0, 0]
    wide = generator.normal(size=(SIZE, 2)) @ np.array([[2.0, -1.0], [0.0, 1.5]]).T + [5, -3]
    return np.concatenate([narrow, wide]), private


def moved(transfer: Transfer, latents: tuple[np.ndarray, np.ndarray], to: int) -> tuple[np.ndarray, Statistics]:
    z, private = latents
    known = transfer.fit(z, private, 2)
    rows = z[private == 0]
    source, target = np.zeros(len(rows), dtype=int), np.full(len(rows), to)
    return transfer.move(known, Moving(rows, source, target), np.random.default_rng(1)), known


def test_mean_shift_by_hand() -> None:
    z = np.array([[0.0, 0], [2, 0], [10, 4], [12, 4]])
    shift = MeanShift()
    known = shift.fit(z, np.array([0, 0, 1, 1]), 2)
    assert known["means"].tolist() == [[1, 0], [11, 4]]
    source, target = np.array([0, 1]), np.array([1, 1])
    out = shift.move(known, Moving(np.array([[5.0, 5.0], [1.0, 1.0]]), source, target), np.random.default_rng())
    assert out.tolist() == [[15, 9], [1, 1]]  # z - m(p) + m(p'); nothing happens where p' = p


def test_a_longer_shift(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    once, known = moved(MeanShift(), latents, to=1)
    longer, _ = moved(MeanShift(1.5), latents, to=1)
    vector = known["means"][1] - known["means"][0]
    assert np.allclose(longer - once, 0.5 * vector)
    assert np.allclose(known["means"], means(z, private, 2))


@pytest.mark.parametrize("transfer", [Transport(), Transport(0.5), Transport(0), Donor()])
@pytest.mark.parametrize("to", [0, 1])
def test_transport_gives_mean_and_covariance_of_the_target(
    latents: tuple[np.ndarray, np.ndarray], transfer: Transfer, to: int
) -> None:
    z, private = latents
    out, _ = moved(transfer, latents, to)
    wanted = z[private == to]
    assert np.allclose(out.mean(axis=0), wanted.mean(axis=0), atol=0.12)
    assert np.allclose(np.cov(out.T), np.cov(wanted.T), atol=0.25)


def test_the_mean_shift_keeps_the_covariance_of_the_source(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    out, _ = moved(MeanShift(), latents, to=1)
    assert np.allclose(np.cov(out.T), np.cov(z[private == 0].T))


def test_transport_is_optimal(latents: tuple[np.ndarray, np.ndarray]) -> None:
    """Its cost is the Bures-Wasserstein distance, computed by another formula."""
    from scipy.linalg import sqrtm

    z, private = latents
    out, _ = moved(Transport(), latents, to=1)
    a, b = (np.cov(z[private == code].T) for code in (0, 1))
    root = sqrtm(a)
    gap = z[private == 1].mean(axis=0) - z[private == 0].mean(axis=0)
    expected = gap @ gap + np.trace(a + b - 2 * np.real(sqrtm(root @ b @ root)))
    assert np.mean(((out - z[private == 0]) ** 2).sum(axis=1)) == pytest.approx(expected, rel=1e-3)


def test_less_kept_is_less_correlated(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    correlations = []
    for kept in (1.0, 0.5, 0.0):
        out, _ = moved(Transport(kept), latents, to=0)
        correlations.append(np.corrcoef(out[:, 0], z[private == 0][:, 0])[0, 1])
    assert correlations[0] == pytest.approx(1)
    assert correlations[1] == pytest.approx(0.5, abs=0.05)
    assert correlations[2] == pytest.approx(0, abs=0.05)


def test_donors_are_training_latents_of_the_target_class(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    out, _ = moved(Donor(), latents, to=1)
    known = {tuple(row) for row in z[private == 1]}
    assert all(tuple(row) in known for row in out)


def test_a_codebook_keeps_the_cell_and_nothing_else(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    book = Codebook(4)
    known = book.fit(z, private, 2)
    rows = z[private == 0]
    zeros = np.zeros(len(rows), dtype=int)
    first = book.move(known, Moving(rows, zeros, zeros), np.random.default_rng(1))
    # which latents can come out for a window: two windows share all of them or none
    place = {tuple(row): at for at, row in enumerate(known["donors"])}
    sets = [
        {
            place[tuple(row)]
            for row in book.move(
                known,
                Moving(np.repeat(rows[at : at + 1], 9000, 0), *[np.zeros(9000, int)] * 2),
                np.random.default_rng(at),
            )
        }
        for at in range(12)
    ]
    for a in sets:
        for b in sets:
            assert len(a & b) / len(a | b) > 0.9 or not a & b
    assert 2 <= len({min(one) // 100 for one in sets}) <= 4
    assert not np.allclose(first, rows)


def test_cells_without_a_window_of_a_class_are_merged_with_a_note() -> None:
    """REVIEW B10: this was a ValueError, twenty minutes into a run."""
    z = np.array([0, 1, 2, 3, 0, 0.1, 0.2, 9])[:, None] + np.arange(8.0)[:, None]
    private = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    with pytest.warns(UserWarning, match=r"8 cells were merged to \d"):
        known = Codebook(8).fit(z, private, 2)
    assert (np.diff(known["begins"]) > 0).all()
    assert len(known["begins"]) == 2 * len(known["centres"]) + 1
    book, zeros = Codebook(8), np.zeros(8, dtype=int)
    assert len(book.move(known, Moving(z, zeros, zeros), np.random.default_rng(0))) == 8


def test_nobody_is_their_own_donor(latents: tuple[np.ndarray, np.ndarray]) -> None:
    z, private = latents
    owners = np.arange(len(z)) % 3
    for book in (Donor(), Codebook(6)):
        known = book.fit(z, private, 2, owners)
        people = owners[:SIZE]
        zeros = np.zeros(SIZE, dtype=int)
        chosen = book.choose(known, Moving(z[:SIZE], zeros, zeros, people), np.random.default_rng(0))
        assert (known["owners"][chosen] != people).all()
        # strangers may get anybody's
        anybody = book.choose(known, Moving(z[:SIZE], zeros, zeros, np.full(SIZE, -1)), np.random.default_rng(0))
        assert (known["owners"][anybody] == people).mean() > 0.2
    own = Donor(own=True)
    chosen = own.choose(known, Moving(z[:SIZE], zeros, zeros, people), np.random.default_rng(0))
    assert (known["owners"][chosen] == people).mean() > 0.2


def test_a_class_of_one_person_borrows_donors_of_another() -> None:
    z, private, owners = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0] * 4 + [1] * 4)
    known = Donor().fit(z, private, 2, owners)
    out = Donor().move(known, Moving(z[:4], private[:4], private[:4], owners[:4]), np.random.default_rng(0))
    assert set(out.ravel()) <= {4.0, 5.0, 6.0, 7.0}


def test_synthetic_donors_are_nobodys_and_have_the_moments_of_their_cell(
    latents: tuple[np.ndarray, np.ndarray],
) -> None:
    z, private = latents
    known = Donor(synthetic=True).fit(z, private, 2, np.zeros(len(z), dtype=int))
    assert "owners" not in known
    assert not {tuple(row) for row in known["donors"]} & {tuple(row) for row in z}
    drawn = known["donors"][:SIZE]
    assert np.allclose(drawn.mean(axis=0), z[private == 0].mean(axis=0), atol=0.1)
    assert np.allclose(np.cov(drawn.T), np.cov(z[private == 0].T), atol=0.1)
    assert Codebook(4, synthetic=True).name == "codebook 4, synthetic"


@pytest.mark.parametrize("make", [lambda: Transport(1.1), lambda: Codebook(0)])
def test_out_of_range(make: object) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|at least one cell"):
        make()  # type: ignore[operator]
