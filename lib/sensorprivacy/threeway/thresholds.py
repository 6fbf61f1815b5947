"""Search the thresholds: Algorithm 1 (3WADD) as written, and the rules that its printed traces follow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import pandas as pd

from sensorprivacy.threeway.division import check_thresholds
from sensorprivacy.threeway.measures import MEASURES, Appraisal, Appraiser

Rule = Literal["alternate", "tabu", "literal", "strict", "grid"]
Point = tuple[int, int]  # steps of alpha and of beta from the start

LARGEST_GRID = 1_100_000  # a little more than the square grid of step .001
SMALLEST_STEP = 1e-5

# the four neighbours of Algorithm 1, in the order of its line 9
MOVES: dict[str, Point] = {"alpha down": (-1, 0), "alpha up": (1, 0), "beta down": (0, -1), "beta up": (0, 1)}


@dataclass(frozen=True)
class Search:
    """The result of a search of the thresholds, and its path.

    Parameters
    ----------
    alpha, beta : float
        The thresholds where it ended.
    appraisal : Appraisal
        The division there, with its measures.
    trace : pandas.DataFrame
        One row per measured pair of thresholds, in order: iteration (0 is the start; rows of one iteration are its
        candidates), move, alpha, beta, numbers of attributes sensitive, non_sensitive, ambiguous, utility, stability,
        suitability, and whether the pair was accepted.
    iterations : int
        Number of accepted moves. For the grid, number of pairs measured after the start.
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
    *,
    closed: bool = False,
) -> Search:
    """Search the thresholds for a suitable division.

    The search visits pairs at whole steps from the start, with 0 <= beta <= alpha < 1. At alpha = 1, only the
    attributes with the highest entropy are sensitive. The paper's text allows this pair (section 4.1.2: alpha <= 1),
    but its printed searches end at alpha = .95, although one more step would not lower suitability on any of its five
    data sets. So the default leaves alpha = 1 out, and gives the printed groups.

    Parameters
    ----------
    appraiser : Appraiser
        Measures the divisions of the table.
    alpha, beta : float, default .5
        Where the search starts, 0 <= beta <= alpha <= 1.
    step : float, default .05
        The paper's lambda, 1e-5 to 1.
    search : {"alternate", "tabu", "literal", "strict", "grid"}, default "alternate"
        - "alternate": beta down, then alpha up, in turn. A move is made unless suitability falls. The search ends when
          neither move is made. Its path contains 24 of the 25 printed rows.
        - "tabu": first beta down, then the best of the four neighbours not yet visited, unless suitability falls. Ties
          go to the first neighbour in Algorithm 1's line 9. Its path contains all 25.
        - "literal": Algorithm 1 as written. It continues while the best neighbour is as good (``>=``), so it never ends
          on a plateau. Here it ends when it returns to a visited pair, and `stopped` reports this.
        - "strict": Algorithm 1 with ``>`` in line 10, which always ends.
        - "grid": measures every pair on the lattice and takes the best. Ties go to the pair fewest steps from the
          start. The other rules are compared with this optimum.
    closed : bool, default False
        Whether alpha may reach 1, as the paper's text states. A start at alpha = 1 is always allowed.

    Returns
    -------
    Search
        Thresholds, division, measures, trace.

    Raises
    ------
    ValueError
        If an argument is outside its range, or a grid would have more than a million pairs.

    References
    ----------
    Ali et al. (2022), Algorithm 1 and Tables 9-13.
    """
    check_thresholds(alpha, beta)
    if not SMALLEST_STEP <= step <= 1:
        raise ValueError(f"step={step}: must be between {SMALLEST_STEP:g} and 1; the paper uses .05")
    if search not in get_args(Rule):
        raise ValueError(f"search={search!r}: choose one of {', '.join(get_args(Rule))}")
    alphas = {k: value for k, value in _axis(alpha, step).items() if closed or value < 1 or k == 0}
    walk = _Walk(appraiser, alphas, _axis(beta, step), "[0, 1]" if closed else "[0, 1)")
    ours = {"alternate": _alternate, "tabu": _tabu, "grid": _grid}
    return walk.result(ours[search](walk) if search in ours else _algorithm_1(walk, strict=search == "strict"))


def _axis(start: float, step: float) -> dict[int, float]:
    """Return the thresholds in [0, 1] at whole steps from `start`, by number of steps.

    Twelve decimals hide the rounding errors of binary numbers. Otherwise these would decide whether 1 is reached: .5
    plus ten times .05 is above 1 if the steps are added one by one, and .5 plus five times .1 is not.
    """
    most = round(1 / step) + 1
    values = {k: round(start + k * step, 12) for k in range(-most, most + 1)}
    return {k: value for k, value in values.items() if 0 <= value <= 1}


class _Walk:
    """A walk over the lattice of thresholds that records every pair it measures."""

    def __init__(
        self, appraiser: Appraiser, alphas: dict[int, float], betas: dict[int, float], alpha_range: str
    ) -> None:
        self.appraiser, self.alphas, self.betas = appraiser, alphas, betas
        self.ranges = {"beta down": "[0, 1]", "alpha up": alpha_range}
        self.rows: list[tuple] = []
        self.iterations = 0
        self.go((0, 0), self.look("start", (0, 0)))
        self.iterations = 0  # the start is no move

    def legal(self, point: Point) -> bool:
        i, j = point
        return i in self.alphas and j in self.betas and self.alphas[i] >= self.betas[j]

    def look(self, move: str, point: Point) -> float:
        """Measure a pair of thresholds, record it as not accepted, and return its suitability."""
        alpha, beta = self.alphas[point[0]], self.betas[point[1]]
        measures = self.appraiser.measures(alpha, beta)
        self.rows.append((self.iterations + (move != "start"), move, alpha, beta, *measures, False))
        return measures[-1]

    def go(self, point: Point, suitability: float, back: int = 1) -> None:
        """Move to the pair that was measured `back` measurements ago, and record it as accepted."""
        self.rows[-back] = (*self.rows[-back][:-1], True)
        self.point, self.suitability = point, suitability
        self.iterations += 1

    def try_move(self, move: str) -> bool | None:
        """Make a move unless suitability falls; return whether it was made, or None if it leaves the lattice."""
        point = self.neighbour(move)
        if not self.legal(point):
            return None
        suitability = self.look(move, point)
        if suitability < self.suitability:
            return False
        self.go(point, suitability)
        return True

    def neighbour(self, move: str) -> Point:
        return self.point[0] + MOVES[move][0], self.point[1] + MOVES[move][1]

    def best_neighbour(self, allowed: Callable[[Point], bool]) -> tuple[Point, float, int] | None:
        """Measure the allowed neighbours; return the first best one, its suitability, and how many rows ago."""
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
            moved = walk.try_move(move)
            if moved:
                failed.clear()
            else:
                failed[move] = f"{move} leaves {walk.ranges[move]}" if moved is None else f"{move} lowers suitability"
    return " and ".join(failed[move] for move in ("beta down", "alpha up"))


def _tabu(walk: _Walk) -> str:
    visited = {walk.point}
    walk.try_move("beta down")
    visited.add(walk.point)
    while True:
        best = walk.best_neighbour(lambda point: point not in visited)
        if best is None:
            return "every neighbour was visited or is outside the range of the search"
        if best[1] < walk.suitability:
            return "every neighbour not yet visited lowers suitability"
        walk.go(*best)
        visited.add(walk.point)


def _algorithm_1(walk: _Walk, *, strict: bool) -> str:
    visited = {walk.point: 0}
    while True:
        best = walk.best_neighbour(lambda point: True)
        if best is None:
            return "every neighbour is outside the range of the search"
        if best[1] < walk.suitability or (strict and best[1] == walk.suitability):
            return "no neighbour is better" if strict else "every neighbour lowers suitability"
        if best[0] in visited:
            # the next move depends only on the current pair, so the walk would repeat itself forever
            alpha, beta = walk.alphas[best[0][0]], walk.betas[best[0][1]]
            return (
                f"cycle: the next pair ({alpha:g}, {beta:g}) was visited at iteration {visited[best[0]]}; "
                "Algorithm 1 as written never ends here"
            )
        walk.go(*best)
        visited[walk.point] = walk.iterations


def _grid(walk: _Walk) -> str:
    if len(walk.alphas) * len(walk.betas) > LARGEST_GRID:
        raise ValueError(f"{len(walk.alphas)} x {len(walk.betas)} pairs are too many: use a step of .001 or more")
    points = [(i, j) for i in walk.alphas for j in walk.betas if walk.legal((i, j)) and (i, j) != walk.point]
    # nearest first: a later pair must be strictly better, so ties go to the pair fewest steps away
    points.sort(key=lambda point: (abs(point[0]) + abs(point[1]), abs(point[0]), point))
    for point in points:
        suitability = walk.look("grid", point)
        if suitability > walk.suitability:
            walk.go(point, suitability)
        else:
            walk.iterations += 1
    return f"looked at all {len(points) + 1} pairs of the lattice"
