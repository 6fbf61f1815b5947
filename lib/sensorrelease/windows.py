"""Let defences that rewrite windows play the same game as those that drop columns or add noise.

A row of the game is a window, described by statistics of its channels. A defence for tables changes the statistics of
the raw window. A release of windows changes the window, and the statistics of the published window are its row. So
both face the same people, split, judge and attackers.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem, Windows
from sensorprivacy.game.splits import Split
from sensorprivacy.latent.adversaries import mechanism_of
from sensorprivacy.latent.anonymizer import LatentAnonymizer
from sensorprivacy.latent.comparison import ReleaseSettings
from sensorprivacy.latent.releases import SeededRelease
from sensorprivacy.latent.study import Study, prepare
from sensorprivacy.latent.windows import NoSecondRecordingError, overlap, private_labels, recording_of
from sensorprivacy.statistics import window_statistics
from sensorprivacy.windowing import AXES, MAGNITUDES, magnitudes
from sensorrelease.defences import Published
from sensorrelease.publishing.anonymizers import words_of
from sensorrelease.recordings import read_recordings

TABLE_WORDS = (
    "prediction",
    "noise:epsilon=16",
    "threeway:epsilon=4",
    "minimize:threshold=.01",
    "minimize:threshold=.1",
)
MOST, EPOCHS, BATCH = 40, 30, 64  # of own recordings: windows of each, and how networks are trained on them


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


@dataclass(frozen=True, eq=False)
class WindowsGame:
    """Windows of a study as a problem for the game of tables, and the releases of windows that can play it.

    Attributes
    ----------
    study : Study
        Its networks are trained on the training rows of the split alone.
    ways : ReleaseSettings
        How the releases are made.
    windows : Windows
        Training, validation and test windows of the study, in this order.
    problem : Problem
        Their statistics. The task is the public class, the user is the attribute to hide, and groups are recordings.
    split : Split
        The parts of the study. Intervals count recordings; people, if the hidden attribute is one of people.
    """

    study: Study
    ways: ReleaseSettings
    windows: Windows
    problem: Problem
    split: Split

    @cached_property
    def networks(self) -> LatentAnonymizer:
        """Paper 3's anonymizer, trained when it is first needed."""
        return self.study.anonymizer(self.study.inference_models())

    @cached_property
    def releases(self) -> dict[str, SeededRelease]:
        """All releases of windows by name, see `latent.ReleaseSettings.releases`."""
        networks = self.networks
        with warnings.catch_warnings():  # one for each activity and release
            warnings.filterwarnings("ignore", ".*cells were merged", UserWarning)
            return self.ways.releases(self.study, networks)

    @property
    def defences(self) -> list["WindowsDefence"]:
        """Defences that rewrite windows; the first that plays trains the networks for all."""
        ours, amounts = [transfer.name for transfer in self.ways.transfers], self.ways.amounts
        if len(amounts) > 1:
            ours = [f"{name}, noise {amount:g}" for name in ours for amount in amounts]
        names = [*_ABOUT, *(name for name in ours if name not in _ABOUT)]
        return [WindowsDefence(self, name) for name in names]


_ABOUT = {
    "inferred label alone": "A constant for each inferred activity.",
    "random training window": "A random training window of the inferred activity, of another person.",
    "deterministic": "Paper 3's shift to the next class.",
    "probabilistic": "Paper 3's shift to a random class.",
    "probabilistic, redrawn": "Paper 3's shift to a random class, with noise, redrawn while the activity is misread.",
    "guaranteed, per window": "A synthetic window of a randomized activity and cell, one response for each window.",
    "guaranteed, per recording": "The same with one response for each recording.",
}
_OURS = "Our change of latents, with noise, redrawn while the activity is misread."


@dataclass(frozen=True, eq=False)
class WindowsDefence:
    """A release of windows as a defence of `compare`; its rows are the statistics of the published windows.

    Attributes
    ----------
    game : WindowsGame
        The game.
    release : str
        Name of the release.
    """

    game: WindowsGame
    release: str
    shares: str = "networks"

    @property
    def name(self) -> str:
        """The release's name."""
        return f"shift, {self.release}" if self.family == "shift" else self.release

    @property
    def family(self) -> str:
        """``label``, ``donor``, ``shift``, ``latent`` (ours) or ``guaranteed``."""
        first = self.release.split(",")[0]
        known = {"inferred label alone": "label", "random training window": "donor", "guaranteed": "guaranteed"}
        return known.get(first, "shift" if first in ("deterministic", "probabilistic") else "latent")

    @property
    def about(self) -> str:
        """One sentence."""
        return _ABOUT.get(self.release, _OURS)

    @property
    def word(self) -> str:
        """The word that `publish` accepts; empty for a reference, which cannot be published."""
        found = words_of(self.game.ways).get(self.name)
        return "" if found is None else found.name

    @property
    def trivial(self) -> bool:
        """Whether the release needs no method."""
        return self.family in ("label", "donor")

    @property
    def settings(self) -> str:
        """A text that differs where releases differ."""
        return f"{self.name} {self.game.study.folder.name} {self.game.ways}"

    def cost(self, columns: int) -> float:
        """Return about how many forests the training of the networks is worth."""
        return 20.0

    def publish(self, problem: Problem, train: np.ndarray, seed: int | None = 42) -> Published:
        """Return the statistics of the published windows, with the guarantee if the release has one."""
        game = self.game
        release = game.releases[self.release]
        published = release(game.windows)
        mechanism = mechanism_of(release, game.networks if release.published_raw is not None else None)
        values, codes = statistics_of(published), None if mechanism is None else mechanism.codes(published)
        if self.family != "guaranteed":
            return Published(values, with_task=self.family != "label", codes=codes)
        sure = game.ways.guaranteed(game.networks)[self.release]
        budget = sure.budget(game.windows)["epsilon"]
        text = (
            f"Each response is {sure.epsilon:g}-differentially private in the local model. A recording spends up to "
            f"{budget['recording']:,.0f}, and a person up to {budget['person']:,.0f}."
        )
        # the published label is the response, and the synthetic window shows it
        person = float(budget["person"])
        return Published(values, (text,), sure.epsilon, epsilon_person=person, with_task=False, codes=codes)


def windows_game(study: Study, ways: ReleaseSettings | None = None, *, ends: bool = False) -> WindowsGame:
    """Return the game on a study's windows.

    Parameters
    ----------
    study : Study
        A study whose test recordings are whole: ``scheme="recordings"`` or ``"subjects"``, and ``"paper"`` on
        MotionSense.
    ways : ReleaseSettings, optional
        How releases are made; the default is the first choice of each.
    ends : bool
        Whether the test windows are the ends of the training recordings (``scheme="tail"``), as in `publish`.

    Raises
    ------
    ValueError
        If a recording has training and test windows, unless its end is held out.
    """
    parts = [study.train, study.validation, study.test]
    sizes = np.cumsum([0, *(part.n_windows for part in parts)])
    windows = _joined(parts)
    recordings = recording_of(windows)
    shared = len(np.intersect1d(recordings[: sizes[2]], recordings[sizes[2] :]))
    if shared and not ends:
        raise ValueError(
            f"{shared} recordings of {study.name} have training and test windows: prepare the study with "
            "scheme='recordings'"
        )
    rows = [np.arange(first, last) for first, last in pairwise(sizes)]
    # validation windows come from the ends of training recordings: as groups, these ends count apart
    of_part = np.repeat([0, 1, 2], np.diff(sizes))
    groups = pd.factorize(pd.Series(recordings) * 3 + of_part)[0]
    how = f"{'ends of' if ends else 'whole'} recordings, {' / '.join(f'{len(some):,}' for some in rows)} windows"
    hidden = private_labels(windows, study.private)
    split = Split(rows[0], rows[2], validation=rows[1], how=how, seed=study.split_seed, groups=groups)
    told: dict[str, Any] = {"rows_of_a_person": int(windows.subject.value_counts().max())}
    if study.private != "subject":
        told |= {"hidden": study.private}
        if is_of_people(hidden, windows.subject):
            split = replace(split, people=windows.subject.to_numpy())
    problem = Problem(
        statistics_of(windows),
        task=windows.public,
        users=hidden,
        groups=pd.Series(recordings),
        name=study.name,
        provenance=windows.provenance | told,
    )
    return WindowsGame(study, ways or ReleaseSettings(), windows, problem, split)


def is_of_people(labels: pd.Series, subject: pd.Series) -> bool:
    """Return whether every person has one label, in all recordings."""
    return not pd.DataFrame({"who": subject, "label": labels}).drop_duplicates()["who"].duplicated().any()


def own_game(
    source: Path,
    hide: str | None = None,
    schema: Path | None = None,
    *,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    seed: int = 42,
) -> WindowsGame:
    """Return the game on your own recordings.

    Whole recordings are held out if people have two of an activity. Otherwise the ends of the recordings are, as in
    `publish`, with a warning.

    Parameters
    ----------
    source, schema, task, user, recording
        As for `recordings.read_recordings`.
    hide : str, optional
        One of the private attributes; by default the user.
    seed : int
        Seed of split, networks and publications.

    Raises
    ------
    FileNotFoundError, ValueError
        As `recordings.read_recordings`.

    Warns
    -----
    UserWarning
        If nobody has two recordings of one activity.
    """
    roles: dict[str, Any] = {"task": task, "user": user, "recording": recording}
    own = read_recordings(source, schema, **roles)
    task = own.gate.task
    asked: dict[str, Any] = {"file": str(source), **({"schema": str(schema)} if schema else {})}
    asked |= {name: value for name, value in {**roles, "hide": hide}.items() if value}
    asked |= {} if own.schema.is_confirmed else {"accept_draft": True}
    hide = own.hidden(hide)
    options: dict[str, Any] = {"most": MOST, "epochs": EPOCHS, "inference_epochs": EPOCHS, "seed": seed}
    windows, ends = own.windows(128, 10), False
    _refuse_short(windows, task)
    try:
        study = prepare(windows, hide, scheme="recordings", **options)
    except NoSecondRecordingError:
        ends = True
        warnings.warn(
            f"nobody in {windows.name} has two recordings of one {task}: the last fifth of each recording is held out. "
            f"Attackers may then recognize a recording instead of {hide}. Record two sessions to hold out whole ones",
            stacklevel=2,
        )
        study = prepare(windows, hide, scheme="tail", **options)
    fewest = int(study.train.public.value_counts().min())
    study = replace(study, vae=replace(study.vae, batch=min(fewest, BATCH)))
    game = windows_game(study, ReleaseSettings(seed=seed), ends=ends)
    problem = replace(game.problem, name=windows.name, provenance={**game.problem.provenance, "publish": asked})
    return replace(game, problem=problem)


def _refuse_short(windows: Windows, task: str) -> None:
    """Raise ValueError unless a recording can be cut in a part to learn from, and parts that share no sample with it.

    These are its end, to test on, unless whole recordings are held out, and the end of the rest, to choose on; see
    `latent.windows.split`.
    """
    trials = pd.DataFrame({"who": windows.subject, "what": windows.public, "trial": windows.trial})
    test = 0.0 if trials.drop_duplicates().duplicated(["who", "what"]).any() else 0.2
    gap, stride, rate = overlap(windows), windows.provenance["stride"], windows.provenance["rate"]
    enough = next(n for n in count(4) if (left := n - (round(test * n) + gap) * (test > 0)) > round(0.25 * left) + gap)
    longest = int(np.bincount(recording_of(windows)).max())
    if longest < enough:
        seconds = [(windows.length + (n - 1) * stride) / rate for n in (longest, enough)]
        raise ValueError(
            f"the longest recording of {windows.name} has {seconds[0]:.0f} seconds at {rate:g} samples per second, and "
            f"a comparison needs {seconds[1]:.0f}: record longer, or join the recordings of each person and {task}"
        )


def _joined(parts: list[Windows]) -> Windows:
    """Return the windows of several parts as one."""
    labels: dict[str, Any] = {
        role: pd.concat([getattr(part, role) for part in parts], ignore_index=True)
        for role in ("public", "private", "subject", "trial")
    }
    return replace(parts[0], values=np.concatenate([part.values for part in parts]), **labels)  # noqa: PD011 (windows)
