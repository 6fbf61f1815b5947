"""Test the three papers' central claims on one problem: whether a defence keeps the task, and whether it protects."""

import pandas as pd

from compendium.verdicts.printed import claims_file
from sensorrelease.findings import Findings

MARGIN = 0.10  # an attack is prevented if its upper bound is below chance plus this
SHORT = "undecided (short settings)"


def central_claims(found: Findings, *, short: bool = False) -> pd.DataFrame:
    """Return the verdict on each paper's central claim, as far as its defence was judged.

    Parameters
    ----------
    found : Findings
        A comparison.
    short : bool, default False
        Whether it has short settings, which decide no claim of a paper.

    Returns
    -------
    pandas.DataFrame
        One row for each claim: paper, claim, defence, ``loss`` and ``gain`` (how much weaker the strongest attack is
        than on the raw release) with paired intervals, ``attack_high`` and ``chance``, ``keeps`` and ``protects`` (yes,
        no, undecided), ``verdict``: holds, does not hold, or undecided; for a defence without a result, its reason.
    """
    judged = {one.defence: one for one in found.results}
    why = {one.defence: one.reason for one in found.untried}
    rows = []
    for claim in claims_file()["central"]:
        first = claim["defences"][0]
        name = next((name for name in claim["defences"] if name in judged), None)
        row: dict[str, object] = {"paper": claim["paper"], "claim": claim["claim"], "defence": name or first}
        if name is None:
            rows.append(row | {"verdict": f"not tested: {why.get(first, 'not among the defences')}"})
            continue
        one = judged[name]
        loss, gain, attack = one.loss(found.raw), found.raw.attack_minus(one), one.strongest().measure
        for word, difference in (("loss", loss), ("gain", gain)):
            row |= {word: difference.value, f"{word}_low": difference.low, f"{word}_high": difference.high}
            row["n"] = f"{difference.n:,} {difference.unit}"
        limit = attack.chance + MARGIN
        ends = (limit - attack.high, limit - attack.low) if claim["prevented"] else (gain.low, gain.high)
        keeps, protects = _decided(claim["loss"] - loss.high, claim["loss"] - loss.low), _decided(*ends)
        row |= {"attack_high": attack.high, "chance": attack.chance, "keeps": keeps, "protects": protects}
        both = {keeps, protects}
        verdict = "holds" if both == {"yes"} else "does not hold" if "no" in both else "undecided"
        rows.append(row | {"verdict": SHORT if short else verdict})
    return pd.DataFrame(rows)


def _decided(low: float, high: float) -> str:
    """Return whether an interval decides that a value is above 0."""
    return "yes" if low > 0 else "no" if high <= 0 else "undecided"


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
    words |= {SHORT: f"{words['undecided']}, because the settings are short"}
    sentences = [
        f"On the raw data of {found.problem}, the strongest attack identifies {raw.score:.0%} "
        f"({raw.low:.0%} to {raw.high:.0%}, n = {raw.n:,} {raw.unit}); chance is {raw.chance:.0%}."
    ]
    sentences += [f"For a loss of at most {loss:.0%}: {found.recommend(loss).text}" for loss in (0.01, 0.1)]
    for paper, verdict in zip(claims["paper"], claims["verdict"], strict=True):
        sentences.append(f"Paper {paper}'s central claim {words.get(verdict, f'was {verdict}')}.")
    return " ".join(sentences)
