"""How useful a division is: utility, stability, and suitability, which weighs the two."""

import copy
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.threeway.division import (
    Division,
    check_frame,
    check_thresholds,
    code_entropy,
    encode,
    entropy_of_counts,
    evaluate,
    trisect,
)

Utility = Literal["as_printed", "as_stated"]


def utility_as_printed(entropies: pd.Series, division: Division) -> float:
    """Return the utility that the paper's tables print.

    Parameters
    ----------
    entropies : pandas.Series
        Entropy of every attribute, not normalized.
    division : Division
        Which attributes are kept.

    Returns
    -------
    float
        Mean entropy of the kept attributes over the mean entropy of all; 0 where none is kept.

    References
    ----------
    Ali et al. (2022), Tables 9-13 and 15. This is not their Eq. (10), for which see :func:`utility_as_stated`.
    """
    kept = entropies[entropies.index.isin(division.kept)]
    return float(kept.mean() / entropies.mean()) if len(kept) else 0.0


def utility_as_stated(frame: pd.DataFrame, division: Division) -> float:
    """Return the utility that the paper defines: the share of the table's joint entropy that is kept.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original table.
    division : Division
        Which attributes are kept.

    Returns
    -------
    float
        Joint entropy of the kept attributes over the joint entropy of all, 0 to 1. It nears 1 as soon as the kept
        attributes tell most rows apart.

    References
    ----------
    Ali et al. (2022), Eq. (10), divided by its value for all attributes.
    """
    return joint_entropy(frame, division.kept) / joint_entropy(frame)


def joint_entropy(frame: pd.DataFrame, columns: Sequence[Hashable] | None = None) -> float:
    """Return the joint entropy of some columns.

    Parameters
    ----------
    frame : pandas.DataFrame
        n rows by d columns.
    columns : sequence, optional
        Names of the columns; all of them if not given. No columns have entropy 0.

    Returns
    -------
    float
        Entropy in nats of the rows' combinations of values, 0 to ln n.

    References
    ----------
    Ali et al. (2022), Eq. (10).
    """
    check_frame(frame)
    chosen = frame if columns is None else frame[list(columns)]
    return prefix_joint_entropies([codes for _, codes in encode(chosen)])[-1]


def prefix_joint_entropies(columns: Sequence[np.ndarray]) -> list[float]:
    """Return the joint entropies of the first 0, 1, ..., d columns, in one pass.

    A row that its first columns already tell from every other row stays alone whatever joins, so it is counted and
    left out of the rest of the pass; as more columns join, ever fewer rows are left to look at.

    Parameters
    ----------
    columns : sequence of numpy.ndarray
        Codes 0, 1, ... of each column, all of length n.

    Returns
    -------
    list of float
        d + 1 entropies in nats, the first 0.
    """
    values = [0.0]
    if not columns:
        return values
    n = len(columns[0])
    rows: np.ndarray | None = None  # places of the rows that still share a class; None stands for all
    joint = np.zeros(n, dtype=np.int64)
    alone = 0
    for codes in columns:
        here = codes if rows is None else codes[rows]
        if len(here):
            joint = joint * (int(here.max()) + 1)
            joint += here
            if int(joint.max()) >= 4 * len(joint):  # a table of all the classes would not fit: hash them
                joint = pd.factorize(joint)[0]
        counts = np.bincount(joint)
        common = counts > 1
        shared = common[joint]
        if not shared.all():
            alone += len(joint) - int(np.count_nonzero(shared))
            rows = np.flatnonzero(shared) if rows is None else rows[shared]
            joint = joint[shared]
        # number the classes left 0, 1, ... without gaps, so that products of codes fit 64 bits
        joint = (np.cumsum(common, dtype=np.int32 if n < 2**29 else np.int64) - 1)[joint].astype(np.int64)
        values.append(entropy_of_counts(counts[common], n) + alone / n * np.log(n))
    return values


def stability(division: Division) -> float:
    """Return how evenly the kept attributes are split between the non-sensitive and the ambiguous group.

    Parameters
    ----------
    division : Division
        The division.

    Returns
    -------
    float
        |N| |A| / (|At| (|N| + |A|)), 0 to .25; 0 where either group is empty.

    References
    ----------
    Ali et al. (2022), Eq. (11).
    """
    sensitive, quiet, between = division.sizes
    kept = quiet + between
    return quiet * between / ((sensitive + kept) * kept) if kept else 0.0


def suitability(utility: float, stability: float, decimals: int | None = 2) -> float:
    """Return the harmonic mean of utility and stability.

    Parameters
    ----------
    utility, stability : float
        The two measures, not negative.
    decimals : int or None, default 2
        Round both to so many decimals first, as the printed values do; None takes them as they are. A tie as it is
        written in decimals, such as the stability 21/120 = .175, goes to the even digit, .18, though the nearest binary
        number lies a trace below it.

    Returns
    -------
    float
        2 / (1/utility + 1/stability), 0 where either is 0; itself not rounded.

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
    """Measures divisions of one table, after looking at its rows only once.

    Sorted by evaluation, whatever thresholds keep is a run of attributes from the lowest up. So the d + 1 utilities
    that any thresholds can give are worked out beforehand, and appraising a pair of thresholds costs no pass over
    the rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original table, n rows by d >= 2 attributes.
    utility : {"as_printed", "as_stated"}, default "as_printed"
        The measure of utility: the mean-entropy ratio of the paper's tables, or its Eq. (10), see
        :func:`utility_as_printed` and :func:`utility_as_stated`.
    decimals : int or None, default 2
        Decimals that utility and stability are rounded to before suitability is formed.

    Attributes
    ----------
    entropies : pandas.Series
        Entropy of each attribute, nats.
    evaluation : pandas.Series
        The same on a scale from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If the frame is not a table that can be divided, see :func:`~sensorprivacy.threeway.division.entropies` and
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
        codes = list(encode(frame))
        self.entropies = pd.Series([code_entropy(column) for _, column in codes], frame.columns, name="entropy")
        self.evaluation = evaluate(self.entropies)
        rising = np.argsort(self.evaluation.to_numpy(), kind="stable")
        self._levels = self.evaluation.to_numpy()[rising]
        means = self.entropies.to_numpy()[rising].cumsum() / np.arange(1, len(rising) + 1)
        joints = np.array(prefix_joint_entropies([codes[place][1] for place in rising]))
        self._utilities = {"as_printed": np.concatenate([[0.0], means / means[-1]]), "as_stated": joints / joints[-1]}

    def _set(self, utility: Utility, decimals: int | None) -> None:
        if utility not in get_args(Utility):
            raise ValueError(f"utility={utility!r}: choose one of {', '.join(get_args(Utility))}")
        if decimals is not None and (decimals != int(decimals) or decimals < 0):
            raise ValueError(f"decimals={decimals}: give a whole number from 0, or None for no rounding")
        self.utility: Utility = utility
        self.decimals = decimals

    def restated(self, utility: Utility, decimals: int | None = 2) -> "Appraiser":
        """Return an appraiser of the same table by another measure, without a new pass over the rows."""
        twin = copy.copy(self)
        twin._set(utility, decimals)
        return twin

    def measures(self, alpha: float, beta: float) -> tuple[int, int, int, float, float, float]:
        """Return sizes of the three groups, utility, stability and suitability, without naming the groups."""
        kept = int(np.searchsorted(self._levels, alpha, side="left"))
        quiet = min(kept, int(np.searchsorted(self._levels, beta, side="right")))
        d, between = len(self._levels), kept - quiet
        useful = float(self._utilities[self.utility][kept])
        stable = quiet * between / (d * kept) if kept else 0.0
        return d - kept, quiet, between, useful, stable, suitability(useful, stable, self.decimals)

    def at(self, alpha: float, beta: float) -> Appraisal:
        """Return the division at a pair of thresholds with its measures.

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
        """Return the measures at several pairs of thresholds, one row a pair.

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


MEASURES = ("sensitive", "non_sensitive", "ambiguous", "utility", "stability", "suitability")
