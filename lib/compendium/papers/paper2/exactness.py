"""How many values of paper 2's Tables 9 to 13 come out on other rows, or with another measure of utility."""

import io

import pandas as pd

from compendium.papers.paper2.values import TRACE_TABLES, printed_thresholds
from compendium.show.tables import csv_text
from compendium.verdicts import cells
from compendium.verdicts.verdicts import judge
from sensorprivacy.threeway import Appraiser


def exact_values(dataset: str, appraiser: Appraiser) -> int:
    """Return how many values of a data set's table (one of Tables 9 to 13) come out at printed precision.

    Parameters
    ----------
    dataset : str
        One of `TRACE_TABLES`.
    appraiser : Appraiser
        Some rows of the data set, with some measure of utility.
    """
    number, claims = TRACE_TABLES[dataset], cells.claims_of(f"21_threeway_division-{dataset}")
    pairs = csv_text(appraiser.table(printed_thresholds(number)))
    tables = {"printed-pairs": pd.read_csv(io.StringIO(pairs), dtype=str, keep_default_na=False)}
    found = cells.read(claims[claims["table"] == number], tables.get, str)
    return int((judge(found.ours, run=dataset, unexplained="allow")["verdict"] == "exact").sum())
