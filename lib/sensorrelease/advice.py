"""Choose a defence on validation rows, and say on test rows what the choice is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sensorprivacy.game.outcome import LEVEL, Measure
from sensorprivacy.game.tables import ROW
from sensorprivacy.game.units import Difference
from sensorrelease.pages import one_line
from sensorrelease.results import Result

LOSSES = (0.01, 0.03, 0.1)
"""Losses of accuracy for which tables name the best defence."""
_CAUTIOUS = 0.68  # coverage of an interval of one standard error to each side


@dataclass(frozen=True, repr=False)
class Advice:
    """A recommended defence. It was chosen on validation rows; every number here is from test rows.

    A defence qualifies if its loss on validation rows is at most `max_loss`. Of these, the defences stay whose
    strongest attack does not differ from the weakest of them, pooled over groups, then on single rows; then those whose
    most exposed user is not clearly more exposed. Of the defences that are left, the one with the weakest attack is
    chosen, pooled, then on single rows; an attack below chance is as weak as one at chance. If attacks are equal, these
    come first: one whose loss is at most `max_loss` by a standard error; one whose guarantee covers every column; fewer
    columns; the simpler one.

    Attributes
    ----------
    max_loss : float
        Tolerated loss of accuracy.
    defence : str or None
        The recommended defence; None if none qualifies.
    qualified : tuple of str
        All defences that qualified.
    alike : tuple of str
        Defences whose attack did not differ from the weakest.
    loss : Difference or None
        Loss of accuracy against the raw table, paired.
    gain : Difference or None
        How much weaker the strongest attack is than on the raw table, paired; pooled if there are groups.
    row_gain : Difference or None
        The same for single rows, if there are groups.
    runner_up : str or None
        The next best defence of another family.
    lead : Difference or None
        How much weaker the strongest attack is than on the runner-up's release, paired.
    attack : Measure or None
        The strongest attack, with an interval that allows for the choice of the strongest.
    smallest : str or None
        Of all that qualified, the defence that releases the fewest columns.
    hidden : str
        What attackers infer: the user, or an attribute of people.
    closest : str or None
        If none qualifies, the defence that loses least on validation rows.
    raw_leaks : bool
        Whether an attack on the raw table exceeds chance, see `Result.leaks`.
    command : str
        The command that publishes with the recommended defence, see `Findings.command`.
    """

    max_loss: float
    defence: str | None
    qualified: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    loss: Difference | None = None
    gain: Difference | None = None
    row_gain: Difference | None = None
    runner_up: str | None = None
    lead: Difference | None = None
    attack: Measure | None = None
    smallest: str | None = None
    closest: str | None = None
    raw_leaks: bool = True
    command: str = ""
    hidden: str = "user"

    def __repr__(self) -> str:
        """Return the advice in words, and the command."""
        return f"{self.text}\n\n{self.command}".strip()

    @property
    def keeps_task(self) -> bool | None:
        """Whether the loss is at most `max_loss`: True or False if the interval decides, None if it does not."""
        if self.loss is None or self.loss.high <= self.max_loss:
            return self.loss is not None
        return False if self.loss.low > self.max_loss else None

    @property
    def protects(self) -> bool:
        """Whether the strongest attack is weaker than on the raw table by more than its interval."""
        return self.gain is not None and self.gain.low > 0

    @property
    def leads(self) -> bool:
        """Whether the strongest attack is weaker than the runner-up's by more than its interval."""
        return self.lead is not None and self.lead.low > 0

    @property
    def text(self) -> str:
        """The advice in words."""
        return one_line("advice.txt", one=self)

    def to_dict(self) -> dict[str, Any]:
        """Return all values as one flat row."""
        row: dict[str, Any] = {"max_loss": self.max_loss, "defence": self.defence}
        row |= {"attack": getattr(self.attack, "score", None), "chance": getattr(self.attack, "chance", None)}
        for name in ("loss", "gain", "row_gain", "lead"):
            found = getattr(self, name)
            row |= {f"{name}{end and '_' + end}": getattr(found, end or "value", None) for end in ("", "low", "high")}
        facts = ["raw_leaks", "keeps_task", "protects", "leads", "runner_up", "qualified", "alike", "smallest"]
        facts += ["text", "command"]
        return row | {name: getattr(self, name) for name in facts}


def advise(results: Sequence[Result], max_loss: float, *, trivial: bool = False) -> Advice:
    """Choose on validation rows; see `Advice` for the rule, and `Comparison.recommend`."""
    if not 0 <= max_loss <= 1:
        raise ValueError(f"max_loss={max_loss}: give a share of the accuracy, from 0 to 1")
    raw, part = results[0], "validation"
    open_to = [one for one in results[1:] if trivial or not one.trivial]
    losses = {one.defence: one.loss(raw, part, _CAUTIOUS) for one in open_to}
    qualified = [one for one in open_to if losses[one.defence].value <= max_loss]
    if not qualified:
        closest = min(open_to, key=lambda one: losses[one.defence].value, default=None)
        return Advice(max_loss, None, closest=None if closest is None else closest.defence, raw_leaks=raw.leaks)
    safe = {name for name, loss in losses.items() if loss.high <= max_loss}
    best, alike = _best(qualified, safe)
    others = [one for one in qualified if one.family != best.family]
    second = _best(others, safe)[0] if others else None
    return Advice(
        max_loss,
        best.defence,
        tuple(one.defence for one in qualified),
        tuple(one.defence for one in alike),
        best.loss(raw),
        raw.attack_minus(best),
        raw.attack_minus(best, ROW) if raw.levels[0] != ROW else None,
        None if second is None else second.defence,
        None if second is None else second.attack_minus(best),
        best.strongest().measure,
        min(qualified, key=lambda one: (len(one.columns), _attack(one, one.levels[0]), one.cost)).defence,
        raw_leaks=raw.leaks,
    )


def _best(candidates: Sequence[Result], safe: set[str]) -> tuple[Result, list[Result]]:
    """Return the best candidate, and those whose attack does not differ from the weakest; see `Advice`."""
    left = list(candidates)
    for level in left[0].levels:
        weakest = min(left, key=lambda one: _attack(one, level))
        left = [one for one in left if one is weakest or not _stronger(one, weakest, level)]
    alike = left
    least = min(_exposed(one)[1] for one in left)
    left = [one for one in left if _exposed(one)[0] <= least]

    def order(one: Result) -> tuple[Any, ...]:
        attacks = [_attack(one, level) for level in one.levels]
        return *attacks, one.defence not in safe, not one.guaranteed, len(one.columns), one.cost, one.defence

    return min(left, key=order), alike


def _attack(one: Result, level: str) -> float:
    """Return the score of the strongest attack on validation rows, or chance if that is higher."""
    measure = one.attacks(level, "validation")[0].measure
    return max(measure.score, measure.chance)


def _stronger(one: Result, weakest: Result, level: str) -> bool:
    above = _attack(one, level) > _attack(weakest, level)
    return above and one.attack_minus(weakest, level, "validation").p < LEVEL


def _exposed(one: Result) -> tuple[float, float]:
    """Return the lower end and the estimate of the most exposed user's exposure; 0 if nobody is recognized."""
    shown = one.exposure("validation")
    return (0.0, 0.0) if shown is None else (shown.exposure_low, shown.exposure)
