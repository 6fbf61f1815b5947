"""Publish a divided table: add noise to the ambiguous columns until a query's answer has moved far enough (Fig. 1).

`state_guarantees` states in words what the publication guarantees, and what it does not.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import check_frame
from sensorprivacy.mechanisms import NoiseSource, SecureNoise, check_epsilon, laplace_scale, response_probabilities
from sensorprivacy.threeway.division import Division, check_division
from sensorprivacy.threeway.domains import Categories, Domain, domains_of
from sensorprivacy.threeway.queries import Query, answer, change, check_query

# one row of the trace: a column in a round, then two facts about the round
COLUMN_TRACE = ("epsilon", "column", "mechanism", "parameter", "original", "synthetic", "level")
TRACE = ["round", *COLUMN_TRACE, "overall", "accepted"]


@dataclass(frozen=True)
class Publication:
    """A published table, with the noise that was added and the guarantees that result.

    Parameters
    ----------
    data : pandas.DataFrame
        D_p: the unchanged non-sensitive columns and the noisy ambiguous columns. Columns and rows are in the original
        order, the index is 0 to n - 1. The sensitive columns are dropped.
    trace : pandas.DataFrame
        One row per round and ambiguous column: epsilon, mechanism ("laplace" or "randomized response"), its parameter
        (the scale, or the probability that a cell is redrawn), the query's answers if they are single numbers, the
        column's level, the round's level (the lowest of its columns), and whether the round was published.
    epsilon_per_column : pandas.Series
        Privacy loss of each published ambiguous column, per cell.
    epsilon_total : float
        Their sum: the privacy loss of one row's ambiguous cells together, by basic composition.
    level : float
        The privacy level reached, 0 to 1.
    reached : bool
        Whether the requested level was reached.
    stopped : str
        Why the loop ended.
    guarantees : tuple of str
        The guarantees, and their limits.
    """

    data: pd.DataFrame
    trace: pd.DataFrame
    epsilon_per_column: pd.Series
    epsilon_total: float
    level: float
    reached: bool
    stopped: str
    guarantees: tuple[str, ...]


def publish(
    frame: pd.DataFrame,
    division: Division,
    *,
    division_from_data: bool = True,
    epsilon: float = 1.0,
    bounds: Mapping[Hashable, tuple[Any, Any]] | None = None,
    categories: Mapping[Hashable, Sequence] | None = None,
    categorical: Sequence[Hashable] = (),
    query: Query = "record",
    level: float = 0.0,
    shrink: float = 0.5,
    floor: float = 1e-3,
    max_rounds: int = 20,
    clamp: bool = False,
    noise_source: NoiseSource | None = None,
) -> Publication:
    """Publish a divided table: drop sensitive columns, keep non-sensitive ones, add noise to ambiguous ones.

    The first round draws noise at `epsilon`. While the query's answer has moved less than `level`, epsilon is lowered
    and new noise is added to the original.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original table D_o, n rows.
    division : Division
        The groups. Together they contain every column of the frame.
    division_from_data : bool, default True
        Whether the groups were learned from this table. The choice of the groups then reveals something that no epsilon
        covers, and the guarantees say so. Give False for a division that was learned from other people's data or chosen
        by general knowledge.
    epsilon : float, default 1
        Privacy loss of each ambiguous column in the first round, 0 < epsilon <= 100.
    bounds : mapping of column to (low, high), optional
        Bounds of numeric columns. Cells outside are clipped. Bounds that are not given are read from the data, which
        leaks the extremes.
    categories : mapping of column to sequence, optional
        All possible values of a column of categories (None for missing). Categories that are not given are read from
        the data, which leaks them.
    categorical : sequence of column names, optional
        Numeric columns to treat as categories.
    query : {"record", "mean", "count", "histogram"}, default "record"
        The query that is asked of both tables, see :func:`~sensorprivacy.threeway.queries.answer`.
    level : float, default 0
        Privacy level to reach, 0 <= level < 1, see :func:`~sensorprivacy.threeway.queries.change`. With 0, noise is
        drawn once and not compared with the data. Only then does the guarantee hold in full.
    shrink : float, default .5
        Factor that lowers epsilon from round to round, 0 < shrink < 1.
    floor : float, default .001
        Smallest epsilon to try.
    max_rounds : int, default 20
        Largest number of rounds.
    clamp : bool, default False
        Move noisy numbers outside the bounds to the nearest bound. This costs no epsilon, but cells pile up at the
        bounds, which shifts means.
    noise_source : NoiseSource, optional
        Source of randomness. Only the default (OpenDP with the operating system's secure generator) is private. Tests
        and repeatable examples pass :class:`~sensorprivacy.mechanisms.SeededNoise`.

    Returns
    -------
    Publication
        The table of the last round, even if it did not reach the level; see `reached` and `stopped`.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its range, or the division and the frame have different columns.

    References
    ----------
    Ali et al. (2022), Fig. 1, section 3, and Algorithm 1, lines 11-13.
    """
    check_frame(frame)
    check_division(division, frame)
    _check_loop(epsilon, query, level, shrink, floor, max_rounds)
    source = SecureNoise() if noise_source is None else noise_source
    domains = domains_of(frame, division.ambiguous, bounds, categories, categorical)
    rows: list[tuple[Any, ...]] = []
    drawn: dict[Hashable, np.ndarray] = {}
    overall, stopped = 0.0, "" if domains else "there is no ambiguous column to add noise to"
    for number in range(1, max_rounds + 1 if domains else 1):
        drawn = {name: domain.noise(frame[name], epsilon, source, clamp=clamp) for name, domain in domains.items()}
        compared = [_compare(frame[name], drawn[name], domain, epsilon, query) for name, domain in domains.items()]
        rows += [(number, *row) for row in compared]
        overall = min(row[-1] for row in compared)
        if overall >= level:
            stopped = f"level {overall:.3g} is at least {level:g}"
        elif number == max_rounds:
            stopped = f"level {overall:.3g} after {number} rounds, the most allowed"
        elif epsilon * shrink < floor:
            stopped = f"level {overall:.3g} at epsilon {epsilon:.3g}; the next would fall below the floor {floor:g}"
        if stopped:
            break
        epsilon *= shrink
    trace = pd.DataFrame(rows, columns=["round", *COLUMN_TRACE])
    trace["overall"] = trace.groupby("round")["level"].transform("min")
    trace["accepted"] = trace["round"] == trace["round"].max()
    spent = pd.Series({name: epsilon * (domain.width > 0) for name, domain in domains.items()}, name="epsilon")
    data = frame.loc[:, ~frame.columns.isin(division.sensitive)].reset_index(drop=True)
    for name, domain in domains.items():
        data[name] = domain.decode(drawn[name])
    how: Any = {"compared": level > 0, "division_from_data": division_from_data}
    return Publication(
        data=data,
        trace=trace[TRACE],
        epsilon_per_column=spent.astype(float),
        epsilon_total=float(spent.sum()),
        level=overall,
        reached=overall >= level,
        stopped=stopped,
        guarantees=state_guarantees(division, domains, spent, **how),
    )


def _compare(column: pd.Series, after: np.ndarray, domain: Domain, epsilon: float, query: Query) -> tuple[Any, ...]:
    """Return the row of the trace for a column and its noisy values."""
    before = domain.encode(column)
    answers = [answer(query, cells, domain) for cells in (before, after)]
    both = (float(one[0]) if len(one) == 1 else np.nan for one in answers)
    return epsilon, column.name, *_mechanism(domain, epsilon), *both, change(query, before, after, domain)


def _mechanism(domain: Domain, epsilon: float) -> tuple[str, float]:
    if domain.width == 0:
        return "none (one possible value)", 0.0
    if isinstance(domain, Categories):
        return "randomized response", response_probabilities(domain.k, epsilon)[1]
    return "laplace", laplace_scale(domain.low, domain.high, epsilon, integer=domain.integer)


def _check_loop(epsilon: float, query: str, level: float, shrink: float, floor: float, max_rounds: int) -> None:
    check_epsilon(epsilon)
    check_query(query)
    for name, value, valid, requirement in (
        ("level", level, 0 <= level < 1, "at least 0 and below 1, because no finite noise reaches 1"),
        ("shrink", shrink, 0 < shrink < 1, "above 0 and below 1, so that epsilon falls"),
        ("floor", floor, 0 < floor <= epsilon, f"above 0 and at most epsilon={epsilon}"),
        ("max_rounds", max_rounds, max_rounds >= 1, "at least 1"),
    ):
        if not valid:
            raise ValueError(f"{name}={value}: must be {requirement}")


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
        lines += [
            f"Each cell of {_listed(list(domains))} gets its own noise. Its published value is at most e^epsilon times "
            "more likely than under any other value of its domain (local differential privacy).",
            f"Epsilon adds up over columns: the noisy cells of one row have a total epsilon of {spent.sum():g}. A "
            "person with several rows loses that much for each row.",
        ]
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
