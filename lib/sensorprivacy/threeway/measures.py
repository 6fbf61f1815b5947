"""Measure how useful a division is: utility, stability, and suitability, which combines the two."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.data import check_frame
from sensorprivacy.threeway import division as coded
from sensorprivacy.threeway.division import Division, Sizes, check_thresholds, evaluate, trisect

Utility = Literal["as_printed", "as_stated"]

MEASURES = ("sensitive", "non_sensitive", "ambiguous", "utility", "stability", "suitability")


def joint_entropies(columns: Sequence[np.ndarray]) -> list[float]:
    """Return the joint entropies of the first 0, 1, ..., d columns, in one pass.

    A row that is unique in the first columns stays unique when columns are added. Such a row is counted and left out of
    the rest of the pass, so later columns need to look at fewer rows.

    Parameters
    ----------
    columns : sequence of numpy.ndarray
        Codes 0, 1, ... of each column, all of length n.

    Returns
    -------
    list of float
        d + 1 entropies in nats, the first 0.

    References
    ----------
    Ali et al. (2022), Eq. (10).
    """
    values = [0.0]
    n = len(columns[0])
    rows: np.ndarray | None = None  # places of the rows that still share a class; None means all rows
    joint = np.zeros(n, dtype=np.int64)
    unique = 0
    for codes in columns:
        here = codes if rows is None else codes[rows]
        if len(here):
            joint = joint * (int(here.max()) + 1)
            joint += here
            if int(joint.max()) >= 4 * len(joint):  # too many classes to count in an array: hash them
                joint = pd.factorize(joint)[0]
        counts = np.bincount(joint)
        common = counts > 1
        shared = common[joint]
        if not shared.all():
            unique += len(joint) - int(np.count_nonzero(shared))
            rows = np.flatnonzero(shared) if rows is None else rows[shared]
            joint = joint[shared]
        # number the remaining classes 0, 1, ... without gaps, so that products of codes fit 64 bits
        joint = (np.cumsum(common, dtype=np.int32 if n < 2**29 else np.int64) - 1)[joint].astype(np.int64)
        values.append(coded.entropy_of_counts(counts[common], n) + unique / n * np.log(n))
    return values


def stability(sizes: Sizes) -> float:
    """Return how evenly the published attributes are split between the non-sensitive and the ambiguous group.

    Parameters
    ----------
    sizes : Sizes
        Number of attributes in each group.

    Returns
    -------
    float
        |N| |A| / (|At| (|N| + |A|)), 0 to .25; 0 if either group is empty.

    References
    ----------
    Ali et al. (2022), Eq. (11).
    """
    kept = sizes.non_sensitive + sizes.ambiguous
    return sizes.non_sensitive * sizes.ambiguous / (sum(sizes) * kept) if kept else 0.0


def suitability(utility: float, stability: float, decimals: int | None = 2) -> float:
    """Return the harmonic mean of utility and stability.

    Parameters
    ----------
    utility, stability : float
        The two measures, not negative.
    decimals : int or None, default 2
        Decimals to which both are rounded first, as in the printed values; None does not round. A decimal tie, such as
        the stability 21/120 = .175, goes to the even digit, .18, although the nearest binary number is slightly
        below it.

    Returns
    -------
    float
        2 / (1/utility + 1/stability), not rounded; 0 if either is 0.

    References
    ----------
    Ali et al. (2022), Eq. (12).

    Examples
    --------
    >>> round(suitability(.9, .08), 2)
    0.15
    """
    if decimals is not None:
        utility, stability = float(np.round(utility, decimals)), float(np.round(stability, decimals))
    if utility < 0 or stability < 0:
        raise ValueError(f"utility={utility}, stability={stability}: neither can be negative")
    return 2 * utility * stability / (utility + stability) if utility and stability else 0.0


@dataclass(frozen=True)
class Appraisal:
    """A division with its three measures: utility, stability and suitability."""

    division: Division
    utility: float
    stability: float
    suitability: float


class Appraiser:
    """Measure many divisions of one table, reading its rows only once.

    Any thresholds keep the attributes with the lowest evaluations. So only d + 1 utilities are possible. They are
    computed in advance, and measuring a pair of thresholds then does not read the rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original table, n rows by d >= 2 attributes.
    utility : {"as_printed", "as_stated"}, default "as_printed"
        How utility is measured. "as_printed": mean entropy of the published attributes over the mean entropy of all,
        as in the paper's Tables 9-13 and 15. "as_stated": joint entropy of the published attributes over the joint
        entropy of all, the paper's Eq. (10). It nears 1 as soon as the published attributes make most rows unique.
        Either is 0 if no attribute is published.
    decimals : int or None, default 2
        Decimals to which utility and stability are rounded before they are combined.

    Attributes
    ----------
    entropies : pandas.Series
        Entropy of each attribute in nats.
    evaluation : pandas.Series
        Entropy of each attribute, rescaled to [0, 1].

    Raises
    ------
    TypeError, ValueError
        If the frame cannot be divided, see :func:`~sensorprivacy.threeway.division.entropies` and
        :func:`~sensorprivacy.threeway.division.evaluate`.

    Examples
    --------
    >>> table = pd.DataFrame({"id": [1, 2, 3, 4], "sex": list("mfmf"), "loss": [0, 0, 0, 0]})
    >>> Appraiser(table).at(.9, .1).division.ambiguous
    ('sex',)
    """

    def __init__(self, frame: pd.DataFrame, utility: Utility = "as_printed", decimals: int | None = 2) -> None:
        self._set(utility, decimals)
        check_frame(frame)
        codes = list(coded.encode(frame))
        self.entropies = coded.entropies_of_codes(frame, codes)
        self.evaluation = evaluate(self.entropies)
        rising = np.argsort(self.evaluation.to_numpy(), kind="stable")
        self._levels = self.evaluation.to_numpy()[rising]
        means = self.entropies.to_numpy()[rising].cumsum() / np.arange(1, len(rising) + 1)
        joints = np.array(joint_entropies([codes[place] for place in rising]))
        self._utilities = {"as_printed": np.concatenate([[0.0], means / means[-1]]), "as_stated": joints / joints[-1]}

    def _set(self, utility: Utility, decimals: int | None) -> None:
        if utility not in get_args(Utility):
            raise ValueError(f"utility={utility!r}: choose one of {', '.join(get_args(Utility))}")
        if decimals is not None and (decimals != int(decimals) or decimals < 0):
            raise ValueError(f"decimals={decimals}: give a whole number from 0, or None for no rounding")
        self.utility: Utility = utility
        self.decimals = decimals

    def restated(self, utility: Utility, decimals: int | None = 2) -> "Appraiser":
        """Return an appraiser of the same table with another measure of utility, without reading the rows again."""
        twin = copy.copy(self)
        twin._set(utility, decimals)
        return twin

    def measures(self, alpha: float, beta: float) -> tuple[int, int, int, float, float, float]:
        """Return the values of `MEASURES` at a pair of thresholds: three group sizes and three measures."""
        kept = int(np.searchsorted(self._levels, alpha, side="left"))
        non_sensitive = min(kept, int(np.searchsorted(self._levels, beta, side="right")))
        sizes = Sizes(len(self._levels) - kept, non_sensitive, kept - non_sensitive)
        useful, stable = float(self._utilities[self.utility][kept]), stability(sizes)
        return *sizes, useful, stable, suitability(useful, stable, self.decimals)

    def at(self, alpha: float, beta: float) -> Appraisal:
        """Return the division at a pair of thresholds, with its measures.

        Parameters
        ----------
        alpha, beta : float
            Thresholds, 0 <= beta <= alpha <= 1.

        Returns
        -------
        Appraisal
            Division, utility, stability, suitability.

        Raises
        ------
        ValueError
            If a threshold is not in [0, 1] or alpha < beta.
        """
        division = trisect(self.evaluation, alpha, beta)
        return Appraisal(division, *self.measures(alpha, beta)[3:])

    def table(self, thresholds: Iterable[tuple[float, float]]) -> pd.DataFrame:
        """Return the measures at several pairs of thresholds, one row per pair.

        Parameters
        ----------
        thresholds : iterable of (alpha, beta)
            The pairs.

        Returns
        -------
        pandas.DataFrame
            Columns alpha, beta, sensitive, non_sensitive, ambiguous (numbers of attributes), utility, stability,
            suitability: the paper's Tables 3 and 9-13.
        """
        rows = []
        for alpha, beta in thresholds:
            check_thresholds(alpha, beta)
            rows.append((float(alpha), float(beta), *self.measures(alpha, beta)))
        return pd.DataFrame(rows, columns=["alpha", "beta", *MEASURES])
