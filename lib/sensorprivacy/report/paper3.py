"""What the printed values of paper 3 (anonymization in latent space) ask of a run's tables."""

from collections.abc import Mapping

import pandas as pd

from sensorprivacy.report.paper import printed_values
from sensorprivacy.report.verdicts import Ours

#: The printed table of each data set and private attribute, and its rows by the classes of our windows.
TABLES = {("motionsense", "gender"): "1", ("mobiact", "gender"): "2", ("mobiact", "weight"): "3"}
ROWS = {
    "motionsense": {"dws": "down-stairs", "ups": "up-stairs", "wlk": "walking", "jog": "jogging"},
    "mobiact": {"WAL": "walking", "STD": "standing", "JOG": "jogging", "STU": "stairs-up"},
}
_COLUMNS = {
    "act-before": "public_before",
    "act-after": "public_after",
    "{}-before": "private_before",
    "{}-after": "private_after",
}


def inference_claims(dataset: str, private: str, table: pd.DataFrame) -> dict[str, object]:
    """Return the cells of Table 1, 2 or 3.

    Parameters
    ----------
    dataset, private : str
        Data set and private attribute; a pair that no table prints has no claims.
    table : pandas.DataFrame
        By public class: accuracies before and after with ``_low`` and ``_high``, and ``windows``.

    Returns
    -------
    dict of str to Ours or str
        By claim id; numbers of windows in thousands, as they are printed.
    """
    number = TABLES.get((dataset, private))
    if number is None:
        return {}
    short = "weight" if private == "weight" else "gen"
    ours: dict[str, object] = {}
    for name, slug in ROWS[dataset].items():
        if name not in table.index:
            continue
        row = table.loc[name].to_dict()
        for ending, column in _COLUMNS.items():
            value = Ours(*(float(row[f"{column}{end}"]) for end in ("", "_low", "_high")))
            ours[f"3-T{number}-{slug}-{ending.format(short)}"] = value
        ours[f"3-T{number}-{slug}-embeddings"] = thousands(int(row["windows"]))
    return ours


def thousands(count: int) -> str:
    """Return a count as the paper prints it: 1.9k, 42.9k, and 1k where the decimal is nought."""
    return f"{round(count / 1000, 1):g}k"


def motionsense_claims(subjects: pd.Series, genders: Mapping[str, int], rate: float, length: int, stride: int) -> dict:
    """Return what section 5.1.1 says of MotionSense: people, genders, sampling, windows, and the time between two."""
    return {
        "3-text-motionsense-subjects": int(subjects.nunique()),
        "3-text-motionsense-males": int(genders["male"]),
        "3-text-motionsense-females": int(genders["female"]),
        "3-text-motionsense-rate": rate,
        "3-text-motionsense-window": length,
        "3-text-motionsense-stride": stride,
        "3-text-budget-motionsense": 1000 * stride / rate,
    }


def absent_claims(dataset: str, how: str) -> dict[str, str]:
    """Return the claims that speak of a data set that is not here, but for timings, with how to get it."""
    numbers = {number for (name, _), number in TABLES.items() if name == dataset}
    ids = printed_values(3)["claim_id"]
    return {
        claim: how
        for claim in ids
        if claim.split("-")[1].removeprefix("T") in numbers
        or (claim.startswith("3-text-") and not claim.startswith("3-text-pi3-") and dataset in claim)
    }
