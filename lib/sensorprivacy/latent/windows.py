"""Prepare windows for paper 3's networks: code labels, scale values, and split without leaks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.splits import Split

PAPER_TEST_TRIALS = tuple(range(11, 17))  # MotionSense's short trials, paper 3 section 5.1.1
Scheme = Literal["paper", "tail", "random", "recordings", "subjects"]


class NoSecondRecordingError(ValueError):
    """Nobody has two recordings of one activity, so that none can be held out."""


@dataclass(frozen=True)
class Scaler:
    """Mean and standard deviation of each channel.

    Parameters
    ----------
    mean, deviation : tuple of float
        One value per channel, in the channel's unit.
    """

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def fit(cls, values: np.ndarray) -> "Scaler":
        """Learn the scaler from windows, n x channels x length.

        Raises
        ------
        ValueError
            If a channel is constant: it holds no information and cannot be scaled.
        """
        mean = values.mean(axis=(0, 2), dtype=np.float64)
        deviation = values.std(axis=(0, 2), dtype=np.float64)
        if flat := np.flatnonzero(deviation < 1e-12).tolist():
            raise ValueError(f"channel {flat[0]} is constant ({mean[flat[0]]:g}) in all windows: leave it out")
        return cls(tuple(mean.tolist()), tuple(deviation.tolist()))

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Return windows centred on zero, in units of each channel's deviation; float32."""
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
    """Classes in a fixed order, with codes 0, 1, ...

    Parameters
    ----------
    name : str
        Name of the attribute, for messages.
    classes : tuple of str
        Sorted names of the classes.
    """

    name: str
    classes: tuple[str, ...]

    @classmethod
    def fit(cls, labels: pd.Series, name: str) -> "Coding":
        """Return the coding of the classes that occur.

        Raises
        ------
        ValueError
            If there is only one class, so that there is nothing to infer or to hide.
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
            unknown = min(labels.astype(str).to_numpy()[found < 0])
            raise ValueError(f"{self.name} {unknown!r} was not seen in training: known are {', '.join(self.classes)}")
        return found.astype(np.int64)

    def names(self, codes: np.ndarray) -> np.ndarray:
        """Return the names of codes."""
        return np.asarray(self.classes, dtype=object)[codes]


def private_labels(windows: Windows, attribute: str) -> pd.Series:
    """Return a private attribute of each window; ``subject`` stands for the person's identity.

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
    """Return each window as one row, channel after channel: n x 2 x 128 becomes n x 256."""
    return values.reshape(len(values), -1)


def replace_values(windows: Windows, values: np.ndarray) -> Windows:
    """Return windows with other values and the same labels."""
    return replace(windows, values=values)


def recording_of(windows: Windows) -> np.ndarray:
    """Return the number of each window's recording (one trial of one activity by one subject), int64."""
    keys = pd.DataFrame({"subject": windows.subject, "trial": windows.trial, "public": windows.public})
    return keys.groupby(list(keys), sort=False).ngroup().to_numpy()


def split(
    windows: Windows, scheme: Scheme = "paper", *, validation: float = 0.25, test: float = 0.2, seed: int = 0
) -> Split:
    """Split windows into training, validation and test windows.

    Parameters
    ----------
    windows : Windows
        Windows in the order in which they were cut, so that those of one recording are in the order of time.
    scheme : {"paper", "tail", "random", "recordings", "subjects"}
        Which windows are the test windows. ``paper``: as in paper 3, MotionSense's trials 11 to 16; for other sets 20 %
        of each subject's windows at random, which overlap training windows (a leak). ``tail``: the end of each
        recording, with a gap so that test and training windows share no sample. ``random``: the leaking draw for any
        set. ``recordings``: whole recordings of people who have another one of that activity in training. ``subjects``:
        people who are not in the training windows.
    validation : float
        Share of each training recording, taken from its end after a gap, that becomes validation windows. 0: none.
    test : float
        Share of windows (``tail``, ``random``), of each subject's recordings of an activity (``recordings``; one of two
        at least) or of subjects (``subjects``) to test on.
    seed : int
        Seed of the random schemes.

    Returns
    -------
    Split
        Positions of the windows.

    Raises
    ------
    ValueError
        If the scheme is unknown, a share is out of range, or a part is empty.
    """
    if scheme not in get_args(Scheme):
        raise ValueError(f"scheme {scheme!r} is unknown: choose from {', '.join(get_args(Scheme))}")
    if not 0 <= validation < 1 or not 0 < test < 1:
        raise ValueError(f"validation={validation}, test={test}: shares must lie in [0, 1) and (0, 1)")
    everything = np.ones(windows.n_windows, dtype=bool)
    gap = ~everything  # windows in a gap are in no part
    if scheme == "paper" and windows.name == "motionsense":
        held = windows.trial.isin(PAPER_TEST_TRIALS).to_numpy()
    elif scheme == "tail":
        held, gap = _tails(windows, everything, test)
    elif scheme == "recordings":
        held = _some_recordings(windows, test, seed)
    elif scheme == "subjects":
        held = _some_subjects(windows, test, seed)
    else:
        held = _some_windows(windows, test, seed)
    parts, learned = {"test": held}, ~held & ~gap
    if validation:
        parts["validation"], gap = _tails(windows, learned, validation)
        learned &= ~parts["validation"] & ~gap
    if scheme == "recordings" and not held.any():
        lacking = f"nobody in {windows.name} has two recordings of one activity"
        raise NoSecondRecordingError(f"{lacking}: record more, or use another scheme")
    for part, mask in parts.items():
        if not mask.any():
            short = f"is long enough for a {part} part with a gap of {overlap(windows)} windows"
            remedy = "use longer recordings, a longer stride, or another scheme"
            raise ValueError(f"no recording of {windows.name} {short}: {remedy}")
    chosen = np.flatnonzero(parts["validation"]) if validation else None
    return Split(np.flatnonzero(learned), np.flatnonzero(held), validation=chosen, how=scheme, seed=seed)


def people_folds(windows: Windows, folds: int = 6, seed: int = 0, *, validation: float = 0.25) -> tuple[Split, ...]:
    """Split windows so that each person is a test person once: unseen people, cross-validated over everyone.

    Parameters
    ----------
    windows : Windows
        Windows in the order in which they were cut.
    folds : int
        Number of folds, at least 2; each holds as many people of each class of the first private attribute as possible.
        There are never more folds than people.
    seed : int
        Seed of the assignment of people to folds.
    validation : float
        Share of each training recording that becomes validation windows, as for `split`.

    Returns
    -------
    tuple of Split
        One for each fold.

    Raises
    ------
    ValueError
        If there are fewer than two folds or people.
    """
    first = windows.private.iloc[:, 0] if windows.private.shape[1] else windows.public * 0
    people = pd.DataFrame({"subject": windows.subject, "class": first}).drop_duplicates("subject")
    many = min(folds, len(people))
    if many < 2:
        raise ValueError(f"folds={folds} of {len(people)} people: at least two of both are needed")
    # class by class, people are dealt to the folds in turn, so that sizes differ by at most one
    shuffled = people.sample(frac=1, random_state=seed).sort_values("class", kind="stable")
    fold = dict(zip(shuffled["subject"], np.arange(len(shuffled)) % many, strict=True))
    codes = windows.subject.map(fold).to_numpy()
    found = []
    for at in range(many):
        held = codes == at
        tail, gap = _tails(windows, ~held, validation) if validation else (np.zeros_like(held),) * 2
        learned, chosen = ~held & ~tail & ~gap, np.flatnonzero(tail) if validation else None
        how = f"people, fold {at + 1} of {many}"
        found.append(Split(np.flatnonzero(learned), np.flatnonzero(held), validation=chosen, how=how, seed=seed))
    return tuple(found)


def common_classes(windows: Windows, train: Windows, attribute: str, least: int = 2) -> np.ndarray:
    """Return a mask of the windows whose public class has enough training windows of every private class.

    Parameters
    ----------
    windows : Windows
        Windows to select from.
    train : Windows
        Training windows.
    attribute : str
        The private attribute, or ``subject``.
    least : int
        Training windows that each private class needs in a public class, for a mean latent.
    """
    counts = pd.crosstab(train.public, private_labels(train, attribute))
    common = counts.index[(counts >= least).all(axis=1)]
    return windows.public.isin(common).to_numpy()


def thinned(windows: Windows, rows: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many rows of each recording, evenly spread over those given.

    Raises
    ------
    ValueError
        If `most` is below 1.
    """
    if most < 1:
        raise ValueError(f"most={most}: keep at least 1 window of each recording")
    mask = np.zeros(windows.n_windows, dtype=bool)
    mask[rows] = True
    kept = [some[:: -(-len(some) // most)] for some in _groups(recording_of(windows), mask)]
    return np.sort(np.concatenate(kept))


def overlap(windows: Windows) -> int:
    """Return the number of windows after a window that share samples with it."""
    stride = int(windows.provenance.get("stride", windows.length))
    return max(-(-windows.length // stride) - 1, 0)


def _tails(windows: Windows, among: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the last windows of each recording, and of the gap before them, among some windows."""
    tail, gap = np.zeros_like(among), np.zeros_like(among)
    distance = overlap(windows)
    for rows in _groups(recording_of(windows), among):
        last = round(share * len(rows))
        # a recording that is too short for two parts and a gap belongs to training as a whole
        if last and len(rows) > last + distance:
            tail[rows[len(rows) - last :]] = True
            gap[rows[len(rows) - last - distance : len(rows) - last]] = True
    return tail, gap


def _groups(codes: np.ndarray, among: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the positions of each group, in ascending order, among some windows."""
    rows = np.flatnonzero(among)
    yield from (some.to_numpy() for _, some in pd.Series(rows).groupby(codes[rows]))


def _some_recordings(windows: Windows, share: float, seed: int) -> np.ndarray:
    """Return a mask of some recordings; each subject keeps at least one recording of an activity for training."""
    recordings = recording_of(windows)
    table = pd.DataFrame({"subject": windows.subject, "public": windows.public, "recording": recordings})
    generator = np.random.default_rng(seed)
    held: list[int] = []
    for _, members in table.drop_duplicates().groupby(["subject", "public"]):
        count = min(max(1, round(share * len(members))), len(members) - 1)
        held.extend(generator.choice(members["recording"].to_numpy(), count, replace=False))
    return np.isin(recordings, held)


def _some_subjects(windows: Windows, share: float, seed: int) -> np.ndarray:
    """Return a mask of the windows of some subjects, drawn class by class of the first private attribute."""
    first = windows.private.iloc[:, 0] if windows.private.shape[1] else windows.public * 0
    people = pd.DataFrame({"subject": windows.subject, "class": first}).drop_duplicates("subject")
    generator = np.random.default_rng(seed)
    held: list[object] = []
    for name, members in people.groupby("class"):
        count = max(1, round(share * len(members)))
        if count == len(members):
            raise ValueError(f"class {name!r} has {len(members)} subject(s): too few to hold one out")
        held.extend(generator.choice(members["subject"].to_numpy(), count, replace=False))
    return windows.subject.isin(held).to_numpy()


def _some_windows(windows: Windows, share: float, seed: int) -> np.ndarray:
    """Return a mask of a share of each subject's windows, drawn at random as in paper 3 on MobiAct (a leak)."""
    generator = np.random.default_rng(seed)
    held = np.zeros(windows.n_windows, dtype=bool)
    for rows in _groups(pd.factorize(windows.subject)[0], ~held):
        held[generator.choice(rows, round(share * len(rows)), replace=False)] = True
    return held
