"""The attackers on a release: those of tables, and others that the committed tables of the notebooks do not have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem
from sensorprivacy.game.learners import LEARNERS, resolved, rounds_of, votes
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import GROUP, PARTS, PERSON, TABLE_ATTACKERS, TableScene, tuned_model
from sensorprivacy.game.whole import as_rows, of_units


@dataclass(frozen=True)
class AllLabels:
    """One of `learners.LEARNERS`, trained on validation rows, too, whether or not it was the best of them there.

    So an unlucky choice of the tuned model does not decide what a card states. Validation rows themselves are predicted
    after a training without them.
    """

    name: str

    def __call__(self, scene: TableScene) -> np.ndarray | None:
        """Return probabilities of the attacked rows; None without validation rows, or with too many classes."""
        users, classes = scene.problem.users.to_numpy(), np.unique(scene.known)
        settings = scene.model.get_params()
        trees, seed, jobs = (settings.get(name) for name in ("n_estimators", "random_state", "n_jobs"))
        size = rounds_of(self.name, trees or 100, len(classes))
        if scene.split.validation is None or size < 2:
            return None
        matrix, more = resolved(scene.table.to_numpy(float))[0], scene.split.validation
        labelled = {"validation": scene.train}
        labelled["test"] = np.concatenate([scene.train, more[np.isin(users[more], classes)]])
        model, seen = (
            LEARNERS[self.name](size, seed, jobs),
            [(labelled[one], scene.split.part(one)) for one in scene.parts],
        )
        return np.concatenate([votes(model, matrix[rows], users[rows], matrix[held]) for rows, held in seen])


@dataclass(frozen=True)
class WholeGroups:
    """An attacker that classifies whole groups by statistics of their rows. It has no answer for single rows.

    Attributes
    ----------
    by : callable
        An attacker of rows, to which each group is a row.
    levels : tuple of str
        What it is asked.
    """

    by: Callable[[TableScene], np.ndarray | None]
    levels: tuple[str, ...] = (GROUP, PERSON)

    def __call__(self, scene: TableScene) -> np.ndarray | None:
        """Return probabilities of the attacked rows; None without groups or validation rows."""
        split, users = scene.split, scene.problem.users.to_numpy()
        if split.groups is None or split.validation is None:
            return None
        rows = {name: split.part(name) for name in ("train", *PARTS)}
        every = np.concatenate(list(rows.values()))
        part = np.repeat(list(rows), [len(some) for some in rows.values()])
        # as in the question, the rows of each user in a group are a unit of their own
        keys = pd.DataFrame({"part": part, "group": split.groups[every], "user": users[every]})
        units = keys.groupby(list(keys)).ngroup().to_numpy()
        first = np.unique(units, return_index=True)[1]
        parts = {name: np.flatnonzero(part[first] == name) for name in rows}
        seen = pd.DataFrame(of_units(scene.table.to_numpy(float)[every], units)).add_prefix("statistic ")
        groups = Problem(seen, users[every][first], users[every][first])
        of_groups = Split(parts["train"], parts["test"], validation=parts["validation"])
        whole = TableScene(groups, seen, of_groups, scene.model, parts=scene.parts)
        if (found := self.by(whole)) is None:
            return None
        attacked = np.concatenate([units[part == name] for name in scene.parts])
        counts = np.unique(scene.known, return_counts=True)[1]
        return as_rows(found, counts / counts.sum(), pd.Index(whole.held).get_indexer(attacked))


RELEASE_ATTACKERS: Mapping[str, Callable[[TableScene], np.ndarray | None]] = {
    **TABLE_ATTACKERS,
    "extra trees": AllLabels("extra trees"),
    "boosting": AllLabels("boosting"),
    "statistics of groups": WholeGroups(AllLabels("extra trees")),
    "statistics of groups, tuned": WholeGroups(tuned_model),
}
"""The attackers of `publish`, by name."""
