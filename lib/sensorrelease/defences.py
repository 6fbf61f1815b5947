"""What a defence for tables is, and what it releases; `words` has those that the command line names."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Problem
from sensorrelease.transformers import TaskPrediction


@dataclass(frozen=True, eq=False)
class Published:
    """What a defence releases.

    Attributes
    ----------
    values : pandas.DataFrame
        One row for each row of the problem. Columns that keep their name keep their meaning: an attacker who was
        trained on raw values reads them.
    guarantees : tuple of str
        Statements of the defence. Empty: no guarantee.
    epsilon : float
        Privacy loss of one row, counting the noisy columns only; infinite without noise.
    step : transformer or None
        The fitted transformer.
    epsilon_person : float, optional
        Privacy loss of all rows of the person who loses most. Default: that of a row, times the most rows of a user.
    with_task : bool
        Whether `publish` writes the true task labels beside these values.
    codes : numpy.ndarray of int, shape (n, views), optional
        What an attacker with the defence's networks reads from each row, such as whose window was published instead.
    """

    values: pd.DataFrame
    guarantees: tuple[str, ...] = ()
    epsilon: float = math.inf
    step: Any = None
    epsilon_person: float | None = None
    with_task: bool = True
    codes: np.ndarray | None = None


def publishes_task(step: Any) -> bool:
    """Return whether true task labels are published beside the values of a transformer. A prediction replaces them."""
    return not isinstance(step, TaskPrediction)


@dataclass(frozen=True)
class Defence:
    """A defence for tables.

    Attributes
    ----------
    name : str
        The word for the command line, such as ``minimize:threshold=0.01``.
    family : str
        Its kind; members of one family look alike in the chart, and take about the same time.
    make : callable
        Returns an unfitted transformer for a seed. With None, noise comes from OpenDP's secure generator: use this for
        real releases. With a number, results can be repeated and the noise protects nobody.
    cost : callable
        Returns about how many forests `fit` trains on a table with that many columns.
    about : str
        One sentence.
    trivial : bool
        Whether the release needs no method, such as the raw table.
    shares : str
        Defences with the same text share most of the work of `fit`: only the first takes long.
    word : str
        The word that the command ``publish`` accepts for it; empty for your own transformers.
    """

    name: str
    family: str
    make: Callable[[int | None], Any]
    cost: Callable[[int], float] = field(default=lambda columns: 1.0)
    about: str = ""
    trivial: bool = False
    shares: str = ""
    word: str = ""

    def publish(self, problem: Problem, train: np.ndarray, seed: int | None = 42) -> Published:
        """Fit the transformer to the training rows and release all rows.

        Parameters
        ----------
        problem : Problem
            Features, task labels and users.
        train : numpy.ndarray of int
            Positions of the training rows. They are released by ``fit_transform``, which may differ from ``transform``
            so that training rows are released as new rows are.
        seed : int or None
            Given to `make`.

        Returns
        -------
        Published

        Raises
        ------
        ValueError
            If the transformer releases no column or another number of rows.
        """
        features, step = problem.features, self.make(seed)
        rest = np.setdiff1d(np.arange(problem.n_records), train)
        wanted = inspect.signature(step.fit).parameters
        extra: dict[str, Any] = {
            name: labels.iloc[train]
            for name, labels in (("users", problem.users), ("groups", problem.groups))
            if labels is not None and name in wanted
        }
        if "texts" in wanted:
            extra["texts"] = problem.provenance.get("coded", [])
        both = hasattr(step, "fit_transform")
        learn = step.fit_transform if both else step.fit
        first = learn(features.iloc[train], problem.task.iloc[train], **extra)
        parts = [as_frame(first if both else step.transform(features.iloc[train]), step, train)]
        if len(rest):
            parts.append(as_frame(step.transform(features.iloc[rest]), step, rest))
        values = pd.concat(parts).sort_index()
        if len(values) != problem.n_records or values.shape[1] == 0:
            raise ValueError(
                f"{self.name} released {values.shape[1]} columns and {len(values)} rows: no table to judge"
            )
        # without a noisy column, the total is 0: nothing is protected
        total = float(getattr(step, "epsilon_total_", 0)) or math.inf
        guarantees = tuple(getattr(step, "guarantees_", ()))
        return Published(values, guarantees, total, step, with_task=publishes_task(step))


def as_frame(values: Any, step: Any, rows: np.ndarray) -> pd.DataFrame:
    """Return released values as a frame whose index is the rows' positions."""
    if not isinstance(values, pd.DataFrame):
        dense = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
        if dense.ndim != 2 or len(dense) != len(rows):
            raise ValueError(f"{type(step).__name__} returned shape {dense.shape} for {len(rows)} rows")
        names = getattr(step, "get_feature_names_out", None)
        try:
            known = list(names()) if names else None
        except (AttributeError, TypeError, ValueError):  # some steps of a pipeline do not know their names
            known = None
        if known is None or len(known) != dense.shape[1]:
            known = [f"released {place}" for place in range(dense.shape[1])]
        values = pd.DataFrame(dense, columns=known)
    if len(values) != len(rows):
        raise ValueError(f"{type(step).__name__} returned {len(values)} rows for {len(rows)}: release row by row")
    return values.set_axis(rows)
