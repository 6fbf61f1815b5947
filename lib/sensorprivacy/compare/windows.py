"""Let defences that rewrite windows play the same game as those that drop columns or add noise.

A row of the game is a window, described by statistics of its channels. A defence for tables changes the statistics of
the raw window. A release of windows changes the window, and the statistics of the published window are its row. So
both face the same people, split, judge and attackers.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from sensorprivacy.datasets.readers.motion import AXES, MAGNITUDES, magnitudes
from sensorprivacy.datasets.readers.statistics import window_statistics
from sensorprivacy.datasets.types import Problem, Windows
from sensorprivacy.game.splits import Split
from sensorprivacy.latent.releases import SeededRelease
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.windows import private_labels, recording_of


def statistics_of(windows: Windows) -> pd.DataFrame:
    """Return 15 statistics of each channel of each window, and the correlations between channels.

    Parameters
    ----------
    windows : Windows
        n windows; the provenance names the ``channels`` and their ``rate`` in Hz. The six axes of a phone or watch get
        the magnitudes of rotation and acceleration as two more channels, which makes 135 statistics.

    Returns
    -------
    pandas.DataFrame
        n rows.
    """
    names, values = list(windows.provenance["channels"]), windows.values  # noqa: PD011 (windows)
    correlated = tuple(names)
    if correlated == AXES:
        norms = magnitudes(values.transpose(0, 2, 1).reshape(-1, len(AXES))).reshape(len(values), -1, len(MAGNITUDES))
        names, values = [*AXES, *MAGNITUDES], np.concatenate([values, norms.transpose(0, 2, 1)], axis=1)
    return window_statistics(values, names, float(windows.provenance["rate"]), correlated=correlated)


class PublishedStatistics(BaseEstimator):
    """Publish windows through a release, and return the statistics of the published windows: a transformer.

    Parameters
    ----------
    release : SeededRelease
        The release, fitted to the training windows.
    windows : Windows
        All windows of the game. Row i of its table is window i.
    epsilon : float, optional
        Privacy loss of one response, if the release has a guarantee.
    guarantees : tuple of str
        The guarantee and its limits.

    Attributes
    ----------
    epsilon_total_, guarantees_
        As given, if there is a guarantee.
    """

    def __init__(
        self,
        release: SeededRelease,
        windows: Windows,
        epsilon: float | None = None,
        guarantees: tuple[str, ...] = (),
    ) -> None:
        self.release = release
        self.windows = windows
        self.epsilon = epsilon
        self.guarantees = guarantees

    def __sklearn_clone__(self) -> "PublishedStatistics":
        """Return the same object: networks need no copy, as `fit` learns nothing."""
        return self

    def fit(self, X: pd.DataFrame, y: Any = None) -> "PublishedStatistics":
        """Learn nothing: the release was fitted to windows."""
        if self.epsilon is not None:
            self.epsilon_total_, self.guarantees_ = self.epsilon, self.guarantees
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the statistics of the published windows of some rows, by the table's index."""
        if not hasattr(self, "_published"):
            self._published = statistics_of(self.release(self.windows))
        return self._published.loc[X.index]


@dataclass(frozen=True, eq=False)
class WindowsGame:
    """Windows of a study as a problem for the game of tables.

    Attributes
    ----------
    study : Study
        Its networks are trained on the training rows of the split alone.
    windows : Windows
        Training, validation and test windows of the study, in this order.
    problem : Problem
        Their statistics. The task is the public class, the user is the attribute to hide, and groups are recordings.
    split : Split
        The parts of the study. Intervals count recordings.
    """

    study: Study
    windows: Windows
    problem: Problem
    split: Split


def windows_game(study: Study) -> WindowsGame:
    """Return the game on a study's windows.

    Parameters
    ----------
    study : Study
        A study whose test recordings are whole: ``scheme="recordings"`` or ``"subjects"``, and ``"paper"`` on
        MotionSense.

    Raises
    ------
    ValueError
        If a recording has training and test windows.
    """
    parts = [study.train, study.validation, study.test]
    sizes = np.cumsum([0, *(part.n_windows for part in parts)])
    windows = _joined(parts)
    recordings = recording_of(windows)
    if shared := len(np.intersect1d(recordings[: sizes[2]], recordings[sizes[2] :])):
        raise ValueError(
            f"{shared} recordings of {study.name} have training and test windows: prepare the study with "
            "scheme='recordings'"
        )
    rows = [np.arange(first, last) for first, last in pairwise(sizes)]
    # validation windows come from the ends of training recordings: as groups, these ends count apart
    of_part = np.repeat([0, 1, 2], np.diff(sizes))
    groups = pd.factorize(pd.Series(recordings) * 3 + of_part)[0]
    how = f"whole recordings, {' / '.join(f'{len(some):,}' for some in rows)} windows"
    split = Split(rows[0], rows[2], validation=rows[1], how=how, seed=study.split_seed, groups=groups)
    problem = Problem(
        statistics_of(windows),
        task=windows.public,
        users=private_labels(windows, study.private),
        groups=pd.Series(recordings),
        name=f"{study.name}, {study.private}",
        provenance=windows.provenance,
    )
    return WindowsGame(study, windows, problem, split)


def _joined(parts: list[Windows]) -> Windows:
    """Return the windows of several parts as one."""
    labels: dict[str, Any] = {
        role: pd.concat([getattr(part, role) for part in parts], ignore_index=True)
        for role in ("public", "private", "subject", "trial")
    }
    return replace(parts[0], values=np.concatenate([part.values for part in parts]), **labels)  # noqa: PD011 (windows)
