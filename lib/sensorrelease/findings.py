"""All measurements of a comparison, as one table and as advice."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from sensorprivacy.game.joins import strongest_match
from sensorprivacy.game.tables import ROW
from sensorrelease.advice import LOSSES, Advice, advise
from sensorrelease.pages import numbered
from sensorrelease.results import Result

FAILED = "failed:"  # how the reason of a defence begins that raised an error


def hidden_in(found: "Findings") -> str:
    """Return what attackers infer: ``user``, or an attribute of people such as ``gender``."""
    return str(found.facts.get("hidden", "user"))


@dataclass(frozen=True)
class Untried:
    """A defence without a result, and why."""

    defence: str
    family: str
    reason: str


@dataclass(frozen=True, eq=False)
class Findings:
    """Measurements of defences by the same judge and the same attackers on the same rows.

    Attributes
    ----------
    problem : str
        Name of the problem.
    results : list of Result
        One for each judged defence; the first is the raw table.
    untried : list of Untried
        Defences that failed or did not fit into the time budget.
    facts : dict
        Size of the problem, split, model, seed, seconds, largest number of rows of a person; ``words``, by which
        `publish` knows the defences, and its other options.
    users : pandas.Series, optional
        The user of each row, to number the most exposed ones.
    """

    problem: str
    results: list[Result]
    untried: list[Untried]
    facts: dict[str, Any]
    users: pd.Series | None = None

    def who(self, label: Any) -> str:
        """Return how pages and files call a user: by the number in the order of all labels, because they name nobody.

        The classes of a hidden attribute, such as a gender, keep their labels.
        """
        return str(label) if self.users is None or hidden_in(self) != "user" else numbered(label, self.users)

    def __getitem__(self, name: str) -> Result:
        """Return the result of one defence."""
        return next(result for result in self.results if result.defence == name)

    @property
    def raw(self) -> Result:
        """The raw table's result."""
        return self.results[0]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each defence, measured on test rows.

        Columns: defence, family, trivial; accuracy of the task with ``_low`` and ``_high``, and loss against the raw
        table, paired, with ``_low`` and ``_high``; for the strongest attack (on whole groups if there are groups):
        attack, attack_low, attack_high (they allow for the choice among attackers), attacker, chance, n, unit; the
        same for single rows with prefix ``row_``; auc (macro, the highest); exposed (most exposed user, see `who`),
        exposed_recall, exposed_precision (empty if nobody is recognized); matched (share of rows that an attacker with
        the original values matches), matched_control, matched_by; n_columns; guarantee (text), guaranteed
        (whether it covers every column), epsilon_row, epsilon_person (of the person with most rows); seconds; reason
        (why there is no result).
        """
        rows = [self._row(result) for result in self.results]
        return pd.DataFrame(rows + [vars(one) for one in self.untried])

    def recommend(self, max_loss: float = 0.01, *, trivial: bool = False) -> Advice:
        """Return the defence with the weakest strongest attack among those that lose little accuracy.

        The choice is made on validation rows. All numbers of the advice are from test rows, which had no part in it.

        Parameters
        ----------
        max_loss : float, default .01
            Accuracy that the task may lose against the raw table, a fraction of the rows.
        trivial : bool, default False
            Whether releases that need no method, such as the prediction alone, may be chosen.

        Returns
        -------
        Advice
            See there how defences that do not differ are ordered.

        Raises
        ------
        ValueError
            If `max_loss` is not from 0 to 1.
        """
        advice = advise(self.results, max_loss, trivial=trivial)
        return replace(advice, command=self.command(advice.defence), hidden=hidden_in(self))

    def command(self, defence: str | None) -> str:
        """Return the command that publishes with a judged defence, or the call in Python for a table in memory.

        Empty if the defence has no word, or if nobody knows what the problem was read from.
        """
        word, asked = self.facts.get("words", {}).get(defence), self.facts.get("publish")
        if not word or not asked:
            return ""
        options = {"defence": word, **asked, "out": "release"}
        file = options.pop("file")
        if file is None:
            return f"publish(table, {', '.join(f'{name}={value!r}' for name, value in options.items())})"
        words = ["sensorprivacy", "publish", file]
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        return shlex.join(words)

    @property
    def without_files(self) -> "Findings":
        """The same findings for a page to hand on, which holds no name of a file."""
        asked = self.facts.get("publish")
        if not asked or asked["file"] is None:
            return self
        hidden = {"file": "FILE"} | ({"schema": "SCHEMA"} if "schema" in asked else {})
        return replace(self, facts={**self.facts, "publish": {**asked, **hidden}})

    @property
    def imbalance(self) -> str:
        """A warning if the raw table does not predict the task better than its most frequent class does."""
        measure, most = self.raw.task().measure, self.facts.get("most_frequent_class")
        if most is None or not measure.n or measure.score > max(measure.chance, most["share"]):
            return ""
        return (
            f"The accuracy on the raw table, {measure.score:.1%}, is not above the share of the most frequent class "
            f"({most['class']}: {most['share']:.1%} of the rows). The balanced accuracy, the mean recall over the "
            f"classes, is {measure.balanced:.1%}. A loss of accuracy says little here: rare classes may be lost unseen."
        )

    def recommendations(self, losses: Sequence[float] = LOSSES) -> pd.DataFrame:
        """Return the advice for several losses, one row each."""
        found = pd.DataFrame([self.recommend(loss).to_dict() for loss in losses])
        return found.apply(lambda column: column.astype(float) if column.isna().all() else column)

    def _row(self, result: Result) -> dict[str, Any]:
        row: dict[str, Any] = {name: getattr(result, name) for name in ("defence", "family", "trivial")}
        task, loss = result.task().measure, result.loss(self.raw)
        row |= {"accuracy": task.score, "accuracy_low": task.low, "accuracy_high": task.high}
        row |= {"accuracy_chance": task.chance, "loss": loss.value, "loss_low": loss.low, "loss_high": loss.high}
        for prefix, level in (("", result.levels[0]), ("row_", ROW)):
            attack = result.strongest(level)
            best = attack.measure
            row |= {f"{prefix}attack": best.score, f"{prefix}attack_low": best.low, f"{prefix}attack_high": best.high}
            row |= {f"{prefix}attacker": attack.attacker, f"{prefix}chance": best.chance}
            row |= {f"{prefix}n": best.n, f"{prefix}unit": best.unit}
        row["auc"] = max((line.measure.auc for line in result.attacks(ROW)), default=math.nan)
        shown = result.exposure()
        row["exposed"] = None if shown is None else self.who(shown.measure.exposed)
        row["exposed_recall"] = math.nan if shown is None else shown.measure.exposed_recall
        row["exposed_precision"] = math.nan if shown is None else shown.measure.exposed_precision
        best_match = strongest_match(result.matches)
        row |= {"matched": math.nan, "matched_control": math.nan, "matched_by": None}
        if best_match is not None:
            row |= {"matched": best_match.share, "matched_control": best_match.control, "matched_by": best_match.by}
        row |= {"n_columns": len(result.columns), "guarantee": " ".join(result.guarantees)}
        row |= {"guaranteed": result.guaranteed, "epsilon_row": result.epsilon}
        person = result.epsilon_person
        row["epsilon_person"] = result.epsilon * self.facts["rows_of_a_person"] if person is None else person
        return row | {"seconds": result.seconds, "reason": ""}
