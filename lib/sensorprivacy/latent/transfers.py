"""Move latent representations from one private class to another: the paper's mean shift, and our transfers.

A transfer learns plain arrays from the training latents of one public class, and uses them to move latents. The paper's
transfer keeps the residual z - m(y, p), which differs between classes and between people. Ours keep less of it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from sklearn.cluster import KMeans

Array = np.ndarray
Statistics = dict[str, Array]
_RIDGE = 1e-6  # keeps covariances invertible even if a latent is constant


class Transfer(Protocol):
    """A method that moves latents from one private class to another."""

    @property
    def name(self) -> str:
        """Short name, for tables."""

    def fit(self, z: Array, private: Array, classes: int) -> Statistics:
        """Learn arrays from a public class's training latents, n x d, and their private classes."""

    def move(self, known: Statistics, z: Array, source: Array, target: Array, generator: Generator) -> Array:
        """Return the latents moved from class `source` to class `target`, each of shape (n,)."""


@dataclass(frozen=True)
class MeanShift:
    """Shift by the difference of the class means (the paper's): z' = z - m(y, p) + m(y, p').

    Parameters
    ----------
    scale : float
        Length of the shift, as a multiple of the transfer vector; the paper has 1.
    """

    scale: float = 1.0

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "mean shift" if self.scale == 1 else f"mean shift x{self.scale:g}"

    def fit(self, z: Array, private: Array, classes: int) -> Statistics:
        """Return the mean latent of each private class, ``means`` of shape (classes, d)."""
        return {"means": means(z, private, classes)}

    def move(self, known: Statistics, z: Array, source: Array, target: Array, generator: Generator) -> Array:
        """Return the shifted latents. Nothing is random."""
        return z + self.scale * (known["means"][target] - known["means"][source])


@dataclass(frozen=True)
class Transport:
    """Transport the source class's mean *and covariance* to the target's.

    The optimal transport between the two Gaussians maps the kept part of the residual. Noise with the target's
    covariance replaces the rest. The moved latents therefore have the target's mean and covariance for any `kept`.

    Parameters
    ----------
    kept : float
        Share of the residual's deviation that is kept, 0 to 1.
    """

    kept: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.kept <= 1:
            raise ValueError(f"kept={self.kept}: give a share of the residual between 0 and 1")

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "transport" if self.kept == 1 else f"transport, {self.kept:g} kept"

    def fit(self, z: Array, private: Array, classes: int) -> Statistics:
        """Return ``means``, the maps between every two classes (``maps``), and roots of the covariances (``roots``)."""
        roots = np.stack([_root(_covariance(z[private == code])) for code in range(classes)])
        maps = np.stack([[_transport(a, b) for b in roots] for a in roots])
        return {"means": means(z, private, classes), "maps": maps, "roots": roots}

    def move(self, known: Statistics, z: Array, source: Array, target: Array, generator: Generator) -> Array:
        """Return the transported latents."""
        residual = _each_times(known["maps"][source, target], z - known["means"][source])
        moved = known["means"][target] + self.kept * residual
        if self.kept == 1:
            return moved
        noise = _each_times(known["roots"][target], generator.standard_normal(z.shape))
        return moved + np.sqrt(1 - self.kept**2) * noise


@dataclass(frozen=True)
class Donor:
    """Replace z by the training latent of a random window of the target class, which keeps only the activity."""

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return "donor"

    def fit(self, z: Array, private: Array, classes: int) -> Statistics:
        """Return the training latents sorted by class (``donors``), and the starts of the classes (``begins``)."""
        return Codebook(cells=1).fit(z, private, classes)

    def move(self, known: Statistics, z: Array, source: Array, target: Array, generator: Generator) -> Array:
        """Return random donors of the target class."""
        return Codebook(cells=1).move(known, z, source, target, generator)


@dataclass(frozen=True)
class Codebook:
    """Replace z by a random training latent of the same cell; the cell is one of a few.

    The cells divide the residuals, centred and whitened by class. A cell describes how a step is made more than who
    makes it. The published window depends on the raw one only through its inferred activity, its target class and its
    cell: log2(cells) bits besides the activity for any attacker. `Codebook.bound` computes their value to an attacker.

    Parameters
    ----------
    cells : int
        Cells per activity. 1 keeps only the activity.
    flip : float
        Probability that a uniformly drawn cell replaces the cell. This is randomized response, which is
        epsilon-differentially private for a window, with epsilon = ln(1 + cells (1 - flip) / flip).
    """

    cells: int = 8
    flip: float = 0.0

    def __post_init__(self) -> None:
        if self.cells < 1 or not 0 <= self.flip <= 1:
            raise ValueError(f"cells={self.cells}, flip={self.flip}: give at least one cell and a probability")

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return f"codebook {self.cells}" + (f", flip {self.flip:g}" if self.flip else "")

    def fit(self, z: Array, private: Array, classes: int) -> Statistics:
        """Return ``means``, ``whiten``, ``centres``, ``donors``, and where each class of a cell ``begins``."""
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

    def move(self, known: Statistics, z: Array, source: Array, target: Array, generator: Generator) -> Array:
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
        """Return the best accuracy of any attacker on one training window who sees only its cell.

        The best prediction is the most frequent private class of the cell. No processing of the published window can
        improve it (the data-processing inequality). The bound holds if the published class is drawn independently of
        the true one, and private classes are inferred correctly.
        """
        counts = np.diff(known["begins"]).reshape(-1, len(known["means"]))
        return float(counts.max(axis=1).sum() / counts.sum())


def means(z: Array, private: Array, classes: int) -> Array:
    """Return the mean latent m(y, p) of each private class, shape (classes, d)."""
    return np.stack([z[private == code].mean(axis=0) for code in range(classes)])


def _covariance(z: Array) -> Array:
    return np.atleast_2d(np.cov(z, rowvar=False)) + _RIDGE * np.eye(z.shape[1])


def _root(covariance: Array) -> Array:
    """Return the symmetric root of a covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def _transport(source: Array, target: Array) -> Array:
    """Return the optimal transport between two centred Gaussians, given the roots of their covariances."""
    inverse = np.linalg.inv(source)
    return inverse @ _root(source @ target @ target @ source) @ inverse


def _each_times(matrices: Array, rows: Array) -> Array:
    """Return each row multiplied by its own matrix."""
    return np.einsum("nij,nj->ni", matrices, rows)


def _nearest(rows: Array, centres: Array) -> Array:
    """Return the nearest centre of each row."""
    distances = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    return distances.argmin(axis=1)


TRANSFERS: dict[str, type] = {one.__name__: one for one in (MeanShift, Transport, Donor, Codebook)}
