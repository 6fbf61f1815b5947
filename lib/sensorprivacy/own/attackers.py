"""The attackers, the same for every defence: all know the mechanism, and each returns who a row belongs to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sensorprivacy.columns.identifiers import find_identifiers
from sensorprivacy.data import Problem
from sensorprivacy.game.frequencies import frequencies
from sensorprivacy.game.measuring import measure, member, pooled
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.splits import Split
from sensorprivacy.game.units import share
from sensorprivacy.own.defences import Published
from sensorprivacy.own.forests import votes

PARTS = ("validation", "test")
ROW, GROUP = "row", "group"
TASK = "\0task"  # name of the published task column in the tables of attackers; no other column has it


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything that an attacker sees.

    Attributes
    ----------
    problem : Problem
        The original table, with the task column if it is published; attackers use its users in training rows only,
        except `exact_values`.
    table : pandas.DataFrame
        Released rows, numbers only.
    train, held : numpy.ndarray of int
        Positions of the training rows and of the held-out rows.
    model : scikit-learn classifier
        The forest of the judge and of the attackers.
    codes : numpy.ndarray of int, shape (n, views), optional
        What the defence's own networks read from each released row, see `Published`.
    """

    problem: Problem
    table: pd.DataFrame
    train: np.ndarray
    held: np.ndarray
    model: Any
    codes: np.ndarray | None = None

    @property
    def known(self) -> np.ndarray:
        """Users of the training rows."""
        return self.problem.users.to_numpy()[self.train]

    @property
    def shared(self) -> list[Any]:
        """Released columns that the original table has too."""
        return [name for name in self.table if name in self.problem.features.columns]

    @property
    def unchanged(self) -> list[Any]:
        """Released columns that equal the original ones in every row."""
        return [
            name
            for name in self.shared
            if np.array_equal(self.table[name].to_numpy(float), self.problem.features[name].to_numpy(float))
        ]


def adaptive_forest(scene: Scene) -> np.ndarray:
    """Train a forest on released rows of known users."""
    matrix = scene.table.to_numpy(float)
    return votes(scene.model, matrix[scene.train], scene.known, matrix[scene.held])


def naive_forest(scene: Scene) -> np.ndarray | None:
    """Train a forest on raw rows; None if no column keeps its name, or if nothing was rewritten."""
    if not _rewritten(scene):
        return None
    raw = scene.problem.features[scene.shared].to_numpy(float)
    return votes(scene.model, raw[scene.train], scene.known, scene.table[scene.shared].to_numpy(float)[scene.held])


def _rewritten(scene: Scene) -> bool:
    """Return whether a column keeps its name, and any column was rewritten."""
    return bool(scene.shared) and len(scene.unchanged) < scene.table.shape[1]


def nearest_row(scene: Scene) -> np.ndarray:
    """Return the user of the nearest released training row, over columns of equal scale."""
    matrix = scene.table.to_numpy(float)
    nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(matrix[scene.train], scene.known)
    return np.asarray(nearest.predict_proba(matrix[scene.held]))


def who_is_missing(scene: Scene) -> np.ndarray | None:
    """Learn whose raw rows stand behind each user's released rows; None where `naive_forest` is None.

    A release of other users' rows (donors) never shows a user's own. So the user who is missing among the donors of
    many rows is the one whom they belong to.
    """
    if not _rewritten(scene):
        return None
    raw, released = (table[scene.shared].to_numpy(float) for table in (scene.problem.features, scene.table))
    nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(raw[scene.train], scene.known)
    donors = np.searchsorted(np.unique(scene.known), nearest.predict(released))
    return _by_frequency(scene, np.column_stack([np.zeros_like(donors), donors]))


def recovers_code(scene: Scene) -> np.ndarray | None:
    """Count how often each user has each code that the defence's own networks read; None if there are none."""
    return None if scene.codes is None else _by_frequency(scene, scene.codes)


def _by_frequency(scene: Scene, codes: np.ndarray) -> np.ndarray:
    classes, known = np.unique(scene.known, return_inverse=True)
    return frequencies(codes[scene.train], known, codes[scene.held], len(classes))


def exact_values(scene: Scene) -> np.ndarray | None:
    """Join released rows with the original table by columns that identify rows; None if no such column is released.

    This attacker has the original of such a column, of the held-out rows too: a serial number or a point in time is
    written down in many places. Measurements are not joined, even if all their values differ.
    """
    users, features = scene.problem.users, scene.problem.features
    joined = [name for name in scene.shared if str(name) in _identifiers(scene.problem)]
    if not joined:
        return None
    classes, counts = np.unique(scene.known, return_counts=True)
    evidence = np.zeros((len(scene.held), len(classes)))
    prior = counts / counts.sum()
    for name in joined:
        owners = pd.crosstab(features[name].to_numpy(float), users.to_numpy()).reindex(columns=classes, fill_value=0)
        here = owners.reindex(scene.table[name].to_numpy(float)[scene.held], fill_value=0).to_numpy(float)
        total = here.sum(axis=1, keepdims=True)
        shares = np.divide(here, total, out=np.tile(prior, (len(here), 1)), where=total > 0)
        evidence = np.maximum(evidence, shares)
    return np.asarray(evidence / evidence.sum(axis=1, keepdims=True))


def task_alone(scene: Scene) -> np.ndarray | None:
    """Train a forest on the published task column alone; None if it is not published."""
    return adaptive_forest(replace(scene, table=scene.table[[TASK]])) if TASK in scene.table else None


def most_frequent_user(scene: Scene) -> np.ndarray:
    """Ignore the release and predict the most frequent user: no attacker needs to do worse."""
    _, counts = np.unique(scene.known, return_counts=True)
    return np.tile(counts / counts.sum(), (len(scene.held), 1))


@lru_cache(maxsize=1)
def _identifiers(problem: Problem) -> frozenset[str]:
    """Return the columns of the original table that identify rows."""
    sequences = [labels for labels in (problem.users, problem.groups) if labels is not None]
    return frozenset(find_identifiers(problem.features, sequences))


TABLE_ATTACKERS: Mapping[str, Callable[[Scene], np.ndarray | None]] = {
    "adaptive forest": adaptive_forest,
    "naive forest": naive_forest,
    "nearest row": nearest_row,
    "who is missing": who_is_missing,
    "recovers the code": recovers_code,
    "exact values": exact_values,
    "task column alone": task_alone,
    "most frequent user": most_frequent_user,
}


@dataclass(frozen=True)
class Judged:
    """One model on one part of the held-out rows.

    Attributes
    ----------
    who : str
        ``task``, or the attacker.
    level : str
        ``row``, or ``group``: pooled over all rows of a group.
    part : str
        ``validation`` or ``test``.
    measure : Measure
        Score, interval, chance level and most exposed user.
    right : numpy.ndarray of bool
        Which rows or groups of users seen in training are predicted, in an order that all defences share.
    exposure, exposure_low : float
        Of the rows that belong to the most exposed user or are predicted as theirs, the share that are both; and the
        lower end of its interval. An attacker who names one user everywhere has recall 1, but a small exposure.
    clusters : numpy.ndarray, optional
        Group of each of these rows, if intervals count groups.
    """

    who: str
    level: str
    part: str
    measure: Measure
    right: np.ndarray
    exposure: float
    exposure_low: float
    clusters: np.ndarray | None = None


def judged_clusters(problem: Problem, split: Split, who: str, level: str, part: str) -> np.ndarray | None:
    """Return the units of the rows or groups that `Judged.right` has, or None if these are counted one by one."""
    rows = split.part(part)
    labels = (problem.task if who == "task" else problem.users).to_numpy()
    if level == GROUP:
        rows = rows[np.unique(_pools(split, rows, labels), return_index=True)[1]]
    if level == GROUP and split.people is None:
        return None
    return split.clusters(rows[member(labels[rows], labels[split.train])])


def _pools(split: Split, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the number of each row's pool. A group can hold rows of several users: each has its own pool."""
    assert split.groups is not None
    return (
        pd.DataFrame({"group": split.groups[rows], "user": labels[rows]}).groupby(["group", "user"]).ngroup().to_numpy()
    )


def judge(
    problem: Problem,
    published: Published,
    split: Split,
    model: Any,
    *,
    draws: int,
    attackers: Mapping[str, Any],
    known: Problem | None = None,
) -> list[Judged]:
    """Train the task's judge and all attackers on a release, and score them on both held-out parts.

    Parameters
    ----------
    problem : Problem
        The original table.
    published : Published
        The release of its rows.
    split : Split
        With validation rows.
    model : scikit-learn classifier
        With a seed.
    draws : int
        Permutations of each test.
    attackers : mapping of str to callable
        See `TABLE_ATTACKERS`.
    known : Problem, optional
        The original table with the task column, see `with_task`: attackers then see this column beside each release
        that is published with it. The judge of the task never does.

    Returns
    -------
    list of Judged
    """
    held = np.concatenate([split.part(part) for part in PARTS])
    table, task = as_numbers(published.values), problem.task.to_numpy()
    matrix = table.to_numpy(float)
    found = {"task": votes(model, matrix[split.train], task[split.train], matrix[held])}
    if known is not None and published.with_task:
        problem, table = known, table.assign(**{TASK: known.features[TASK]})
    scene = Scene(problem, table, split.train, held, model, published.codes)
    found |= {name: known for name, attack in attackers.items() if (known := attack(scene)) is not None}
    lines = []
    for who, probabilities in found.items():
        first = 0
        for part in PARTS:
            some = probabilities[first : first + len(split.part(part))]
            first += len(some)
            lines.append(scored(problem, split, who, ROW, part, some, draws))
            if who != "task" and split.groups is not None:
                lines.append(scored(problem, split, who, GROUP, part, some, draws))
    return lines


def scored(
    problem: Problem, split: Split, who: str, level: str, part: str, probabilities: np.ndarray, draws: int
) -> Judged:
    """Return the score of one model on one part, of single rows or of whole groups."""
    labels, rows = (problem.task if who == "task" else problem.users).to_numpy(), split.part(part)
    known, truth = labels[split.train], labels[rows]
    classes, counts = np.unique(known, return_counts=True)
    clusters, unit = split.clusters(rows), split.unit
    if level == GROUP:
        groups = _pools(split, rows, labels)
        first = np.unique(groups, return_index=True)[1]
        truth, clusters = truth[first], None if split.people is None else split.people[rows[first]]
        probabilities = np.exp(pooled(probabilities, counts / counts.sum(), groups))
    predicted = classes[probabilities.argmax(axis=1)]
    permuted = split.groups[rows] if who == "task" and split.groups is not None else None
    units: Any = {"clusters": clusters, "permuted": permuted, "unit": unit}
    found = measure(predicted, truth, known, probabilities=probabilities, draws=draws, **units)
    right, theirs = predicted == truth, (truth == found.exposed) | (predicted == found.exposed)
    shown = share(right[theirs], None if clusters is None else clusters[theirs])
    kept, groups_of = right[member(truth, classes)], judged_clusters(problem, split, who, level, part)
    return Judged(who, level, part, found, kept, shown.score, shown.low, groups_of)


def with_task(problem: Problem) -> Problem:
    """Return a problem whose features have the task column, as numbers: attackers know the originals of both."""
    features = problem.features.assign(**{TASK: problem.task})
    return replace(problem, features=as_numbers(features))


def as_numbers(values: pd.DataFrame) -> pd.DataFrame:
    """Return released columns as finite numbers: a text becomes the number of its category.

    Raises
    ------
    ValueError
        If a released number is missing or infinite.
    """
    coded = {
        name: column if pd.api.types.is_numeric_dtype(column) else column.astype("category").cat.codes
        for name, column in values.items()
    }
    numbers = pd.DataFrame(coded).astype(float)
    if not np.isfinite(numbers.to_numpy()).all():
        broken = [str(name) for name in numbers if not np.isfinite(numbers[name]).all()]
        raise ValueError(f"released columns {', '.join(broken[:5])} have missing or infinite values")
    return numbers
