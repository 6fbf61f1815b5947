"""Compare Tables 2 and 3 with other people: MobiFall's nine, eight of whom are among the paper's 36.

The printed values keep their verdicts, which need MobiAct itself. Those here stand beside them and are not counted.
"""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from compendium.papers.paper3.values import OTHERS, TABLES, over_trainings
from compendium.show.tables import number_text
from compendium.verdicts.prediction import FEWEST
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import COLUMNS
from compendium.verdicts.words import SIGNS

PAPERS_PEOPLE = 36
WIDEST = 0.2
"""The widest interval over people that can decide about an accuracy: a value 10 points away lies outside."""
_COLUMNS = [name for name in COLUMNS if name != "run"]


def compare_people(
    dataset: str,
    private: str,
    table: pd.DataFrame,
    provenance: Mapping[str, Any],
    trainings: pd.DataFrame | None = None,
    *,
    protocol: tuple[str, str] = ("paper", "deterministic"),
) -> pd.DataFrame:
    """Return a verdict on each cell of Table 2 or 3 from other people than the paper's.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute. A pair without a printed table has no rows, and no other protocol has any.
    table : pandas.DataFrame
        For each public class: accuracies before and after, each with the ends of its interval over people; ``windows``;
        ``n``, such as "9 people". See `latent.inference_table`.
    provenance : mapping
        ``people`` by the set that they were read from; ``paper_people``, how many of them are among the paper's; and
        ``most``, if the run keeps only some windows of each recording.
    trainings : pandas.DataFrame, optional
        The same accuracies for each training, as for `values.over_trainings`.
    protocol : tuple of str
        The notebook's ``scheme`` and ``modify``.

    Returns
    -------
    pandas.DataFrame
        The columns of `verdicts.COLUMNS` without ``run``. *within*: the printed accuracy lies in our interval over
        people, which is at most `WIDEST` wide. *differs*: it lies outside, and outside the prediction interval over
        trainings. *undecided*: the interval is too wide, there are fewer than five trainings, or the value differs in a
        run that keeps only some windows, because networks trained on all of them may agree. Numbers of windows are
        scaled to 36 people; their interval is over draws of the test windows.
    """
    meant = OTHERS.get(dataset, ""), private
    if meant not in TABLES or protocol != ("paper", "deterministic"):
        return pd.DataFrame(columns=_COLUMNS)
    number = sum(len(some) for some in provenance["people"].values())
    printed = printed_values(3)
    trained: Any = over_trainings(table, trainings).to_dict("index")
    measured: Any = table.to_dict("index")
    rows = []
    # the map names the row and the column of each printed value in the tables of a run on the paper's people
    for claim in printed[printed["table"] == TABLES[meant]].to_dict("records"):
        name, column = str(claim["where"]).removeprefix("public class="), claim["our_column"]
        if name not in trained:
            continue
        if column in table:
            found = _accuracy(column, trained[name], measured[name], float(claim["value"]))
            if "most" in provenance and found["verdict"] == "differs":
                reason = f"other than printed, but these networks saw {provenance['most']} windows of each recording"
                found |= {"verdict": "undecided", "reason": reason}
        else:
            found = _count(measured[name]["windows"], PAPERS_PEOPLE / number, str(claim["printed"]))
            if "most" in provenance:
                reason = f"this run keeps {provenance['most']} windows of each recording"
                found |= {"ours": math.nan, "low": math.nan, "high": math.nan, "verdict": "undecided", "reason": reason}
        basis = f"rows, {provenance['paper_people']} of {PAPERS_PEOPLE} people"
        rows.append(claim | found | {"basis": basis})
    return pd.DataFrame(rows)[_COLUMNS]


def beside_printed(compared: pd.DataFrame, number: int) -> pd.DataFrame:
    """Return a comparison in the layout of Tables 2 and 3: for each activity the printed values, ours below them.

    Parameters
    ----------
    compared : pandas.DataFrame
        Result of `compare_people`.
    number : int
        Number of people.
    """
    shared = compared["basis"].iloc[0].removeprefix("rows, ").partition(" ")[0] if len(compared) else ""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    cell: Any
    for cell in compared.itertuples(index=False):
        names = (f"printed, {PAPERS_PEOPLE} people", f"ours, {number} people, {shared} of the paper's {PAPERS_PEOPLE}")
        for name, text in zip(names, (cell.printed, _shown(cell)), strict=True):
            lines.setdefault((str(cell.row), name), {})[str(cell.column)] = text
    table = pd.DataFrame.from_dict(lines, orient="index")
    table.index = pd.MultiIndex.from_tuples(list(lines), names=["activity", "values"])
    return table


def _accuracy(column: str, trained: Mapping[str, Any], own: Mapping[str, Any], printed: float) -> dict[str, Any]:
    """Return the verdict on an accuracy, from our interval over people and the spread of our trainings."""
    low, high = float(own[f"{column}_low"]), float(own[f"{column}_high"])
    inside = trained[f"{column}_low"] <= printed <= trained[f"{column}_high"]
    verdict, trainings = "undecided", trained[f"{column}_n"]
    if trainings < FEWEST:
        word = "training" if trainings == 1 else "trainings"
        reason = f"{trainings} {word}: a prediction interval needs {FEWEST}"
    elif low <= printed <= high and high - low > WIDEST:
        reason = f"the interval over {own['n']} is {high - low:.2f} wide, more than {WIDEST:g}"
    elif low <= printed <= high:
        verdict, reason = "within", f"the printed value lies in our interval over {own['n']}"
    elif inside:
        reason = "outside our interval over people, but one more training could give it"
    else:
        verdict, reason = "differs", "outside our intervals over people and over trainings"
    value = float(own[column])  # of the training that the interval is about, not the mean over trainings
    return {"ours": value, "low": low, "high": high, "unit": own["n"], "verdict": verdict, "reason": reason}


def _count(windows: int, scale: float, printed: str) -> dict[str, Any]:
    """Return the verdict on a number of test windows, a random fifth, scaled to the paper's people."""
    scaled, thousand = scale * windows, 1000 * float(printed.removesuffix("k"))
    half = 1.96 * scale * math.sqrt(0.8 * windows)  # a fifth of all windows: variance n (1 - 1/5)
    each = f"{scaled / PAPERS_PEOPLE:,.0f} test windows of a person here, {thousand / PAPERS_PEOPLE:,.0f} in the paper"
    equal, inside = round(scaled / 1000, 1) == thousand / 1000, abs(scaled - thousand) <= half + 50
    verdict = "exact" if equal else "within" if inside else "differs"
    ends = {"low": scaled - half, "high": scaled + half, "unit": "draws of a fifth of the windows"}
    return {"ours": scaled, **ends, "verdict": verdict, "reason": each}


def _shown(cell: Any) -> str:
    """Return our value with its interval and the mark of its verdict, as printed: in percent or in thousands."""
    if cell.printed.endswith("k"):
        return SIGNS[cell.verdict] if math.isnan(cell.ours) else f"{cell.ours / 1000:.1f}k {SIGNS[cell.verdict]}"
    low, ours, high = (number_text(100 * value, 3) for value in (cell.low, cell.ours, cell.high))
    return f"{ours}% [{low}, {high}] {SIGNS[cell.verdict]}"
