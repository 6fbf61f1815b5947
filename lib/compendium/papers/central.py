"""Test the three papers' central claims on one problem: whether a defence keeps the task, and whether it protects."""

from dataclasses import dataclass

import pandas as pd

from sensorprivacy.game.units import Difference
from sensorprivacy.own.findings import Findings

MARGIN = 0.10  # an attack is prevented if its upper bound is below chance plus this


@dataclass(frozen=True)
class Claim:
    """A paper's claim about its defence.

    Attributes
    ----------
    paper : int
        The paper.
    claim : str
        The claim in one sentence.
    defences : tuple of str
        Names of the defence in a comparison; the first that was judged counts.
    loss : float
        Loss of accuracy that the paper tolerates.
    prevented : bool
        Whether the paper claims that the attack fails, not only that it becomes weaker.
    """

    paper: int
    claim: str
    defences: tuple[str, ...]
    loss: float
    prevented: bool = False


CLAIMS = (
    Claim(
        1,
        "Fewer columns keep the accuracy within 1 point, and users are harder to identify.",
        ("minimize:threshold=0.01", "minimize:threshold=0.01,preselect=7"),
        0.01,
    ),
    Claim(
        2,
        "Three-way division with noise keeps the accuracy within 10 points, and users are harder to identify.",
        ("threeway:printed", "threeway:epsilon=4"),
        0.10,
    ),
    Claim(
        3,
        "A shift to a random class keeps the accuracy within 10 points, and prevents the attack.",
        ("shift, probabilistic",),
        0.10,
        prevented=True,
    ),
)


def central_claims(found: Findings) -> pd.DataFrame:
    """Return the verdict on each paper's central claim, as far as its defence was judged.

    Parameters
    ----------
    found : Findings
        A comparison.

    Returns
    -------
    pandas.DataFrame
        One row for each claim: paper, claim, defence, ``loss`` and ``gain`` (how much weaker the strongest attack is
        than on the raw release) with paired intervals, ``attack_high`` and ``chance``, ``keeps`` and ``protects`` (yes,
        no, undecided), ``verdict``: holds, does not hold, or undecided; for a defence without a result, its reason.
    """
    judged = {one.defence: one for one in found.results}
    rows = []
    for claim in CLAIMS:
        name = next((name for name in claim.defences if name in judged), None)
        row: dict[str, object] = {"paper": claim.paper, "claim": claim.claim, "defence": name or claim.defences[0]}
        if name is None:
            why = {one.defence: one.reason for one in found.untried}
            rows.append(row | {"verdict": f"not tested: {why.get(claim.defences[0], 'not among the defences')}"})
            continue
        one = judged[name]
        loss, gain, attack = one.loss(found.raw), found.raw.attack_minus(one), one.strongest().measure
        keeps = _decided(claim.loss - loss.high, claim.loss - loss.low)
        limit = attack.chance + MARGIN
        protects = (
            _decided(limit - attack.high, limit - attack.low) if claim.prevented else _decided(gain.low, gain.high)
        )
        row |= _values("loss", loss) | _values("gain", gain)
        row |= {"attack_high": attack.high, "chance": attack.chance, "keeps": keeps, "protects": protects}
        both = {keeps, protects}
        verdict = "holds" if both == {"yes"} else "does not hold" if "no" in both else "undecided"
        rows.append(row | {"verdict": verdict})
    return pd.DataFrame(rows)


def _decided(low: float, high: float) -> str:
    """Return whether an interval decides that a value is above 0."""
    return "yes" if low > 0 else "no" if high <= 0 else "undecided"


def _values(name: str, found: Difference) -> dict[str, object]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high, "n": f"{found.n:,} {found.unit}"}


def conclusion(found: Findings, claims: pd.DataFrame) -> str:
    """Return the result of a comparison in a few sentences, from its numbers.

    Parameters
    ----------
    found : Findings
        A comparison.
    claims : pandas.DataFrame
        As returned by `central_claims`.
    """
    raw = found.raw.strongest().measure
    words = {"holds": "holds here", "does not hold": "does not hold here", "undecided": "is undecided here"}
    return " ".join(
        [
            f"On the raw data of {found.problem}, the strongest attack identifies {raw.score:.0%} "
            f"({raw.low:.0%} to {raw.high:.0%}, n = {raw.n:,} {raw.unit}); chance is {raw.chance:.0%}.",
            *(f"For a loss of at most {loss:.0%}: {found.recommend(loss).text}" for loss in (0.01, 0.1)),
            *(
                f"Paper {paper}'s central claim {words.get(verdict, f'was {verdict}')}."
                for paper, verdict in zip(claims["paper"], claims["verdict"], strict=True)
            ),
        ]
    )
