"""Searching the thresholds: Algorithm 1 (3WADD) as written, and the rules that its printed traces follow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import pandas as pd

from sensorprivacy.threeway.division import check_thresholds
from sensorprivacy.threeway.measures import MEASURES, Appraisal, Appraiser

Rule = Literal["alternate", "tabu", "literal", "strict", "grid"]
Point = tuple[int, int]  # steps of alpha and of beta from the start

LARGEST_GRID = 1_100_000  # the square of a step of .001 and some more
SMALLEST_STEP = 1e-5

# the four neighbours of Algorithm 1, in the order of its line 9
MOVES: dict[str, Point] = {"alpha down": (-1, 0), "alpha up": (1, 0), "beta down": (0, -1), "beta up": (0, 1)}


@dataclass(frozen=True)
class Search:
    """What a search of the thresholds found, and how.

    Parameters
    ----------
    alpha, beta : float
        The thresholds it ended on.
    appraisal : Appraisal
        The division there, with its measures.
    trace : pandas.DataFrame
        One row for every pair of thresholds looked at, in order: iteration (0 is the start; rows of one iteration are
        its candidates), move, alpha, beta, numbers of attributes sensitive, non_sensitive, ambiguous, utility,
        stability, suitability, and whether it was accepted.
    iterations : int
        Number of accepted moves; of the grid, number of pairs looked at besides the start.
    stopped : str
        Why it ended.
    """

    alpha: float
    beta: float
    appraisal: Appraisal
    trace: pd.DataFrame
    iterations: int
    stopped: str


def find_thresholds(
    appraiser: Appraiser,
    alpha: float = 0.5,
    beta: float = 0.5,
    step: float = 0.05,
    search: Rule = "alternate",
    lattice: Literal["summed", "exact"] = "summed",
) -> Search:
    """Search the thresholds for a suitable division.

    Parameters
    ----------
    appraiser : Appraiser
        Measures the divisions of the table.
    alpha, beta : float, default .5
        Where to start, 0 <= beta <= alpha <= 1.
    step : float, default .05
        The paper's lambda, 1e-5 to 1.
    search : {"alternate", "tabu", "literal", "strict", "grid"}, default "alternate"
        - "alternate": beta down, then alpha up, in turn; a move is made unless suitability falls; ends when neither is
          made. Has 24 of the 25 printed rows on its way.
        - "tabu": first beta down, then the best of the four neighbours not yet visited (the first in the order of
          Algorithm 1's line 9 among equals), unless suitability falls. Has all 25.
        - "literal": Algorithm 1 as written. It goes on while the best neighbour is as good (``>=``), so on a plateau
          it goes round for ever; here it ends on coming back to a visited pair, and `stopped` says so.
        - "strict": Algorithm 1 with ``>`` in line 10. Ends by itself.
        - "grid": looks at every pair on the lattice, and so is the optimum that the others are measured by. Among
          equals it takes the pair fewest steps away from the start.
    lattice : {"summed", "exact"}, default "summed"
        How thresholds k steps away are reached. "summed" adds the step k times, as the paper's program must have: ten
        times .05 on .5 is 1.0000000000000002, outside [0, 1], so alpha = 1 cannot be reached and its traces stop at
        .95. "exact" multiplies, and reaches 1. Either way thresholds are reported and applied to twelve decimals.

    Returns
    -------
    Search
        Thresholds, division, measures, trace.

    Raises
    ------
    ValueError
        If an argument lies outside its range, or a grid would have more than a million pairs to it.

    References
    ----------
    Ali et al. (2022), Algorithm 1 and Tables 9-13.
    """
    check_thresholds(alpha, beta)
    if not SMALLEST_STEP <= step <= 1:
        raise ValueError(f"step={step}: must lie between {SMALLEST_STEP:g} and 1, the paper takes .05")
    if search not in get_args(Rule):
        raise ValueError(f"search={search!r}: choose one of {', '.join(get_args(Rule))}")
    if lattice not in ("summed", "exact"):
        raise ValueError(f"lattice={lattice!r}: choose summed or exact")
    walk = _Walk(appraiser, _axis(alpha, step, lattice), _axis(beta, step, lattice))
    if search == "alternate":
        stopped = _alternate(walk)
    elif search == "tabu":
        stopped = _tabu(walk)
    elif search == "grid":
        stopped = _grid(walk)
    else:
        stopped = _algorithm_1(walk, strict=search == "strict")
    return walk.result(stopped)


def _axis(start: float, step: float, lattice: str) -> dict[int, float]:
    """Return the thresholds within [0, 1] that whole steps from `start` reach, by number of steps."""
    values: dict[int, float] = {}
    for sign in (1, -1):
        k, raw = 0, float(start)
        while 0 <= raw <= 1:
            values[sign * k] = round(raw, 12)
            k += 1
            raw = raw + sign * step if lattice == "summed" else round(start + sign * k * step, 12)
    return values


class _Walk:
    """A walk over the lattice of thresholds that writes down every pair it looks at."""

    def __init__(self, appraiser: Appraiser, alphas: dict[int, float], betas: dict[int, float]) -> None:
        self.appraiser, self.alphas, self.betas = appraiser, alphas, betas
        self.rows: list[tuple] = []
        self.iterations = 0
        self.point: Point = (0, 0)
        self.suitability = self.look("start", self.point)
        self._accept()

    def legal(self, point: Point) -> bool:
        i, j = point
        return i in self.alphas and j in self.betas and self.alphas[i] >= self.betas[j]

    def look(self, move: str, point: Point) -> float:
        """Appraise a pair of thresholds, note it as not accepted, and return its suitability."""
        alpha, beta = self.alphas[point[0]], self.betas[point[1]]
        measures = self.appraiser.measures(alpha, beta)
        self.rows.append((self.iterations + (move != "start"), move, alpha, beta, *measures, False))
        return measures[-1]

    def _accept(self, back: int = 1) -> None:
        """Mark the pair looked at `back` looks ago as accepted."""
        self.rows[-back] = (*self.rows[-back][:-1], True)

    def go(self, point: Point, suitability: float, back: int = 1) -> None:
        self._accept(back)
        self.point, self.suitability = point, suitability
        self.iterations += 1

    def neighbour(self, move: str) -> Point:
        return self.point[0] + MOVES[move][0], self.point[1] + MOVES[move][1]

    def best_neighbour(self, allowed: Callable[[Point], bool]) -> tuple[Point, float, int] | None:
        """Look at the allowed neighbours; return the first best one, its suitability, and how many looks ago."""
        seen = []
        for move in MOVES:
            point = self.neighbour(move)
            if self.legal(point) and allowed(point):
                seen.append((point, self.look(move, point)))
        if not seen:
            return None
        place = max(range(len(seen)), key=lambda k: (seen[k][1], -k))
        return *seen[place], len(seen) - place

    def result(self, stopped: str) -> Search:
        alpha, beta = self.alphas[self.point[0]], self.betas[self.point[1]]
        columns = ["iteration", "move", "alpha", "beta", *MEASURES, "accepted"]
        trace = pd.DataFrame(self.rows, columns=columns)
        return Search(alpha, beta, self.appraiser.at(alpha, beta), trace, self.iterations, stopped)


def _alternate(walk: _Walk) -> str:
    failed: dict[str, str] = {}
    while len(failed) < 2:
        for move in ("beta down", "alpha up"):
            point = walk.neighbour(move)
            if not walk.legal(point):
                failed[move] = f"{move} leaves [0, 1]"
                continue
            suitability = walk.look(move, point)
            if suitability >= walk.suitability:
                walk.go(point, suitability)
                failed.clear()
            else:
                failed[move] = f"{move} lowers suitability"
    return " and ".join(failed[move] for move in ("beta down", "alpha up"))


def _tabu(walk: _Walk) -> str:
    visited = {walk.point}
    first = walk.neighbour("beta down")
    if walk.legal(first):
        suitability = walk.look("beta down", first)
        if suitability >= walk.suitability:
            walk.go(first, suitability)
            visited.add(first)
    while True:
        best = walk.best_neighbour(lambda point: point not in visited)
        if best is None:
            return "every neighbour was visited or leaves [0, 1]"
        if best[1] < walk.suitability:
            return "every neighbour not yet visited lowers suitability"
        walk.go(*best)
        visited.add(walk.point)


def _algorithm_1(walk: _Walk, *, strict: bool) -> str:
    visited = {walk.point: 0}
    while True:
        best = walk.best_neighbour(lambda point: True)
        if best is None:
            return "no neighbour lies in [0, 1]"
        if best[1] < walk.suitability or (strict and best[1] == walk.suitability):
            return "no neighbour is better" if strict else "every neighbour lowers suitability"
        if best[0] in visited:
            # the next move depends on nothing but where it stands, so it would come round again for ever
            alpha, beta = walk.alphas[best[0][0]], walk.betas[best[0][1]]
            return (
                f"cycle: the next pair ({alpha:g}, {beta:g}) was visited at iteration {visited[best[0]]}; "
                "Algorithm 1 as written never ends here"
            )
        walk.go(*best)
        visited[walk.point] = walk.iterations


def _grid(walk: _Walk) -> str:
    if len(walk.alphas) * len(walk.betas) > LARGEST_GRID:
        raise ValueError(
            f"the grid would have {len(walk.alphas)} x {len(walk.betas)} pairs: take a step of .001 or more"
        )
    points = [(i, j) for i in walk.alphas for j in walk.betas if walk.legal((i, j)) and (i, j) != walk.point]
    # nearest first, so that "better than any before" settles ties for the pair fewest steps away
    points.sort(key=lambda point: (abs(point[0]) + abs(point[1]), abs(point[0]), point))
    for point in points:
        suitability = walk.look("grid", point)
        if suitability > walk.suitability:
            walk.go(point, suitability)
        else:
            walk.iterations += 1
    return f"looked at all {len(points) + 1} pairs of the lattice"
