"""Move latent representations from one private class to another: the paper's mean shift, and our transfers.

A transfer learns plain arrays from the training latents of one public class, and uses them to move latents. The paper's
transfer keeps the residual z - m(y, p), which differs between classes and between people. Ours keep less of it.
"""

import itertools
import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from sklearn.cluster import KMeans

Array = np.ndarray
Statistics = dict[str, Array]
_RIDGE = 1e-6  # keeps covariances invertible even if a latent is constant
_REDRAWS = 20  # of a donor that belongs to the publishing person
_BORROWED = 10  # latents of the whole class that count in the covariance of a cell


@dataclass(frozen=True, eq=False)
class Moving:
    """Latents that a transfer moves from one private class to another.

    Attributes
    ----------
    z : numpy.ndarray, shape (n, d)
        The latents.
    source, target : numpy.ndarray of int, shape (n,)
        Private class of each latent, before and after.
    people : numpy.ndarray of shape (n,), optional
        Person that each latent belongs to.
    """

    z: Array
    source: Array
    target: Array
    people: Array | None = None


class Transfer(Protocol):
    """A method that moves latents from one private class to another."""

    @property
    def name(self) -> str:
        """Short name, for tables."""

    def fit(self, z: Array, private: Array, classes: int, owners: Array | None = None) -> Statistics:
        """Learn arrays from a public class's training latents, n x d, their private classes, and their people."""

    def move(self, known: Statistics, moving: Moving, generator: Generator) -> Array:
        """Return the moved latents, n x d."""


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

    def fit(self, z: Array, private: Array, classes: int, owners: Array | None = None) -> Statistics:
        """Return the mean latent of each private class, ``means`` of shape (classes, d)."""
        return {"means": means(z, private, classes)}

    def move(self, known: Statistics, moving: Moving, generator: Generator) -> Array:
        """Return the shifted latents. Nothing is random."""
        return moving.z + self.scale * (known["means"][moving.target] - known["means"][moving.source])


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

    def fit(self, z: Array, private: Array, classes: int, owners: Array | None = None) -> Statistics:
        """Return ``means``, the maps between every two classes (``maps``), and roots of the covariances (``roots``)."""
        roots = np.stack([_root(_covariance(z[private == code])) for code in range(classes)])
        maps = np.stack([[_transport(a, b) for b in roots] for a in roots])
        return {"means": means(z, private, classes), "maps": maps, "roots": roots}

    def move(self, known: Statistics, moving: Moving, generator: Generator) -> Array:
        """Return the transported latents."""
        z, source, target = moving.z, moving.source, moving.target
        residual = _each_times(known["maps"][source, target], z - known["means"][source])
        moved = known["means"][target] + self.kept * residual
        if self.kept == 1:
            return moved
        noise = _each_times(known["roots"][target], generator.standard_normal(z.shape))
        return moved + np.sqrt(1 - self.kept**2) * noise


@dataclass(frozen=True)
class Codebook:
    """Replace z by a random latent of the same cell; the cell is one of a few.

    The cells divide the residuals, centred and whitened by class. A cell describes how a step is made more than who
    makes it. The published window depends on the raw one only through its inferred activity, its target class and its
    cell: log2(cells) bits besides the activity for one window. An attacker who pools many windows learns how often a
    person's windows are in each cell, so this is no bound for a recording.

    Cells in which a private class has no training window are merged into the nearest others, with a warning.

    Parameters
    ----------
    cells : int
        Cells per activity. 1 keeps only the activity.
    synthetic : bool
        Whether latents are drawn from a Gaussian per cell and class, fitted to training latents, instead of being the
        training latents themselves. A published window then shows no single training window.
    own : bool
        Whether a training latent of the same person may be published. Without it (the default), the missing donor
        identifies the person to an attacker who recognizes all donors; synthetic latents have neither problem.
    """

    cells: int = 8
    synthetic: bool = False
    own: bool = False

    def __post_init__(self) -> None:
        if self.cells < 1:
            raise ValueError(f"cells={self.cells}: give at least one cell")

    @property
    def name(self) -> str:
        """Short name, for tables."""
        words = [f"codebook {self.cells}" if self.cells > 1 else "donor"]
        return ", ".join(words + ["synthetic"] * self.synthetic)

    def fit(self, z: Array, private: Array, classes: int, owners: Array | None = None) -> Statistics:
        """Return the cells' arrays: ``means``, ``whiten``, ``centres``, ``donors``, their ``owners``, and ``begins``.

        Donors are sorted by cell, then by class; each class of a cell ``begins`` at a position. Synthetic
        donors have no owners.
        """
        average = means(z, private, classes)
        whiten = np.stack([np.linalg.inv(_root(_covariance(z[private == code]))) for code in range(classes)])
        residual = _each_times(whiten[private], z - average[private])
        centres, cell, counts = _cells(residual, private, classes, self.cells)
        order = np.lexsort((private, cell))
        begins = np.concatenate([[0], np.cumsum(counts.ravel())])
        known = {"means": average, "whiten": whiten, "centres": centres, "donors": z[order], "begins": begins}
        if self.synthetic:
            return known | {"donors": _gaussians(known["donors"], begins, z, private)}
        return known | ({"owners": owners[order]} if owners is not None else {})

    def cell(self, known: Statistics, z: Array, source: Array) -> Array:
        """Return the cell of each latent, given its private class."""
        return nearest(_each_times(known["whiten"][source], z - known["means"][source]), known["centres"])

    def move(self, known: Statistics, moving: Moving, generator: Generator) -> Array:
        """Return a random donor of each window's cell and target class."""
        return known["donors"][self.choose(known, moving, generator)]

    def choose(self, known: Statistics, moving: Moving, generator: Generator) -> Array:
        """Return the position of each window's donor among the ``donors``."""
        cell, people = self.cell(known, moving.z, moving.source), moving.people
        place = cell * len(known["means"]) + moving.target
        first, after = known["begins"][place], known["begins"][place + 1]
        chosen = generator.integers(first, after)
        if self.own or people is None or "owners" not in known:
            return chosen
        for _ in range(_REDRAWS):
            own = np.flatnonzero(known["owners"][chosen] == people)
            if not len(own):
                break
            chosen[own] = generator.integers(first[own], after[own])
        return _without_own(known, chosen, people, generator)


@dataclass(frozen=True)
class Donor(Codebook):
    """Replace z by a random latent of the target class, which keeps only the activity: a codebook of one cell."""

    cells: int = 1


def means(z: Array, private: Array, classes: int) -> Array:
    """Return the mean latent m(y, p) of each private class, shape (classes, d)."""
    return np.stack([z[private == code].mean(axis=0) for code in range(classes)])


def _cells(residual: Array, private: Array, classes: int, cells: int) -> tuple[Array, Array, Array]:
    """Return centres, cell of each row, and counts of each class in each cell, all above 0."""
    many = min(cells, len(np.unique(residual, axis=0)))
    centres = KMeans(many, n_init=1, random_state=0).fit(residual).cluster_centers_
    while True:
        cell = nearest(residual, centres)
        counts = np.zeros((len(centres), classes), dtype=np.int64)
        np.add.at(counts, (cell, private), 1)
        empty = (counts == 0).any(axis=1)
        if not empty.any() or len(centres) == 1:
            break
        # the smallest of these cells joins its neighbours, which may fill others
        smallest = np.where(empty, counts.sum(axis=1), len(residual) + 1).argmin()
        centres = np.delete(centres, smallest, axis=0)
    if len(centres) < cells:
        lacking = "because some had no training window of a private class"
        warnings.warn(f"{cells} cells were merged to {len(centres)}, {lacking}", stacklevel=3)
    return centres, cell, counts


def _gaussians(donors: Array, begins: Array, z: Array, private: Array) -> Array:
    """Return as many draws of a Gaussian per cell and class as it has donors."""
    generator, classes = np.random.default_rng(0), int(private.max()) + 1
    spread = [_covariance(z[private == code]) for code in range(classes)]
    drawn = np.empty_like(donors, dtype=float)
    for place, (first, after) in enumerate(itertools.pairwise(begins)):
        some, whole = donors[first:after], spread[place % classes]
        own = _covariance(some) if len(some) > 1 else whole
        share = len(some) / (len(some) + _BORROWED)
        noise = generator.standard_normal(some.shape) @ _root(share * own + (1 - share) * whole)
        drawn[first:after] = some.mean(axis=0) + noise
    return drawn


def _without_own(known: Statistics, chosen: Array, people: Array, generator: Generator) -> Array:
    """Replace donors that still belong to the publishing person by others of the class, or else by any others."""
    owners, classes = known["owners"], len(known["means"])
    of = (np.searchsorted(known["begins"], np.arange(len(owners)), side="right") - 1) % classes
    for row in np.flatnonzero(owners[chosen] == people):
        others = owners != people[row]
        allowed = np.flatnonzero(others & (of == of[chosen[row]]))
        allowed = allowed if len(allowed) else np.flatnonzero(others)
        if len(allowed):
            chosen[row] = generator.choice(allowed)
    return chosen


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


def move(transfer: Transfer, known: Statistics, moving: Moving, generator: Generator) -> tuple[Array, Array | int]:
    """Return moved latents, and the person whose training latent each one is; -1 if it is nobody's."""
    if not isinstance(transfer, Codebook):
        return transfer.move(known, moving, generator), -1
    chosen = transfer.choose(known, moving, generator)
    return known["donors"][chosen], known["owners"][chosen] if "owners" in known else -1


def nearest(rows: Array, centres: Array) -> Array:
    """Return the nearest centre of each row."""
    distances = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    return distances.argmin(axis=1)


TRANSFERS: dict[str, type] = {one.__name__: one for one in (MeanShift, Transport, Donor, Codebook)}


def rewrite(
    anonymizer: Any, posterior: np.ndarray, codes: np.ndarray, generator: Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sample, move and decode latents with a fitted `LatentAnonymizer`.

    Parameters
    ----------
    anonymizer : LatentAnonymizer
        Its transfer moves the latents, its autoencoders decode them.
    posterior : numpy.ndarray of shape (2, n, d)
        Mean and log variance of q(z|x).
    codes : numpy.ndarray of int64, shape (4, n)
        Public, private and target class, and the publishing person.
    generator : numpy.random.Generator
        Draws the samples and donors.

    Returns
    -------
    numpy.ndarray of float32, shape (n, channels, length)
        Scaled windows.
    numpy.ndarray of int64, shape (n,)
        Person of each donor, -1 if there is none.
    """
    public, private, target, people = codes
    transfer, donor = anonymizer.transfer or MeanShift(), np.full(len(public), -1)
    published = np.empty((len(public), *anonymizer.models_.shape), dtype=np.float32)
    for code in np.unique(public):
        rows = np.flatnonzero(public == code)
        z, log_variance = posterior[:, rows]
        if anonymizer.sampled:
            z = z + generator.standard_normal(z.shape) * np.exp(0.5 * log_variance)
        moving = Moving(z.astype(np.float64), private[rows], target[rows], people[rows])
        moved, donor[rows] = move(transfer, anonymizer.statistics_[code], moving, generator)
        published[rows] = anonymizer.decoded_with_noise(code, moved, target[rows], generator)
    return published, donor
