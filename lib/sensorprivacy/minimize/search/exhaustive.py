"""Search all subsets: train two models for every non-empty subset of the features, or race and finish a few of them."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from sensorprivacy.data import Problem
from sensorprivacy.minimize.engine_protocol import LABELS
from sensorprivacy.minimize.search.job import HOUR, SearchJob, duration
from sensorprivacy.minimize.search.racing import Race, Runner, expected_share, levels_of, races
from sensorprivacy.minimize.search.results import ResultKey
from sensorprivacy.minimize.select import THRESHOLDS, Rule, check_threshold, least_accuracy, select, select_table
from sensorprivacy.progress import tqdm

_SHOWN = 0.01  # threshold of the choice shown during a search that serves all thresholds


class SearchTooLongError(RuntimeError):
    """Raised when a search would take more than an hour and long searches are not allowed."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per subset, by size and then by column order: ``features`` (tuple of names), ``n_features``,
        ``accuracy``, ``identifiability`` (NaN if a lazy search did not train the adversary, or a race dropped the
        subset). A race adds ``dropped``.
    key : ResultKey
        Problem, engine, model, split, part and seed of the search.
    lazy : float or None
        Largest threshold that the table serves. None serves all.
    trained, found : int
        Models trained now, and models found in the result store.
    race : Race or None
        How many subsets a race dropped, and how many trees it grew. None for an exhaustive search.
    """

    table: pd.DataFrame
    key: ResultKey
    lazy: float | None
    trained: int
    found: int
    race: Race | None = None

    def select(self, threshold: float, **options: Any) -> pd.Series:
        """Choose a subset, see `sensorprivacy.minimize.select.select`."""
        return select(self.table, threshold, **options)

    def select_table(self, thresholds: Sequence[float] | None = None, **options: Any) -> pd.DataFrame:
        """Choose a subset at each threshold. Default: the paper's six, as far as the search or the race serves them."""
        if thresholds is None and self.race is not None:
            thresholds = self.race.thresholds
        elif thresholds is None:
            thresholds = [level for level in THRESHOLDS if self.lazy is None or level <= self.lazy]
        return select_table(self.table, thresholds, **options)


def search_subsets(
    problem: Problem,
    features: Sequence[Any] | None = None,
    *,
    lazy: float | None = None,
    race: bool | None = False,
    rule: Mapping[str, Any] | None = None,
    allow_long: bool = False,
    **options: Any,
) -> SearchResult:
    """Train a task model and an adversary on every non-empty subset of the features.

    The result does not depend on workers, backend, batches or interruptions.

    Parameters
    ----------
    problem : Problem
        Features, task labels and users.
    features : sequence of column names, optional
        The k features to search, at most 20. If there are more, preselect first (`sensorprivacy.minimize.greedy`).
        Default: all.
    lazy : float, optional
        Largest threshold of any later choice. The adversary is trained only on subsets whose task model passes it
        (the time estimate counts all subsets). Choices at thresholds up to it equal those of the full search.
    race : bool or None, default False
        Drop the subsets that cannot be chosen at any threshold of the paper (up to `lazy`) before their first tree or
        after a few, and finish the others. Their scores equal those of the exhaustive search. The choices can differ
        from its choices by as much as those of another seed do, see `sensorprivacy.minimize.search.racing`. Needs
        ``engine="shared"`` and forests of at least 8 trees. None races if that is possible and the exhaustive search
        is long: about ten minutes on two cores, and at least 11 features. This does not depend on the machine.
    rule : mapping, optional
        How subsets will be chosen from the table of a race: a ``threshold`` besides those above, or ``thresholds``
        instead of them, and the options ``reference``, ``margin``, ``slack``, ``chance`` and ``rows`` of `select`. The
        fewer thresholds, the more a race can drop: with ``{"thresholds": [0.01]}`` it serves this one only.
    allow_long : bool, default False
        Whether a search that takes more than an hour may start.
    **options
        ``model``, ``split``, ``part``, ``seed``, ``engine``, ``result_store``, ``n_jobs``, ``batch_size`` and
        ``progress`` of `sensorprivacy.minimize.search.job.SearchJob`.

    Returns
    -------
    SearchResult

    Raises
    ------
    TooManyFeaturesError
        If there are more than 20 features.
    SearchTooLongError
        If the search would take more than an hour and `allow_long` is False.
    ResultStoreError
        If the result store was made from other data, or is another kind of file.
    OSError
        If the result store cannot be written.
    KeyError
        If a feature does not exist.
    ValueError
        If the threshold is out of range, the training rows have one class only, or the engine cannot race.

    References
    ----------
    Paper 1, section 4.1.
    """
    if lazy is not None:
        check_threshold(lazy)
    with closing(SearchJob(problem, features, **options)) as job:
        racing = races(job, race)
        found = job.n_scores
        expected = job.estimate()
        seconds = expected.seconds
        if racing:
            seconds *= expected_share(len(job.positions), job.engine.n_trees)  # type: ignore[attr-defined]
        if seconds > HOUR and not allow_long:
            time = f"{expected}{f'; a race takes about {duration(seconds)}' if racing else ''}"
            remedy = "start it with allow_long=True, or search fewer features (n_preselect) or train fewer trees"
            raise SearchTooLongError(f"{len(job.positions)} features of {problem.name} mean {time}: {remedy}")
        if racing:
            told = dict(rule or {})
            thresholds = levels_of(lazy, told.pop("threshold", None), told.pop("thresholds", None))
            table, raced = Runner(job, thresholds, Rule(**told)).run()
        else:
            train_by_size(job, lazy)
            table, raced = job.table(lazy), None
        return SearchResult(table, job.key, lazy, job.n_scores - found, found, raced)


def train_by_size(job: SearchJob, lazy: float | None = None) -> None:
    """Train both models of every subset, from all features down to single ones.

    Large subsets are few and mostly accurate. So the highest accuracy is known almost at once, and the best choice so
    far can be shown during the search. Each size is finished before the next begins, so the result does not depend on
    batches, workers or interruptions.

    Parameters
    ----------
    job : SearchJob
        The search.
    lazy : float, optional
        Largest threshold l. The adversary is trained only if the task model can still pass it.
    """
    best, known = -math.inf, job.scores["task"]
    total = len(job.subsets) * (2 if lazy is None else 1)
    with tqdm(total=total, desc="search", unit="model", disable=not job.progress, dynamic_ncols=True) as bar:
        for _, same_size in groupby(reversed(job.subsets), key=len):
            level = list(same_size)
            job.train("task", level, bar)
            best = max([best, *(known[subset] for subset in level)])
            if lazy is not None:
                level = [subset for subset in level if known[subset] >= least_accuracy(best, lazy)]
                bar.total = (bar.total or 0) + len(level)
            job.train("users", level, bar)
            bar.set_postfix_str(_choice_so_far(job, best, _SHOWN if lazy is None else lazy))


def _choice_so_far(job: SearchJob, best: float, threshold: float) -> str:
    """Describe the subset that would be chosen if the search ended now."""
    least, (known, users) = least_accuracy(best, threshold), (job.scores[label] for label in LABELS)
    identifiability, size = min((users[s], len(s)) for s in known if known[s] >= least and s in users)
    return f"best {best:.4f}, so far {identifiability:.4f} with {size} features at {threshold:g}"
