"""The findings on the first page. Every number comes from a committed table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.verdicts.words import HEADLINE

GAME = "50_one_game-motionsense-subject"
SPLIT = "10_reidentification_game-motionsense"
ATTACK = "31_reidentification_attack-motionsense-gender"
CITED = (GAME, SPLIT, ATTACK)
"""The runs whose results the first page links."""


def findings(figures: Path, verdicts: pd.DataFrame) -> list[str]:
    """Return five findings in Markdown, one for each paper, one over all papers, one on the replication itself.

    Parameters
    ----------
    figures : pathlib.Path
        The folder ``figures/`` with the results of the paper profile.
    verdicts : pandas.DataFrame
        ``figures/verdicts.csv``.
    """
    of_papers = [_paper_1(figures), _paper_2(figures, verdicts), _paper_3(figures)]
    return [_together(figures), *of_papers, _replication(verdicts)]


def percent(value: float) -> str:
    """Return a share as whole percents."""
    return f"{100 * value:.0f} %"


def _rows(path: Path, key: str) -> dict[str, dict[Any, Any]]:
    """Return the rows of a CSV file by the value of one of their columns."""
    return {str(row[key]): row for row in pd.read_csv(path).to_dict("records")}


def _interval(row: Mapping[Any, Any], value: str, low: str, high: str) -> str:
    return f"{percent(row[value])} (95 % interval {100 * row[low]:.0f} to {100 * row[high]:.0f})"


def _together(figures: Path) -> str:
    table = _rows(figures / GAME / "defences.csv", "defence")
    raw, alone = table["none"], table["prediction"]
    left = {name: percent(row["attack"]) for name, row in table.items()}
    return (
        f"**No published defence keeps both promises.** On raw data of {raw['n']:.0f} recordings, the strongest attack "
        f"identifies the person of {left['none']}; chance is {percent(raw['chance'])}. Dropping columns leaves "
        f"{left['minimize:threshold=0.01']}, three-way division {left['threeway:printed']}, and the probabilistic "
        f"shift {left['shift, probabilistic']}. Publishing only the predicted activity leaves {left['prediction']} and "
        f"keeps {percent(alone['accuracy'])} accuracy. [Table](results/{GAME}.md)"
    )


def _paper_1(figures: Path) -> str:
    run = SPLIT
    mixed, apart = pd.read_csv(figures / run / "base.csv").to_dict("records")[:2]

    def share(row: Mapping[Any, Any]) -> str:
        """Return a share; with its interval only where the result states what the interval counts."""
        if not isinstance(row.get("unit"), str):
            return percent(row["identifiability"])
        ends = _interval(row, "identifiability", "identifiability_low", "identifiability_high")
        return f"{ends.removesuffix(')')}, {row['identifiability_n']:,.0f} {row['unit']})"

    return (
        f"**The split decides how identifiable people look (paper 1).** If windows of one recording lie on both sides "
        f"of the split, as in the paper's code, a model identifies the person in {share(mixed)} of the windows of "
        f"MotionSense. If whole recordings stay together, it does so in {share(apart)}. "
        f"[Table](results/{run}.md)"
    )


def _paper_2(figures: Path, verdicts: pd.DataFrame) -> str:
    own = verdicts[(verdicts["paper"] == 2) & verdicts["table"].isin([str(n) for n in range(9, 14)])]
    table = _rows(figures / "21_threeway_division-adult" / "as-stated.csv", "variant")
    gained = table["as printed"]["utility"]
    stated = table["mean-entropy ratio on the rows of Table 4"]["utility"]
    return (
        f"**The tables of paper 2 reproduce, but not from its text.** {int((own['verdict'] == 'exact').sum())} of "
        f"{len(own)} printed values of Tables 9 to 13 are exact. They need 1,309 rows of Adult, not the stated 48,842, "
        f"on which utility is {stated:.2f} instead of {gained:.2f} ([D7](#d7)). Algorithm 1 as written does not stop "
        f"([D6](#d6)), and its noise is not differentially private ([D8](#d8)). [Paper 2](papers/paper-2.md)"
    )


def _paper_3(figures: Path) -> str:
    run = ATTACK
    table = pd.read_csv(figures / run / "figure-8.csv")
    rows = table[table["release"] == "probabilistic"].set_index("level").to_dict("index")
    window, person = rows["window"], rows["person"]
    return (
        f"**The coin toss of paper 3 does not prevent re-identification.** After the probabilistic change, the paper's "
        f"own attacker infers the gender of {_interval(window, 'score', 'low', 'high')} of the windows; chance is "
        f"{percent(window['chance'])}. From all windows of a person it is {percent(person['score'])} of the "
        f"{person['n']} ([D1](#d1)). "
        f"[Results](results/{run}.md)"
    )


def _replication(verdicts: pd.DataFrame) -> str:
    decisive = verdicts["basis"].isin(HEADLINE)
    count = verdicts[decisive]["verdict"].value_counts()
    row = verdicts[verdicts["claim_id"] == "3-text-general-vae-weights"].to_dict("records")[0]
    known = int(decisive.sum()) - count["no data"] - count["undecided"]
    return (
        f"**Most printed values that can be checked reproduce.** {int(decisive.sum())} of {len(verdicts):,} printed "
        "values need data, logs or a test for a check. "
        f"For {count['no data']} of them the data are not available, and for {count['undecided']} they do not decide. "
        f"Of the other {known}, {count['exact']} are exact, {count['within']} lie within our interval, and "
        f"{count['differs'] + count['not reproducible']} differ or contradict themselves. For example, by the layers "
        f"of the authors' later code, a general autoencoder has {float(row['ours']):.1f} times the weights of the "
        f"specific ones, not {row['printed']} times "
        "([D3](#d3)). [Verdict explorer](verdicts.md)"
    )
