"""What attackers of a table see, and which models they train; all know the mechanism."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sensorprivacy.data import Problem
from sensorprivacy.game.attack import Attacks, Prediction, Question, attack
from sensorprivacy.game.chance import DRAWS, frequencies
from sensorprivacy.game.learners import best_learner, resolved, votes
from sensorprivacy.game.splits import Split

ROW, GROUP, PERSON = "row", "group", "person"
PARTS = ("validation", "test")
TASK = "\0task"  # name of the published task column in the tables of attackers; no other column has it
Label = Literal["task", "user"]


@dataclass(frozen=True, eq=False)
class TableScene:
    """Everything that an attacker of a table sees.

    Attributes
    ----------
    problem : Problem
        The original table, with the task column if it is published; attackers use its users in training rows only,
        except `exact_values`.
    table : pandas.DataFrame
        Released rows, numbers only.
    split : Split
        Training rows, of which attackers know the label, and held-out rows, which they attack.
    model : scikit-learn classifier
        The forest of the judge and of the attackers.
    codes : numpy.ndarray of int, shape (n, views), optional
        What the defence's own networks read from each released row.
    label : {"user", "task"}
        The label to predict. The model of the task is an attacker on the task.
    parts : sequence of str
        The held-out parts: ``validation``, ``test``, or both.
    name : str
        Name of the release.
    identifying : collection of str
        Columns of the original table that somebody else has, too, such as serial numbers and points in time.
    """

    problem: Problem
    table: pd.DataFrame
    split: Split
    model: Any
    codes: np.ndarray | None = None
    label: Label = "user"
    parts: tuple[str, ...] = ("test",)
    name: str = ""
    identifying: Collection[str] = ()
    runs: int = 1

    @property
    def train(self) -> np.ndarray:
        """Positions of the training rows."""
        return self.split.train

    @property
    def held(self) -> np.ndarray:
        """Positions of the attacked rows."""
        return np.concatenate([self.split.part(part) for part in self.parts])

    @property
    def known(self) -> np.ndarray:
        """Labels of the training rows."""
        return _labels(self.problem, self.label)[self.train]

    @property
    def shared(self) -> list[Any]:
        """Released columns that the original table has too."""
        return [name for name in self.table if name in self.problem.features.columns]

    @property
    def rewritten(self) -> bool:
        """Whether a column keeps its name, and any column was rewritten."""
        raw = self.problem.features
        same = [np.array_equal(self.table[name].to_numpy(float), raw[name].to_numpy(float)) for name in self.shared]
        return bool(same) and sum(same) < self.table.shape[1]

    def questions(self, attacker: Any) -> list[Question]:
        """Return the label of single rows, and the user of whole groups, if rows come in groups, and of all rows."""
        grouped = (GROUP,) if self.split.groups is not None else ()
        levels = (ROW, *grouped, PERSON) if self.label == "user" else (ROW,)
        levels = tuple(one for one in levels if one in getattr(attacker, "levels", levels))
        ends = np.cumsum([0, *(len(self.split.part(part)) for part in self.parts)])
        return [
            replace(table_question(self.problem, self.split, self.label, level, part), rows=slice(first, last))
            for part, (first, last) in zip(self.parts, pairwise(ends), strict=True)
            for level in levels
        ]

    def predict(self, attacker: Callable[["TableScene"], np.ndarray | None], run: int) -> Prediction | None:
        """Return an attacker's probabilities of the attacked rows."""
        if (probabilities := attacker(self)) is None:
            return None
        counts = np.unique(self.known, return_counts=True)[1]
        return Prediction(probabilities, counts / counts.sum(), np.arange(len(counts)))


@lru_cache(maxsize=8)  # all attackers on a release are asked the same
def table_question(problem: Problem, split: Split, label: Label, level: str, part: str) -> Question:
    """Return the question for the label of the rows, groups or people of one part.

    A group can hold rows of several users: each user's rows are a unit of their own. A person is a user, or one of the
    people of whom users are classes.
    """
    labels, rows = _labels(problem, label), split.part(part)
    asked = Question(label, level, labels[split.train], labels[rows], unit=split.unit, part=part)
    if level == ROW:
        permuted = split.groups[rows] if label == "task" and split.groups is not None else None
        return replace(asked, clusters=split.clusters(rows), permuted=permuted)
    pools = split.groups if level == GROUP else split.people
    keys = pd.DataFrame({"pool": 0 if pools is None else pools[rows], "user": labels[rows]})
    groups = keys.groupby(["pool", "user"]).ngroup().to_numpy()
    rows = rows[np.unique(groups, return_index=True)[1]]
    people = None if split.people is None else split.people[rows]
    unit = split.unit if level == GROUP else "people"
    return replace(asked, truth=labels[rows], groups=groups, clusters=people, unit=unit)


def _labels(problem: Problem, label: Label) -> np.ndarray:
    return (problem.task if label == "task" else problem.users).to_numpy()


def adaptive_forest(scene: TableScene) -> np.ndarray:
    """Train a forest on released rows of known users."""
    matrix = scene.table.to_numpy(float)
    return votes(scene.model, matrix[scene.train], scene.known, matrix[scene.held])


def resolving_forest(scene: TableScene) -> np.ndarray:
    """Train a forest that sees all differences of released values, whatever their scale, see `resolved`."""
    return adaptive_forest(replace(scene, table=pd.DataFrame(resolved(scene.table.to_numpy(float))[0])))


def tuned_model(scene: TableScene) -> np.ndarray | None:
    """Train the model that predicts validation rows best, see `best_learner`; None if the split has no such rows."""
    if scene.split.validation is None:
        return None
    matrix, labels = scene.table.to_numpy(float), _labels(scene.problem, scene.label)
    train, checked, held = matrix[scene.train], matrix[scene.split.validation], matrix[scene.held]
    first = 0 if scene.parts[0] == "test" else len(checked)
    later = slice(first, len(held)) if "test" in scene.parts else slice(0, 0)
    return best_learner(train, scene.known, checked, labels[scene.split.validation], held, scene.model, later)[1]


def naive_forest(scene: TableScene) -> np.ndarray | None:
    """Train a forest on raw rows; None if no column keeps its name, or if nothing was rewritten."""
    if not scene.rewritten:
        return None
    raw, shown = resolved(*(table[scene.shared].to_numpy(float) for table in (scene.problem.features, scene.table)))
    return votes(scene.model, raw[scene.train], scene.known, shown[scene.held])


def nearest_row(scene: TableScene) -> np.ndarray:
    """Return the user of the nearest released training row, over columns of equal scale."""
    matrix = scene.table.to_numpy(float)
    nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(matrix[scene.train], scene.known)
    return np.asarray(nearest.predict_proba(matrix[scene.held]))


def who_is_missing(scene: TableScene) -> np.ndarray | None:
    """Learn whose raw rows stand behind each user's released rows; None where `naive_forest` is None.

    A release of other users' rows (donors) never shows a user's own. So the user who is missing among the donors of
    many rows is the one whom they belong to.
    """
    if not scene.rewritten:
        return None
    raw, released = (table[scene.shared].to_numpy(float) for table in (scene.problem.features, scene.table))
    nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(raw[scene.train], scene.known)
    donors = np.searchsorted(np.unique(scene.known), nearest.predict(released))
    return _by_frequency(scene, np.column_stack([np.zeros_like(donors), donors]))


def recovers_code(scene: TableScene) -> np.ndarray | None:
    """Count how often each user has each code that the defence's own networks read; None if there are none."""
    return None if scene.codes is None else _by_frequency(scene, scene.codes)


def _by_frequency(scene: TableScene, codes: np.ndarray) -> np.ndarray:
    classes, known = np.unique(scene.known, return_inverse=True)
    return frequencies(codes[scene.train], known, codes[scene.held], len(classes))


def exact_values(scene: TableScene) -> np.ndarray | None:
    """Join released rows with the original table by columns that identify rows; None if no such column is released.

    This attacker has the original of such a column, of the held-out rows too: a serial number or a point in time is
    written down in many places. The scene names these columns. Measurements are none, even if all their values differ.
    """
    users, features = scene.problem.users, scene.problem.features
    joined = [name for name in scene.shared if str(name) in scene.identifying]
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


def task_alone(scene: TableScene) -> np.ndarray | None:
    """Train a forest on the published task column alone; None if it is not published."""
    return resolving_forest(replace(scene, table=scene.table[[TASK]])) if TASK in scene.table else None


def most_frequent_user(scene: TableScene) -> np.ndarray:
    """Ignore the release and predict the most frequent user: no attacker needs to do worse."""
    _, counts = np.unique(scene.known, return_counts=True)
    return np.tile(counts / counts.sum(), (len(scene.held), 1))


TABLE_ATTACKERS: Mapping[str, Callable[[TableScene], np.ndarray | None]] = {
    "adaptive forest": resolving_forest,
    "tuned model": tuned_model,
    "naive forest": naive_forest,
    "nearest row": nearest_row,
    "who is missing": who_is_missing,
    "recovers the code": recovers_code,
    "exact values": exact_values,
    "task column alone": task_alone,
    "most frequent user": most_frequent_user,
}


def judge(
    scene: TableScene, attackers: Mapping[str, Any], *, known: Problem | None = None, draws: int = DRAWS
) -> Attacks:
    """Score the model of the task, and all attackers who identify users, on one release.

    Parameters
    ----------
    scene : TableScene
        The release.
    attackers : mapping of str to callable
        See `TABLE_ATTACKERS`.
    known : Problem, optional
        The original table with the task column, see `with_task`: attackers then see this column beside the release. The
        model of the task never does.
    draws : int
        Permutations of each test.

    Returns
    -------
    Attacks
        The first attacker is called ``task``.
    """
    found = attack(replace(scene, label="task"), {"task": resolving_forest}, draws=draws)
    if known is not None:
        scene = replace(scene, problem=known, table=scene.table.assign(**{TASK: known.features[TASK]}))
    found += attack(scene, attackers, levels=(ROW, GROUP), draws=draws)
    return found


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
