"""Split the rows of a problem into training rows and held-out rows, at random or without leaks."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from sensorprivacy.data import Problem, draw_rows

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Row positions of a problem, in two or three parts.

    Parameters
    ----------
    train, test : numpy.ndarray of int
        Positions of the training rows, and of the rows for the reported results.
    validation : numpy.ndarray of int, optional
        Positions of the rows for choosing between strategies. Without them, strategies are chosen on `test`, as in the
        paper, and the reported results are optimistic.
    how : str
        How the parts were drawn, for reports.
    seed : int or None
        Seed of the draw.
    groups : numpy.ndarray of int, optional
        Group of every row of the problem, if no group is in two parts. Intervals and tests then count groups, not rows.
    people : numpy.ndarray, optional
        Person of every row, if the users are classes of people, such as genders. Intervals and tests then count people.

    Raises
    ------
    ValueError
        If a part is empty, two parts share a row, or two parts share a group.
    """

    train: np.ndarray
    test: np.ndarray
    validation: np.ndarray | None = None
    how: str = "given"
    seed: int | None = None
    groups: np.ndarray | None = None
    people: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name, rows in self._parts.items():
            rows = np.asarray(rows, dtype=np.int64)
            if rows.ndim != 1 or len(rows) == 0:
                raise ValueError(f"{name} must be a non-empty list of row positions, got shape {rows.shape}")
            object.__setattr__(self, name, rows)
        every = np.concatenate(list(self._parts.values()))
        if len(np.unique(every)) != len(every):
            raise ValueError("a row is in two parts of the split: give each part different rows")
        if self.groups is not None:
            named = np.concatenate([np.unique(self.groups[rows]) for rows in self._parts.values()])
            if len(np.unique(named)) != len(named):
                raise ValueError("a group is in two parts of the split: draw it with grouped_split")

    @property
    def _parts(self) -> dict[str, np.ndarray]:
        return {name: rows for name in PARTS if (rows := getattr(self, name)) is not None}

    @property
    def unit(self) -> str:
        """What intervals count: ``"people"``, ``"groups"`` or ``"rows"``."""
        return "people" if self.people is not None else "rows" if self.groups is None else "groups"

    def clusters(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the people or groups of some rows, whichever intervals count, or None if rows are the unit."""
        units = self.groups if self.people is None else self.people
        return None if units is None else units[rows]

    def part(self, name: str) -> np.ndarray:
        """Return the positions of ``"train"``, ``"validation"`` or ``"test"``.

        Parameters
        ----------
        name : str
            Name of the part.

        Returns
        -------
        numpy.ndarray of int
            Row positions.

        Raises
        ------
        ValueError
            If there is no such part, or this split has no validation rows.
        """
        if name not in PARTS:
            raise ValueError(f"{name!r} is not a part of a split: choose from {', '.join(PARTS)}")
        rows = getattr(self, name)
        if rows is None:
            raise ValueError("this split has no validation rows: draw it with validation=.15, or use 'test'")
        return rows

    def capped(self, train: int | None = None, held: int | None = None, *, seed: int | None = 42) -> "Split":
        """Return a split with fewer rows, drawn at random from each part, for a first look at a large data set.

        Parameters
        ----------
        train : int or None
            Largest number of training rows; None keeps all.
        held : int or None
            Largest number of rows in the test part, and in the validation part.
        seed : int or None, default 42
            Seed of the draw.

        Returns
        -------
        Split
            This split, if no part is larger.

        Raises
        ------
        ValueError
            If a number is below 1.
        """
        sizes = {"train": train, "validation": held, "test": held}
        parts = {name: _thin(rows, sizes[name], seed) for name, rows in self._parts.items()}
        if all(len(parts[name]) == len(rows) for name, rows in self._parts.items()):
            return self
        words = " / ".join(f"{len(rows):,}" for rows in parts.values())
        how = f"{self.how}, {words} rows drawn"
        return replace(self, train=parts["train"], test=parts["test"], validation=parts.get("validation"), how=how)

    def halved(self, *, seed: int | None = 42) -> "Split":
        """Return the split with its held-out rows divided in two: half for choosing, half for the reported results.

        Parameters
        ----------
        seed : int or None, default 42
            Seed of the draw.

        Returns
        -------
        Split
            The same training rows. No group is in both halves. This split, if it has validation rows.
        """
        if self.validation is not None:
            return self
        unit = "rows" if self.groups is None else "groups"
        how = f"{self.how}, half of the held-out {unit} to choose on"
        if self.groups is None:
            validation, test = train_test_split(self.test, test_size=0.5, random_state=seed)
        else:
            validation, test = _cut_groups(self.groups, None, seed)(self.test, 0.5)
        return replace(self, test=test, validation=validation, how=how)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the positions of each part: equal digests mean equal splits."""
        digest = hashlib.sha256()
        for name in PARTS:
            rows = getattr(self, name)
            digest.update(f"{name} {None if rows is None else len(rows)}\0".encode())
            if rows is not None:
                digest.update(rows.tobytes())
        return digest.hexdigest()


def random_split(n: int, *, test: float = 0.3, validation: float = 0.0, seed: int | None = 42) -> Split:
    """Draw rows at random, exactly as scikit-learn's ``train_test_split`` does for a table of `n` rows.

    Parameters
    ----------
    n : int
        Number of rows.
    test : float, default .3
        Fraction of all rows for the reported results.
    validation : float, default 0
        Fraction of all rows for choosing between strategies; 0 makes two parts. Three parts need two draws, as in the
        authors' code: first the training rows, then test and validation.
    seed : int, default 42
        Seed of the draw. The default is the authors' seed.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If the fractions are not between 0 and 1, or sum to 1 or more.
    """
    cut = partial(train_test_split, random_state=seed)
    return _draw(cut, n, test, validation, "random", seed)


def grouped_split(
    groups: Any, labels: Any = None, *, test: float = 0.3, validation: float = 0.0, seed: int | None = 42
) -> Split:
    """Draw whole groups, so that no capture, trial or recording is in two parts.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each row.
    labels : array-like of shape (n,), optional
        Labels that all parts should have in the same shares, as far as whole groups allow: pass the users. A user with
        several groups is then in training and in test.
    test, validation : float
        Fractions of the rows; see `random_split`. Whole groups fit them only roughly; `Split.how` has the numbers.
    seed : int, default 42
        Seed of the draw.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        If there are fewer groups than parts, or fractions are out of range.
    """
    codes, names = pd.factorize(pd.Series(groups).reset_index(drop=True))
    parts = 3 if validation else 2
    if len(names) < parts:
        raise ValueError(f"{len(names)} group(s) cannot fill {parts} parts: pass finer groups, or split at random")
    strata = np.zeros(len(codes), dtype=int) if labels is None else pd.factorize(np.asarray(labels))[0]
    drawn = _draw(_cut_groups(codes, strata, seed), len(codes), test, validation, "grouped", seed)
    sizes = {name: drawn.part(name) for name in PARTS if getattr(drawn, name) is not None}
    words = (f"{len(rows):,} rows of {len(np.unique(codes[rows]))} groups" for rows in sizes.values())
    return replace(drawn, how=f"grouped, {' / '.join(words)}", groups=codes)


def _thin(rows: np.ndarray, most: int | None, seed: int | None) -> np.ndarray:
    drawn = draw_rows(len(rows), most, seed)
    return rows if len(drawn) == len(rows) else np.sort(rows[drawn])


def _cut_groups(codes: np.ndarray, strata: np.ndarray | None, seed: int | None) -> Callable[..., Any]:
    """Return a function that cuts rows in two by whole groups, with a share of about `test_size` in the second part."""

    def cut(rows: np.ndarray, test_size: float) -> tuple[np.ndarray, np.ndarray]:
        labels = np.zeros(len(rows), dtype=int) if strata is None else strata[rows]
        n_groups, swapped = len(np.unique(codes[rows])), test_size > 0.5
        folds = min(n_groups, max(2, round(1 / (1 - test_size if swapped else test_size))))
        if folds < 2:
            raise ValueError(f"{n_groups} group(s) cannot fill two parts: pass finer groups, or split at random")
        with warnings.catch_warnings():  # a class with fewer rows than folds cannot be in every fold
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            cutter = StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
            kept, held = next(cutter.split(rows, labels, codes[rows]))
        return (rows[held], rows[kept]) if swapped else (rows[kept], rows[held])

    return cut


def _draw(cut: Callable[..., Any], n: int, test: float, validation: float, how: str, seed: int | None) -> Split:
    if not (0 < test < 1 and 0 <= validation < 1 and test + validation < 1):
        raise ValueError(f"test={test}, validation={validation}: give positive fractions with a sum below 1")
    # .15 + .15 is .3 and .15 / .3 is .5 only after rounding; the authors passed .3 and .5
    train, held = cut(np.arange(n), test_size=round(test + validation, 12))
    if not validation:
        return Split(train, held, how=f"{how} {1 - test:.3g}/{test:.3g}", seed=seed)
    validation_rows, test_rows = cut(held, test_size=round(test / (test + validation), 12))
    sizes = f"{1 - test - validation:.3g}/{validation:.3g}/{test:.3g}"
    return Split(train, test_rows, validation=validation_rows, how=f"{how} {sizes}", seed=seed)


PAPER_SPLITS: dict[str, dict[str, float]] = {
    "iot-23": {"test": 0.15, "validation": 0.15},
    "iot-sentinel": {"test": 0.9},
    "cic-ids-2017": {"test": 0.3},
    "opportunity": {"test": 0.99},
    "amir-netml": {"test": 0.2},
    "amir-nprint": {"test": 0.2},
    "service-recognition": {"test": 0.2},
}
"""Fractions of the rows that the paper's authors held out, by data set. Where they set a seed, it is 42."""

_LEAST_KNOWN = 0.5  # share of held-out rows whose users have training rows


def default_split(problem: Problem, *, test: float = 0.3, validation: float = 0.0, seed: int | None = 42) -> Split:
    """Return the split that judges a problem without leaks: by whole groups if it has groups, else by rows.

    Parameters
    ----------
    problem : Problem
        The table.
    test, validation, seed
        As for `grouped_split` and `random_split`.
    """
    if problem.groups is None:
        return random_split(problem.n_records, test=test, validation=validation, seed=seed)
    return grouped_split(problem.groups, problem.users, test=test, validation=validation, seed=seed)


def leak_free(
    problem: Problem, split: Split, *, seed: int = 42, train_rows: int | None = None, held_rows: int | None = None
) -> Split:
    """Return the default split of a problem with groups, with limited rows; the given split if that is impossible.

    Parameters
    ----------
    problem : Problem
        The table.
    split : Split
        A random split.
    seed, train_rows, held_rows
        Seed of the draw, by default the authors' 42; limits of the rows, see `Split.capped`.

    Returns
    -------
    Split
        The given split if there are no groups, or if each user has about one group. In the second case, whole groups
        would leave most held-out rows with users whom nobody can know; `how` then says so.
    """
    if problem.groups is None:
        return split
    whole = default_split(problem, seed=seed)
    known = problem.users.iloc[whole.test].isin(problem.users.iloc[whole.train])
    if known.mean() < _LEAST_KNOWN:
        return replace(split, how=f"{split.how}; groups are torn apart, as most users have one group only")
    return whole.capped(train_rows, held_rows, seed=seed)


def paper_split(
    name: str, n: int, *, seed: int = 42, train_rows: int | None = None, held_rows: int | None = None
) -> Split:
    """Return the split that the paper's authors drew, with limited rows; it ignores groups.

    Parameters
    ----------
    name : str
        Name of the data set. A set that is not in the paper is split at random, 70/30.
    n : int
        Number of rows.
    seed, train_rows, held_rows
        Seed of the draw, by default the authors' 42; limits of the rows, see `Split.capped`.
    """
    split = random_split(n, seed=seed, **PAPER_SPLITS.get(name, {}))
    return split.capped(train_rows, held_rows, seed=seed)
