"""Compare defences on one problem: one split, one judge, the same attackers for all, within a time budget."""

import hashlib
import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.chance import DRAWS, FEWEST_DRAWS
from sensorprivacy.game.play import seeded
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import PARTS, TABLE_ATTACKERS, TableScene, as_numbers, judge, table_question, with_task
from sensorprivacy.minimize.engines import describe_model
from sensorprivacy.minimize.search.job import duration
from sensorprivacy.progress import tqdm
from sensorrelease.budget import Budget, busy
from sensorrelease.checks import check_labels, check_learnable, identifying, split_of
from sensorrelease.compare_page import write_html, write_json
from sensorrelease.defences import Defence
from sensorrelease.findings import FAILED, Findings, Untried, hidden_in
from sensorrelease.publishing.matching import compared
from sensorrelease.results import Result, Store, settings_of
from sensorrelease.running import OutOfTimeError, at_most
from sensorrelease.tables import own_problem
from sensorrelease.words import RAW, chosen_defences

VERSION = 8  # raise it when results change: stored ones are then ignored
MOST_ROWS = 10_000
_MATCHED = 1000  # rows of a release that are matched with their originals
_RESERVE, _FORESTS = 1.2, 8  # estimates are raised by the first; a judgement trains about so many forests


class Comparison(Findings):
    """Defences that were judged on the same rows; see `Findings` for the numbers."""

    def plot(self) -> Any:
        """Return a figure: accuracy of the task against the strongest attack, with intervals, chance and guarantees."""
        from sensorrelease.chart import frontier  # matplotlib takes a second, and most commands draw nothing

        return frontier(self.frame, hidden_in(self))

    to_html, to_json = write_html, write_json


class ComparisonInterrupted(KeyboardInterrupt):
    """Raised by Ctrl-C after the first result; `comparison` has everything that was measured so far."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("interrupted")
        self.comparison = comparison


def compare(
    problem: Any,
    defences: Mapping[str, Any] | Iterable[Any] | None = None,
    minutes: float = 10,
    *,
    task: str | None = None,
    user: str | None = None,
    recording: str | None = None,
    schema: Any = None,
    bins: int | None = None,
    split: Split | None = None,
    model: BaseEstimator | None = None,
    attackers: Mapping[str, Any] | None = None,
    task_published: bool = True,
    seed: int = 42,
    max_rows: int | None = MOST_ROWS,
    draws: int = DRAWS,
    store: str | Path | None = None,
    began: float | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare defences on a table: accuracy of the task against the strongest attack.

    Parameters
    ----------
    problem : Problem, path, or pandas, polars or Arrow table
        Features, task labels, users and, if rows come in recordings, groups; or a table that has them, or its file.
    defences : mapping or iterable, optional
        Words (see `sensorrelease.parse`), `Defence` objects, or a mapping of names to scikit-learn
        transformers. Default: `table_defences`. The raw table is always judged first. Anything with the attributes of
        a `Defence` (``make`` apart) and its method ``publish`` is a defence; it can release other columns than those
        of the problem. Its results are stored if it has a text ``settings``, which differs where releases differ.
    minutes : float, default 10
        Time budget. The first defence of each family comes before its variants, and cheap ones before dear ones. A
        variant that is expected to exceed the budget is not started, nor the first of a family that is expected to take
        three times the time that is left: estimates are rough. What still runs is stopped 5 % and 2 seconds after the
        budget, see `running.at_most`. The first of a family counts processor time, up to three times the budget by the
        clock: other programs on the machine do not decide which families are tried.
    task, user, recording, schema, bins
        Of a table or file, see `tables.own_problem`. Without a schema, a draft is assumed, and a warning says so.
    split : Split, optional
        Default: half of the rows for training, a quarter to choose on and a quarter for the reported results; whole
        groups if there are groups. A split without validation rows is halved.
    model : scikit-learn classifier with probabilities, optional
        The judge of the task and the attackers' forest. Default: ``RandomForestClassifier()``.
    attackers : mapping, optional
        Default: `sensorprivacy.game.TABLE_ATTACKERS`.
    task_published : bool, default True
        Whether attackers see the task column beside the released ones, because `publish` writes it. They never see it
        beside a release that replaces it, such as the prediction.
    seed : int, default 42
        Seed of split, models and noise. Noise with a seed protects nobody: it is for this comparison only.
    max_rows : int or None
        Largest number of training rows, and of rows in each held-out part.
    draws : int
        Permutations of each test: at least 40 times the number of attackers.
    store : path-like, optional
        File that keeps each result. The next run with the same problem and settings continues from it.
    began : float, optional
        Value of ``time.monotonic()`` when the budget began, if reading the data counts. Default: now.
    progress : bool, default True
        Show a progress bar on terminals.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If nothing can be compared: one user or task class, a task that the raw table does not predict better than
        chance, no held-out row of a known user, a budget that is too short for the raw table, unknown defences.
    ComparisonInterrupted
        After Ctrl-C, once there is a result.

    Examples
    --------
    >>> from sensorprivacy import example_problem
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> options = {"model": RandomForestClassifier(10), "progress": False}
    >>> found = compare(example_problem(), ["minimize:threshold=.03", "noise:epsilon=4"], **options)
    >>> found.recommend(max_loss=0.05).defence
    'minimize:threshold=0.03'
    """
    if not 0 < minutes < math.inf:
        raise ValueError(f"minutes={minutes}: give a time budget above 0")
    budget = Budget(60 * minutes, began)
    attack = TABLE_ATTACKERS if attackers is None else attackers
    if draws < (fewest := FEWEST_DRAWS * len(attack)):
        raise ValueError(f"draws={draws}: {len(attack)} attackers need at least {fewest} to show a leak at 2.5 %")
    chosen = chosen_defences(defences)
    named = {"task": task, "user": user, "recording": recording, "schema": schema, "bins": bins}
    problem = _problem(problem, named, seed)
    check_labels(problem.task, problem.users)
    split = split_of(problem, split, seed, max_rows)
    problem = problem.filled(split.train)
    player = seeded(RandomForestClassifier() if model is None else model, seed)
    known = with_task(problem) if task_published else None
    race = _Race(problem, known, split, player, attack, seed, draws, Store(None if store is None else Path(store)))
    race.words = {one.name: getattr(one, "word", "") for one in chosen}
    race.main = {one.family: one.name for one in reversed(chosen)}
    chosen = sorted(chosen, key=race.turn)
    try:
        with tqdm(total=len(chosen), desc="compare", disable=not progress) as bar:
            for one in chosen:
                bar.set_postfix_str(one.name)
                race.run(one, budget)
                bar.update()
    except KeyboardInterrupt:
        if not race.results:
            raise
        done = {one.defence for one in race.results} | {one.defence for one in race.untried}
        for one in chosen:
            if one.name not in done:
                race.leave(one, "interrupted")
        raise ComparisonInterrupted(race.comparison(budget.spent)) from None
    failed = [f"{one.defence} {one.reason}" for one in race.untried if one.reason.startswith(FAILED)]
    if failed and len(failed) == len(chosen) - 1:
        raise ValueError(f"no defence could be judged: {'; '.join(failed[:3])}")
    return race.comparison(budget.spent)


@dataclass
class _Race:
    """The comparison in progress."""

    problem: Problem
    known: Problem | None
    split: Split
    model: Any
    attackers: Mapping[str, Any]
    seed: int
    draws: int
    store: Store
    results: list[Result] = field(default_factory=list)
    untried: list[Untried] = field(default_factory=list)
    words: Mapping[str, str] = field(default_factory=dict)  # by which `publish` knows the defences
    main: Mapping[str, str] = field(default_factory=dict)  # the first defence of each family
    judging: float = 0.0  # seconds of the processor for one judgement
    fitting: dict[str, float] = field(
        default_factory=dict
    )  # seconds of the processor that defences of a kind took to publish
    shared: set[str] = field(default_factory=set)

    def key(self, settings: str) -> str:
        """Return what identifies a result in the store."""
        facts = {"version": VERSION, "problem": self.problem.digest, "split": self.split.digest, "seed": self.seed}
        facts |= {"draws": self.draws, "model": describe_model(self.model), "attackers": list(self.attackers)}
        text = json.dumps(facts | {"task": self.known is not None, "defence": settings})
        return hashlib.sha256(text.encode()).hexdigest()

    def is_main(self, defence: Defence) -> bool:
        """Return whether a defence is the first of its family; the others are variants."""
        return self.main[defence.family] == defence.name

    def turn(self, defence: Defence) -> tuple[Any, ...]:
        """Return where a defence comes: the raw table, the first of each family, variants; each the cheapest first."""
        main = self.is_main(defence)
        return defence.name != RAW, not main, (main or not defence.shares) * defence.cost(self.problem.n_features)

    def leave(self, defence: Defence, reason: str) -> None:
        """Note why a defence has no result."""
        self.untried.append(Untried(defence.name, defence.family, reason))

    def run(self, defence: Defence, budget: Budget) -> None:
        """Judge one defence, or note why not."""
        settings = settings_of(defence, self.seed)
        kept = self.store.restore(self.key(settings), self._clusters) if settings else None
        if kept is not None:
            self._add(kept)
            return
        expected, main = self.expected(defence), self.is_main(defence)
        if self.results and not budget.allows(expected, main):
            left = duration(max(budget.left(main), 0))
            self.leave(defence, f"takes about {duration(expected)}, and {left} of the budget are left")
            return
        began = time.monotonic()
        try:
            with at_most(budget.stop(main)):
                result = self._judge(defence)
        except OutOfTimeError:
            ran = duration(time.monotonic() - began)
            if defence.name == RAW:
                raise ValueError(
                    f"minutes={budget.seconds / 60:g} gave no first answer: judging the raw table was stopped after "
                    f"{ran}. Give more time, fewer rows (max_rows) or a smaller model"
                ) from None
            self.leave(defence, f"stopped after {ran}, because the budget of {duration(budget.seconds)} was over")
            return
        except Exception as error:  # a defence of the user's may raise anything; the others go on
            if defence.name == RAW:
                raise
            self.leave(defence, f"{FAILED} {' '.join(str(error).split()) or type(error).__name__}")
            return
        self._add(result)
        if settings is not None:
            self.store.keep(self.key(settings), result)

    def expected(self, defence: Defence) -> float:
        """Return about how many seconds of the processor a defence will take."""
        forest = self.results[0].judging / _FORESTS if self.results else 0.0
        fitting = self.fitting.get(_kind(defence.name), defence.cost(self.problem.n_features) * forest)
        # the raw table is judged fastest: rewritten columns mean one more forest, and noise means deeper trees
        judging = self.judging * (2 if len(self.results) == 1 else 1)
        return _RESERVE * (judging + (0.0 if defence.shares and defence.shares in self.shared else fitting))

    def comparison(self, seconds: float) -> Comparison:
        """Return everything that was measured so far."""
        shares, known = self.problem.task.value_counts(normalize=True), self.problem.provenance
        facts = {
            "rows": self.problem.n_records,
            "columns": self.problem.n_features,
            "users": int(self.problem.users.nunique()),
            "classes": int(self.problem.task.nunique()),
            "rows_of_a_person": int(known.get("rows_of_a_person", self.problem.users.value_counts().max())),
            "most_frequent_class": {"class": str(shares.index[0]), "share": float(shares.iloc[0])},
            "split": self.split.how,
            "task_published": self.known is not None,
            "hidden": known.get("hidden", "user"),
            "model": describe_model(self.model),
            "seed": self.seed,
            "seconds": seconds,
            "digest": self.problem.digest,
        }
        facts |= {"words": self.words, "publish": known.get("publish")}
        facts["table"] = {name: known[name] for name in ("form", "rows_read", "notices", "columns") if name in known}
        return Comparison(self.problem.name, self.results, self.untried, facts, self.problem.users)

    def _judge(self, defence: Defence) -> Result:
        began = busy()
        published = defence.publish(self.problem, self.split.train, self.seed)
        fitted = busy()
        values, raw = as_numbers(published.values), self.problem.features
        seen: dict[str, Any] = {"codes": published.codes, "parts": PARTS, "identifying": identifying(self.problem)}
        scene = TableScene(self.problem, values, self.split, self.model, **seen)
        known = self.known if published.with_task else None
        lines = judge(scene, self.attackers, known=known, draws=self.draws)
        matches = compared(self.problem, published, with_task=known is not None, seed=self.seed, rows=_MATCHED)
        ended = busy()
        self.shared.add(defence.shares)
        return Result(
            defence=defence.name,
            family=defence.family,
            about=defence.about,
            trivial=defence.trivial,
            cost=float(defence.cost(self.problem.n_features)),
            columns=tuple(map(str, values)),
            unchanged=sum(name in raw and np.array_equal(values[name], raw[name].astype(float)) for name in values),
            guarantees=published.guarantees,
            epsilon=published.epsilon,
            seconds=ended - began,
            judging=ended - fitted,
            judged=lines,
            epsilon_person=published.epsilon_person,
            matches=matches,
        )

    def _clusters(self, about: Any, level: str, part: str) -> np.ndarray | None:
        """Return the groups of judged rows, which the store leaves out."""
        return table_question(self.problem, self.split, about, level, part).judged_clusters

    def _add(self, result: Result) -> None:
        if not self.results:
            check_learnable(self.problem, result)
        self.results.append(result)
        self.judging = max(self.judging, result.judging)
        kind = _kind(result.defence)
        self.fitting[kind] = max(self.fitting.get(kind, 0.0), result.seconds - result.judging)


def _problem(source: Any, named: dict[str, Any], seed: int) -> Problem:
    """Return a problem as it is, or the one that a table or file holds."""
    if isinstance(source, Problem):
        if given := [name for name, value in named.items() if value is not None]:
            raise ValueError(f"a Problem has its own labels and features: leave {', '.join(given)} out")
        return source
    return own_problem(source, **named, seed=seed)


def _kind(name: str) -> str:
    """Return a name without its numbers: defences of one kind take about the same time."""
    return re.split("[=,]", name)[0]
