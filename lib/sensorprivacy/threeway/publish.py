"""Acting: noise the ambiguous columns until a query's answer has moved far enough, and publish (Fig. 1, right half)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.mechanisms.laplace import laplace_scale
from sensorprivacy.mechanisms.noise import NoiseSource, SecureNoise, check_epsilon
from sensorprivacy.mechanisms.randomized_response import response_probabilities
from sensorprivacy.threeway.division import Division, check_frame
from sensorprivacy.threeway.domains import Categories, Domain, Numbers, domains_of
from sensorprivacy.threeway.queries import Query, answer, change, check_query

TRACE = (
    "round",
    "epsilon",
    "column",
    "mechanism",
    "parameter",
    "original",
    "synthetic",
    "level",
    "overall",
    "accepted",
)


@dataclass(frozen=True)
class Publication:
    """A published table, with what was done to it and what that guarantees.

    Parameters
    ----------
    data : pandas.DataFrame
        D_p: the non-sensitive columns as they are and the ambiguous ones noised, in the original's order of columns
        and rows, index 0 to n - 1. The sensitive columns are not in it.
    trace : pandas.DataFrame
        One row a round and ambiguous column: epsilon, mechanism ("laplace" or "randomized response"), its parameter
        (the scale; the probability that a cell is drawn anew), the query's answers where they are one number, the
        column's level, the round's level over all columns (their least), and whether the round was published.
    epsilon_per_column : pandas.Series
        Privacy loss of each ambiguous column's cells in what is published.
    epsilon_total : float
        Their sum: the loss of one row's ambiguous cells together, by basic composition.
    level : float
        The privacy level reached, 0 to 1.
    reached : bool
        Whether that is at least the level asked for.
    stopped : str
        Why the loop ended.
    guarantees : tuple of str
        What is guaranteed, and what is not.
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
    """Publish a divided table: drop the sensitive columns, keep the non-sensitive ones, noise the ambiguous ones.

    Noise is drawn at `epsilon`; while the query's answer has moved less than `level`, epsilon is lowered and noise is
    drawn anew, from the original.

    Parameters
    ----------
    frame : pandas.DataFrame
        The original table D_o, n rows.
    division : Division
        The groups; together they name every column of the frame.
    epsilon : float, default 1
        Privacy loss of each ambiguous column at first, 0 < epsilon <= 100.
    bounds : mapping of column to (low, high), optional
        Bounds of columns of numbers; cells outside are clipped. Columns not named take theirs from the data, which
        leaks their extremes.
    categories : mapping of column to sequence, optional
        What a column of categories may hold (None for missing). Columns not named take theirs from the data, which
        leaks them.
    categorical : sequence of column names, optional
        Columns of numbers to treat as categories.
    query : {"record", "mean", "count", "histogram"}, default "record"
        What is asked of both tables, see :func:`~sensorprivacy.threeway.queries.answer`.
    level : float, default 0
        Privacy level asked for, 0 <= level < 1, see :func:`~sensorprivacy.threeway.queries.change`. 0 draws once and
        looks at nothing, the only way to keep the guarantee in full.
    shrink : float, default .5
        Factor that lowers epsilon from round to round, 0 < shrink < 1.
    floor : float, default .001
        Smallest epsilon tried.
    max_rounds : int, default 20
        Most rounds tried.
    clamp : bool, default False
        Put noised numbers back between their bounds. Costs no epsilon, but piles cells up at the bounds and so shifts
        means.
    noise_source : NoiseSource, optional
        Source of randomness. The default, OpenDP with the operating system's secure generator, is the only private
        one; another is for tests.

    Returns
    -------
    Publication
        The last table drawn, whether or not its level suffices; see `reached` and `stopped`.

    Raises
    ------
    TypeError, ValueError
        If an argument lies outside its range, or division and frame do not name the same columns.

    References
    ----------
    Ali et al. (2022), Fig. 1, section 3, and Algorithm 1, lines 11-13.
    """
    _check(frame, division, epsilon, query, level, shrink, floor, max_rounds)
    noise_source = SecureNoise() if noise_source is None else noise_source
    ambiguous = [name for name in frame.columns if name in division.ambiguous]
    domains = domains_of(frame, ambiguous, bounds, categories, categorical)
    trace: list[dict[str, Any]] = []
    drawn, overall, stopped = _draw(frame, domains, epsilon, query, clamp, noise_source, trace)
    rounds = 1
    while overall < level and not stopped:
        if rounds == max_rounds:
            stopped = f"level {overall:.3g} after {rounds} rounds, the most allowed"
        elif epsilon * shrink < floor:
            stopped = f"level {overall:.3g} at epsilon {epsilon:.3g}; the next would fall below the floor {floor:g}"
        else:
            epsilon, rounds = epsilon * shrink, rounds + 1
            drawn, overall, stopped = _draw(frame, domains, epsilon, query, clamp, noise_source, trace)
    for row in trace:
        row["accepted"] = row["round"] == rounds
    spent = pd.Series({name: epsilon * (domain.width > 0) for name, domain in domains.items()}, name="epsilon")
    kept = {
        name: drawn[name] if name in drawn else frame[name].reset_index(drop=True)
        for name in frame.columns
        if name not in division.sensitive
    }
    return Publication(
        data=pd.DataFrame(kept, index=range(len(frame)), columns=pd.Index(list(kept))),
        trace=pd.DataFrame(trace, columns=list(TRACE)),
        epsilon_per_column=spent.astype(float),
        epsilon_total=float(spent.sum()),
        level=overall,
        reached=overall >= level,
        stopped=stopped or f"level {overall:.3g} is at least {level:g}",
        guarantees=_guarantees(division, domains, spent, looked=level > 0),
    )


def _draw(
    frame: pd.DataFrame,
    domains: Mapping[Hashable, Domain],
    epsilon: float,
    query: Query,
    clamp: bool,
    noise_source: NoiseSource,
    trace: list[dict[str, Any]],
) -> tuple[dict[Hashable, pd.Series], float, str]:
    """Draw noise for every ambiguous column once; note the round in `trace`."""
    if not domains:
        return {}, 0.0, "there is no ambiguous column to noise"
    drawn: dict[Hashable, pd.Series] = {}
    rows: list[dict[str, Any]] = []
    for name, domain in domains.items():
        before, after = domain.encode(frame[name]), domain.noise(frame[name], epsilon, noise_source)
        if clamp and isinstance(domain, Numbers):
            after = np.clip(after, domain.low, domain.high)
        drawn[name] = domain.decode(after)
        answers = [answer(query, cells, domain) for cells in (before, after)]
        original, synthetic = (float(a[0]) if len(a) == 1 else np.nan for a in answers)
        mechanism, parameter = _mechanism(domain, epsilon)
        rows.append(
            {
                "round": 1 + (trace[-1]["round"] if trace else 0),
                "epsilon": epsilon,
                "column": name,
                "mechanism": mechanism,
                "parameter": parameter,
                "original": original,
                "synthetic": synthetic,
                "level": change(query, before, after, domain),
            }
        )
    overall = min(float(row["level"]) for row in rows)
    trace.extend({**row, "overall": overall} for row in rows)
    return drawn, overall, ""


def _mechanism(domain: Domain, epsilon: float) -> tuple[str, float]:
    if domain.width == 0:
        return "none (one possible value)", 0.0
    if isinstance(domain, Categories):
        return "randomized response", response_probabilities(domain.k, epsilon)[1]
    return "laplace", laplace_scale(domain.low, domain.high, epsilon, integer=domain.integer)


def _guarantees(
    division: Division, domains: Mapping[Hashable, Domain], spent: pd.Series, *, looked: bool
) -> tuple[str, ...]:
    def listed(names: Sequence[Hashable]) -> str:
        return ", ".join(str(name) for name in names)

    lines = []
    if domains:
        lines.append(
            f"Each cell of {listed(list(domains))} is noised by itself: its published value is at most e^epsilon times "
            "likelier than had the cell held any other value of its domain (local differential privacy)."
        )
        lines.append(
            f"Epsilon adds up over columns: one row's noised cells together lose {spent.sum():g}; a person with "
            "several rows loses that for each."
        )
    if looked:
        lines.append(
            "Which draw is published was decided by comparing draws with the original data. That look is not paid for "
            "in epsilon: the bounds above hold for each draw, not strictly for the chosen one. level=0 publishes the "
            "first draw without looking."
        )
    leaking = [name for name, domain in domains.items() if domain.from_data]
    if leaking:
        lines.append(
            f"Bounds or categories of {listed(leaking)} were read from the data and so leak outside of epsilon: "
            "extremes and rare categories are some row's. Give `bounds` and `categories` from general knowledge."
        )
    if division.non_sensitive:
        lines.append(
            f"{listed(division.non_sensitive)} are published as they are, without any guarantee; together they may "
            "single out a row. The table as a whole is therefore not differentially private."
        )
    lines.append(
        "Rows stand in the original's order: whoever knows that order knows whose row is whose; shuffle first."
    )
    return tuple(lines)


def _check(
    frame: pd.DataFrame,
    division: Division,
    epsilon: float,
    query: str,
    level: float,
    shrink: float,
    floor: float,
    max_rounds: int,
) -> None:
    check_frame(frame)
    named = [*division.sensitive, *division.kept]
    if len(named) != len(set(named)) or set(named) != set(frame.columns):
        raise ValueError(f"the division names {named}, the frame has {list(frame.columns)}: divide this very frame")
    check_epsilon(epsilon)
    check_query(query)
    if not 0 <= level < 1:
        raise ValueError(f"level={level}: must be at least 0 and below 1, which no finite noise reaches")
    if not 0 < shrink < 1:
        raise ValueError(f"shrink={shrink}: must lie strictly between 0 and 1, so that epsilon falls")
    if not 0 < floor <= epsilon:
        raise ValueError(f"floor={floor}: must lie above 0 and at most at epsilon={epsilon}")
    if max_rounds < 1:
        raise ValueError(f"max_rounds={max_rounds}: at least one round is drawn")
