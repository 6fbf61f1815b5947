"""State in words what a publication guarantees, and what it does not."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sensorprivacy.threeway.division import Division
from sensorprivacy.threeway.domains import Domain

ROW_ORDER = "Rows keep their original order. Anyone who knows that order can identify every row: shuffle first."


def state_guarantees(
    division: Division,
    domains: Mapping[Any, Domain],
    spent: pd.Series,
    *,
    compared: bool = False,
    division_from_data: bool = True,
) -> tuple[str, ...]:
    """Return the guarantees of a publication and their limits, one short paragraph each.

    Parameters
    ----------
    division : Division
        The groups.
    domains : mapping
        Domain of each ambiguous column.
    spent : pandas.Series
        Epsilon of each ambiguous column, per cell.
    compared : bool, default False
        Whether the published draw was chosen by comparing it with the data.
    division_from_data : bool, default True
        Whether the groups were learned from the published table.

    Returns
    -------
    tuple of str
        The statements.
    """
    lines = []
    if domains:
        lines.append(
            f"Each cell of {_listed(list(domains))} gets its own noise. Its published value is at most e^epsilon times "
            "more likely than under any other value of its domain (local differential privacy)."
        )
        lines.append(
            f"Epsilon adds up over columns: the noisy cells of one row have a total epsilon of {spent.sum():g}. A "
            "person with several rows loses that much for each row."
        )
    if compared:
        lines.append(
            "The published draw was chosen by comparing draws with the original data. Epsilon does not cover this "
            "comparison: the bounds above hold for each draw, but not strictly for the chosen one. With level=0 the "
            "first draw is published without a comparison."
        )
    if division_from_data:
        lines.append(
            "The groups were learned from the data: one other cell can change the groups, so a column is published "
            "unchanged instead of noisy. Epsilon does not cover this. Learn the division from other data or choose it "
            "by general knowledge, and pass it as given."
        )
    if leaking := [name for name, domain in domains.items() if domain.from_data]:
        lines.append(
            f"Bounds or categories of {_listed(leaking)} were read from the data. Epsilon does not cover this leak: "
            "extremes and rare categories belong to single rows. Give `bounds` and `categories` from general knowledge."
        )
    if division.non_sensitive:
        lines.append(
            f"Published unchanged and without any guarantee: {_listed(division.non_sensitive)}. Together these columns "
            "may identify a row. So the table as a whole is not differentially private."
        )
    lines.append(ROW_ORDER)
    return tuple(lines)


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(str(name) for name in names)
