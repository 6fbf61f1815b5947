"""What paper 3's networks need of windows: labels as codes, scales learnt on training windows only, honest splits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.datasets.types import Windows
from sensorprivacy.game.splits import Split

PAPER_TEST_TRIALS = tuple(range(11, 17))  # MotionSense's short trials, paper 3 section 5.1.1
Scheme = Literal["paper", "tail", "random", "subjects"]


@dataclass(frozen=True)
class Scaler:
    """Mean and deviation of each channel, learnt once and applied to every window.

    Parameters
    ----------
    mean, deviation : tuple of float
        One value a channel, in the channel's unit.
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def fit(cls, values: np.ndarray) -> "Scaler":
        """Return the scaler of some windows, n x channels x length.

        Raises
        ------
        ValueError
            If a channel is constant: it tells nothing and cannot be scaled.
        """
        mean = values.mean(axis=(0, 2), dtype=np.float64)
        deviation = values.std(axis=(0, 2), dtype=np.float64)
        if flat := np.flatnonzero(deviation < 1e-12).tolist():
            raise ValueError(f"channel {flat[0]} is constant ({mean[flat[0]]:g}) in all windows: leave it out")
        return cls(tuple(mean.tolist()), tuple(deviation.tolist()))

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return windows in units of their channel's deviation, about zero; float32."""
        mean, deviation = self._columns(values)
        return ((values - mean) / deviation).astype(np.float32)

    def undo(self, values: np.ndarray) -> np.ndarray:
        """Return scaled windows in their channels' own units; float32."""
        mean, deviation = self._columns(values)
        return (values * deviation + mean).astype(np.float32)

    def _columns(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if values.ndim != 3 or values.shape[1] != len(self.mean):
            raise ValueError(f"windows must be n x {len(self.mean)} channels x length, got shape {values.shape}")
        mean, deviation = np.asarray(self.mean, dtype=np.float32), np.asarray(self.deviation, dtype=np.float32)
        return mean[None, :, None], deviation[None, :, None]


@dataclass(frozen=True)
class Coding:
    """Classes in a fixed order, and their codes 0, 1, ...

    Parameters
    ----------
    name : str
        What is classed, for messages.
    classes : tuple of str
        Sorted names.
    """

    name: str
    classes: tuple[str, ...]

    @classmethod
    def fit(cls, labels: pd.Series, name: str) -> "Coding":
        """Return the coding of the classes that occur.

        Raises
        ------
        ValueError
            If there is a single class: nothing can be told apart, or hidden.
        """
        classes = tuple(sorted(map(str, labels.unique())))
        if len(classes) < 2:
            raise ValueError(f"{name} has the single class {classes[0]!r}: at least two are needed")
        return cls(name, classes)

    def codes(self, labels: pd.Series) -> np.ndarray:
        """Return the code of each label, int64.

        Raises
        ------
        ValueError
            If a label is not among the classes.
        """
        found = pd.Index(self.classes).get_indexer(pd.Index(labels.astype(str)))
        if (found < 0).any():
            unknown = sorted(set(labels.astype(str).to_numpy()[found < 0]))
            raise ValueError(
                f"{self.name} {unknown[0]!r} was not seen in training: known are {', '.join(self.classes)}"
            )
        return found.astype(np.int64)

    def names(self, codes: np.ndarray) -> np.ndarray:
        """Return the names of codes."""
        return np.asarray(self.classes, dtype=object)[codes]


def private_labels(windows: Windows, attribute: str) -> pd.Series:
    """Return a private attribute of each window; ``subject`` is the identity itself.

    Raises
    ------
    ValueError
        If the windows have no such attribute.
    """
    if attribute == "subject":
        return windows.subject
    if attribute not in windows.private:
        known = ", ".join([*windows.private.columns, "subject"])
        raise ValueError(f"{windows.name} has no private attribute {attribute!r}: choose from {known}")
    return windows.private[attribute]


def flatten(values: np.ndarray) -> np.ndarray:
    """Return each window as one row, channel after channel: n x 2 x 128 becomes n x 256, n x 6 x 128 n x 768."""
    return values.reshape(len(values), -1)


def recording_of(windows: Windows) -> np.ndarray:
    """Return a number for the recording of each window: one subject's one trial of one activity, int64."""
    keys = pd.DataFrame({"subject": windows.subject, "trial": windows.trial, "public": windows.public})
    return keys.groupby(list(keys), sort=False).ngroup().to_numpy()


def split(
    windows: Windows, scheme: Scheme = "paper", *, validation: float = 0.25, test: float = 0.2, seed: int = 0
) -> Split:
    """Split windows into training, validation and test windows.

    Parameters
    ----------
    windows : Windows
        In the order in which they were cut, so that a recording's windows stand in the order of time.
    scheme : {"paper", "tail", "random", "subjects"}
        Which windows are tested on. ``paper``: what paper 3 does: MotionSense's trials 11 to 16; for other sets 20 % of
        each subject's windows at random, which overlap training windows (a leak). ``tail``: the end of each recording,
        with a gap so that no sample is on both sides. ``random``: the leaking draw for any set. ``subjects``: people
        never seen.
    validation : float
        Share of each training recording, its end, that is held back to choose on, with a gap before it. 0: none.
    test : float
        Share of windows (``tail``, ``random``) or of subjects (``subjects``) tested on.
    seed : int
        For the two schemes that draw.

    Returns
    -------
    Split
        Positions of the windows.

    Raises
    ------
    ValueError
        If the scheme is unknown or a share is out of range, or leaves a part empty.
    """
    if scheme not in get_args(Scheme):
        raise ValueError(f"scheme {scheme!r} is unknown: choose from {', '.join(get_args(Scheme))}")
    if not 0 <= validation < 1 or not 0 < test < 1:
        raise ValueError(f"validation={validation}, test={test}: shares must lie in [0, 1) and (0, 1)")
    dropped = np.zeros(windows.n_windows, dtype=bool)  # neither tested nor trained on
    if scheme == "paper" and windows.name == "motionsense":
        held = windows.trial.isin(PAPER_TEST_TRIALS).to_numpy()
    elif scheme == "tail":
        held, dropped = _tails(windows, np.ones(windows.n_windows, dtype=bool), test)
    elif scheme == "subjects":
        held = _some_subjects(windows, test, seed)
    else:
        held = _some_windows(windows, test, seed)
    learnt = ~held & ~dropped
    chosen = np.zeros_like(held)
    if validation:
        chosen, gap = _tails(windows, learnt, validation)
        learnt &= ~chosen & ~gap
    judged = np.flatnonzero(chosen) if validation else None
    for part, mask in (("test", held), *([("validation", chosen)] if validation else [])):
        if not mask.any():
            raise ValueError(
                f"no recording of {windows.name} is long enough for a {part} part with a gap of {overlap(windows)} "
                "windows: bring longer ones, take a longer stride, or another scheme"
            )
    return Split(np.flatnonzero(learnt), np.flatnonzero(held), validation=judged, how=scheme, seed=seed)


def overlap(windows: Windows) -> int:
    """Return how many windows after a window share samples with it, from its length and stride."""
    stride = int(windows.provenance.get("stride", windows.length))
    return max(-(-windows.length // stride) - 1, 0)


def _tails(windows: Windows, among: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the last windows of each recording, and of the gap before them, among some windows."""
    tail, gap = np.zeros_like(among), np.zeros_like(among)
    distance = overlap(windows)
    for rows in _each(recording_of(windows), among):
        last = round(share * len(rows))
        # a recording too short for a part, a gap and a rest is all training
        if last and len(rows) > last + distance:
            tail[rows[len(rows) - last :]] = True
            gap[rows[len(rows) - last - distance : len(rows) - last]] = True
    return tail, gap


def _each(groups: np.ndarray, among: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the positions of each group, in ascending order, among some."""
    rows = np.flatnonzero(among)
    order = np.argsort(groups[rows], kind="stable")
    yield from np.split(rows[order], np.flatnonzero(np.diff(groups[rows][order])) + 1)


def _some_subjects(windows: Windows, share: float, seed: int) -> np.ndarray:
    """Return a mask of the windows of some subjects, drawn class by class of the first private attribute."""
    first = windows.private.iloc[:, 0] if windows.private.shape[1] else windows.public * 0
    people = pd.DataFrame({"subject": windows.subject, "class": first}).drop_duplicates("subject")
    generator = np.random.default_rng(seed)
    held: list[object] = []
    for _, members in people.groupby("class"):
        count = max(1, round(share * len(members)))
        if count == len(members):
            raise ValueError(
                f"class {members['class'].iloc[0]!r} has {len(members)} subject(s): too few to hold one out"
            )
        held.extend(generator.choice(members["subject"].to_numpy(), count, replace=False))
    return windows.subject.isin(held).to_numpy()


def _some_windows(windows: Windows, share: float, seed: int) -> np.ndarray:
    """Return a mask of a share of each subject's windows at random, as paper 3 does on MobiAct: they overlap others."""
    generator = np.random.default_rng(seed)
    held = np.zeros(windows.n_windows, dtype=bool)
    codes: Sequence[int] | np.ndarray = pd.factorize(windows.subject)[0]
    for rows in _each(np.asarray(codes), np.ones(windows.n_windows, dtype=bool)):
        held[generator.choice(rows, round(share * len(rows)), replace=False)] = True
    return held
