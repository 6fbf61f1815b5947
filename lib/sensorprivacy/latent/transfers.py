"""How a latent representation is moved from one private class to another: the paper's mean shift, and ours.

A transfer learns plain arrays from the training latents of one public class and moves latents by them. The paper's
keeps the residual z - m(y, p) untouched, and the residual is what tells the classes, and the people, apart; ours keep
less of it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.cluster import KMeans

Statistics = dict[str, np.ndarray]
_RIDGE = 1e-6  # keeps the covariance of a latent that never varies invertible


class Transfer(Protocol):
    """A way to move latents."""

    @property
    def name(self) -> str:
        """Short name, for tables."""

    def fit(self, z: np.ndarray, private: np.ndarray, classes: int) -> Statistics:
        """Return what it needs to know of a public class's training latents, n x d, and their private classes."""

    def move(
        self, known: Statistics, z: np.ndarray, source: np.ndarray, target: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Return the latents moved from class `source` to class `target`, each of shape (n,)."""


@dataclass(frozen=True)
class MeanShift:
    """The paper's: z' = z - m(y, p) + m(y, p').

    Parameters
    ----------
    scale : float
        Length of the shift as a multiple of the transfer vector; 1 in the paper.
    """

    scale: float = 1.0

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "mean shift" if self.scale == 1 else f"mean shift x{self.scale:g}"

    def fit(self, z: np.ndarray, private: np.ndarray, classes: int) -> Statistics:
        """Return the mean latent of each private class, ``means`` of shape (classes, d)."""
        return {"means": means(z, private, classes)}

    def move(
        self, known: Statistics, z: np.ndarray, source: np.ndarray, target: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Return the shifted latents; nothing is drawn."""
        return z + self.scale * (known["means"][target] - known["means"][source])


@dataclass(frozen=True)
class Transport:
    """Class-conditional transport: the source class's mean *and covariance* become the target's.

    The part of the residual that is kept is mapped by the optimal transport between the two Gaussians; the rest is
    filled with noise of the target's covariance, so that what comes out has the target's mean and covariance whatever
    is kept.

    Parameters
    ----------
    kept : float
        Share of the residual's deviation that is kept, 0 to 1.
    """

    kept: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.kept <= 1:
            raise ValueError(f"kept={self.kept}: the share of the residual that is kept lies between 0 and 1")

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "transport" if self.kept == 1 else f"transport, {self.kept:g} kept"

    def fit(self, z: np.ndarray, private: np.ndarray, classes: int) -> Statistics:
        """Return ``means``, the maps between every two classes (``maps``), and roots of the covariances (``roots``)."""
        roots = np.stack([_root(_covariance(z[private == code])) for code in range(classes)])
        maps = np.stack([[_transport(a, b) for b in roots] for a in roots])
        return {"means": means(z, private, classes), "maps": maps, "roots": roots}

    def move(
        self, known: Statistics, z: np.ndarray, source: np.ndarray, target: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Return the transported latents."""
        residual = _each_times(known["maps"][source, target], z - known["means"][source])
        moved = known["means"][target] + self.kept * residual
        if self.kept == 1:
            return moved
        noise = _each_times(known["roots"][target], generator.standard_normal(z.shape))
        return moved + np.sqrt(1 - self.kept**2) * noise


@dataclass(frozen=True)
class Donor:
    """Replace z by the training latent of a random window of the target class: synthesis from the activity alone."""

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "donor"

    def fit(self, z: np.ndarray, private: np.ndarray, classes: int) -> Statistics:
        """Return the training latents sorted by class (``donors``), and where each class begins (``begins``)."""
        return Codebook(cells=1).fit(z, private, classes)

    def move(
        self, known: Statistics, z: np.ndarray, source: np.ndarray, target: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Return donors."""
        return Codebook(cells=1).move(known, z, source, target, generator)


@dataclass(frozen=True)
class Codebook:
    """Keep only which of a few cells z lies in, and replace it by a random training latent of that cell.

    Cells divide the residuals, centred and whitened by class, so a cell says how a step is made and hardly who makes
    it. What is published depends on the window through its inferred activity, its target class and its cell alone:
    log2(cells) bits besides the activity, whatever the attacker; `Codebook.bound` says what these can tell.

    Parameters
    ----------
    cells : int
        Cells an activity. 1 keeps nothing but the activity.
    flip : float
        Probability that the cell is replaced by one drawn uniformly: randomized response on the cell, which is
        epsilon-differentially private for a window with epsilon = ln(1 + cells (1 - flip) / flip).
    """

    cells: int = 8
    flip: float = 0.0

    def __post_init__(self) -> None:
        if self.cells < 1 or not 0 <= self.flip <= 1:
            raise ValueError(f"cells={self.cells}, flip={self.flip}: give at least one cell, and a probability")

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return f"codebook {self.cells}" + (f", flip {self.flip:g}" if self.flip else "")

    def fit(self, z: np.ndarray, private: np.ndarray, classes: int) -> Statistics:
        """Return ``means``, ``whiten`` (whitening), ``centres``, ``donors``, and where a cell's class ``begins``."""
        average = means(z, private, classes)
        whiten = np.stack([np.linalg.inv(_root(_covariance(z[private == code]))) for code in range(classes)])
        residual = _each_times(whiten[private], z - average[private])
        centres = KMeans(self.cells, n_init=1, random_state=0).fit(residual).cluster_centers_
        cell = _nearest(residual, centres)
        counts = np.zeros((self.cells, classes), dtype=np.int64)
        np.add.at(counts, (cell, private), 1)
        if (counts == 0).any():
            empty = tuple(int(at) for at in np.argwhere(counts == 0)[0])
            raise ValueError(
                f"cell {empty[0]} of {self.cells} has no training window of class {empty[1]}: ask for fewer cells"
            )
        order = np.lexsort((private, cell))
        begins = np.concatenate([[0], np.cumsum(counts.ravel())])
        return {"means": average, "whiten": whiten, "centres": centres, "donors": z[order], "begins": begins}

    def move(
        self, known: Statistics, z: np.ndarray, source: np.ndarray, target: np.ndarray, generator: np.random.Generator
    ) -> np.ndarray:
        """Return a random training latent of each window's cell and target class."""
        classes = len(known["means"])
        cell = _nearest(_each_times(known["whiten"][source], z - known["means"][source]), known["centres"])
        if self.flip:
            drawn = generator.integers(self.cells, size=len(z))
            cell = np.where(generator.random(len(z)) < self.flip, drawn, cell)
        place = cell * classes + target
        first, after = known["begins"][place], known["begins"][place + 1]
        return known["donors"][generator.integers(first, after)]

    @staticmethod
    def bound(known: Statistics) -> float:
        """Return the best accuracy that any attacker can reach on one training window who sees only its cell.

        The private class that is most frequent in each cell is the best guess, and no processing of the published
        window can add to it (the data-processing inequality). It holds where the published class is drawn
        independently of the true one, and private classes are inferred rightly.
        """
        counts = np.diff(known["begins"]).reshape(-1, len(known["means"]))
        return float(counts.max(axis=1).sum() / counts.sum())


def means(z: np.ndarray, private: np.ndarray, classes: int) -> np.ndarray:
    """Return the mean latent m(y, p) of each private class, shape (classes, d)."""
    return np.stack([z[private == code].mean(axis=0) for code in range(classes)])


def _covariance(z: np.ndarray) -> np.ndarray:
    return np.atleast_2d(np.cov(z, rowvar=False)) + _RIDGE * np.eye(z.shape[1])


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def _transport(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the optimal transport between two centred Gaussians, given the roots of their covariances."""
    inverse = np.linalg.inv(source)
    return inverse @ _root(source @ target @ target @ source) @ inverse


def _each_times(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return each row multiplied by its own matrix."""
    return np.einsum("nij,nj->ni", matrices, rows)


def _nearest(rows: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row."""
    distances = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    return distances.argmin(axis=1)


TRANSFERS: dict[str, type] = {
    "MeanShift": MeanShift,
    "Transport": Transport,
    "Donor": Donor,
    "Codebook": Codebook,
}
