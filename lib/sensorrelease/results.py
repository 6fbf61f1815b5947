"""What was measured for one defence, and a file that keeps it, so that an interrupted comparison continues."""

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from pickle import PicklingError
from typing import Any

import joblib
import numpy as np

from sensorprivacy.game.joins import Match
from sensorprivacy.game.outcome import LEVEL, Attack, Measure, strongest
from sensorprivacy.game.tables import GROUP, ROW
from sensorprivacy.game.units import Difference, difference
from sensorprivacy.minimize.engines import describe_model

_MOST_BYTES = 2**28  # of a file of results
Clusters = Callable[[str, str, str], np.ndarray | None]


@dataclass(frozen=True, eq=False)
class Result:
    """One judged defence.

    Attributes
    ----------
    defence, family, about, trivial, cost
        As in `sensorrelease.Defence`; `cost` for this table.
    columns : tuple of str
        Released columns.
    unchanged : int
        Number of released columns that equal the original ones.
    guarantees : tuple of str
        Statements of the defence.
    epsilon : float
        Privacy loss of one row; infinite without noise.
    seconds, judging : float
        Time of the processor to publish and judge, and to judge: other programs do not change it.
    judged : sequence of Attack
        The model of the task and all attackers, on both parts and levels.
    epsilon_person : float, optional
        As in `sensorrelease.Published`.
    matches : sequence of Match
        How many published rows each attacker with the original values finds.
    """

    defence: str
    family: str
    about: str
    trivial: bool
    cost: float
    columns: tuple[str, ...]
    unchanged: int
    guarantees: tuple[str, ...]
    epsilon: float
    seconds: float
    judging: float
    judged: Sequence[Attack]
    epsilon_person: float | None = None
    matches: Sequence[Match] = ()

    @property
    def guaranteed(self) -> bool:
        """Whether a guarantee covers every released column."""
        return bool(self.guarantees) and math.isfinite(self.epsilon) and not self.unchanged

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """Levels of the attacks, the strongest kind first: whole groups if there are groups, then rows."""
        return (GROUP, ROW) if any(line.level == GROUP for line in self.judged) else (ROW,)

    def task(self, part: str = "test") -> Attack:
        """Return the score of the task's judge."""
        return next(line for line in self.judged if line.about == "task" and line.part == part)

    def attacks(self, level: str, part: str = "test") -> list[Attack]:
        """Return the scores of all attackers at one level, the strongest first."""
        lines = [line for line in self.judged if line.about != "task" and (line.level, line.part) == (level, part)]
        return sorted(lines, key=lambda line: -line.measure.score)

    def strongest(self, level: str | None = None, part: str = "test") -> Attack:
        """Return the strongest attack at a level, with an interval that allows for the choice among attackers.

        By default, at the level of whole groups if there are groups.
        """
        return strongest(self.attacks(level or self.levels[0], part))

    @property
    def leaks(self) -> bool:
        """Whether an attack on test rows shows a leak.

        The interval of the strongest attack lies above chance, for groups or rows; or a permutation test on rows shows
        that someone is recognized, at a level divided by the number of attackers.
        """
        tested = self.attacks(ROW)
        best = [self.strongest(level).measure for level in self.levels]
        return any(one.low > one.chance for one in best) or any(
            min(line.measure.p, line.measure.p_any) * len(tested) < LEVEL / 2 for line in tested
        )

    def exposure(self, part: str = "test") -> Attack | None:
        """Return the attack on rows that recognizes one user best; None if no attacker recognizes anyone."""
        found = [line for line in self.attacks(ROW, part) if line.measure.recognizes_someone]
        return max(found, key=lambda line: line.exposure, default=None)

    def loss(self, raw: "Result", part: str = "test", confidence: float = 0.95) -> Difference:
        """Return the accuracy that the task loses against the raw table, on the same rows."""
        return _paired(raw.task(part), self.task(part), confidence)

    def attack_minus(self, other: "Result", level: str | None = None, part: str = "test") -> Difference:
        """Return the strongest attack on this release minus that on another, on the same rows or groups."""
        level = level or self.levels[0]
        return _paired(self.attacks(level, part)[0], other.attacks(level, part)[0])

    def to_record(self) -> dict[str, Any]:
        """Return JSON values from which `from_record` restores the result."""
        lines = []
        for line in self.judged:
            right = [len(line.right), np.packbits(line.right).tobytes().hex()]
            kept = ("attacker", "about", "level", "part", "exposure", "exposure_low")
            measure = asdict(line.measure) | {"exposed": str(line.measure.exposed)}
            lines.append({name: getattr(line, name) for name in kept} | {"measure": measure, "right": right})
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "judged"}
        return facts | {"judged": lines, "matches": [asdict(one) for one in self.matches]}

    @classmethod
    def from_record(cls, record: dict[str, Any], clusters: Clusters) -> "Result":
        """Restore a result; `clusters` has the groups of the judged rows, which the record leaves out."""
        lines = []
        for line in record["judged"]:
            n, packed = line["right"]
            right = np.unpackbits(np.frombuffer(bytes.fromhex(packed), np.uint8), count=n)
            measure, units = Measure(**line["measure"]), clusters(line["about"], line["level"], line["part"])
            shares = (measure.score, measure.low, measure.high, measure.chance, measure.p, measure.p_any)
            if any(share < 0 or share > 1 for share in shares) or len(right) != (n if units is None else len(units)):
                raise ValueError(f"a measurement of {line['attacker']} is out of its range")
            lines.append(Attack(**line | {"measure": measure, "right": right.astype(bool), "clusters": units}))
        tuples = {name: tuple(record[name]) for name in ("columns", "guarantees")}
        tuples["matches"] = tuple(Match(**one) for one in record["matches"])
        return cls(**record | tuples | {"judged": lines})


def _paired(first: Attack, second: Attack, confidence: float = 0.95) -> Difference:
    """Return the first score minus the second, on the same rows or groups."""
    unit = first.measure.unit
    return difference(first.right, second.right, first.clusters, unit=unit, confidence=confidence)


def settings_of(defence: Any, seed: int) -> str | None:
    """Return a text that differs between defences whose releases differ; None if there is none."""
    make = getattr(defence, "make", None)
    if make is None:
        return getattr(defence, "settings", None)
    step = make(seed)
    try:
        return f"{defence.name} {describe_model(step) if hasattr(step, 'get_params') else joblib.hash(step)}"
    except (PicklingError, TypeError, AttributeError):  # such as a class that was defined within a function
        return None


class Store:
    """A file of results, one JSON line each. A killed run loses at most the defence in flight.

    Parameters
    ----------
    path : pathlib.Path or None
        The file, made when the first result is kept. None keeps nothing.

    Raises
    ------
    ValueError
        If the file holds something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.found: dict[str, dict[str, Any]] = {}
        if path is None or not path.exists():
            return
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError(path)
            *lines, cut = path.read_text(encoding="utf-8").split("\n")
            for line in lines:
                entry = json.loads(line)
                self.found[str(entry["key"])] = dict(entry["result"])
            if not '{"key": '.startswith(cut[:8]):
                raise ValueError(cut)
        except (ValueError, TypeError, LookupError, RecursionError):
            raise ValueError(f"{path} holds no results of a comparison: name another file") from None
        if cut:  # when a process was killed
            os.truncate(path, path.stat().st_size - len(cut.encode()))

    def restore(self, key: str, clusters: Clusters) -> Result | None:
        """Return a kept result; None if there is none, or if another version of the program wrote it."""
        try:
            return Result.from_record(self.found[key], clusters)
        except (LookupError, TypeError, ValueError):
            return None

    def keep(self, key: str, result: Result) -> None:
        """Append a result.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        if self.path is None:
            return
        line = json.dumps({"key": key, "result": result.to_record()}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # readable by the user only: the results name the most exposed user
            with open(self.path, "a", encoding="utf-8", opener=partial(os.open, mode=0o600)) as file:
                file.write(line)
        except OSError as error:
            raise OSError(f"cannot keep results in {self.path}: {error.strerror}; name another file") from error
