"""What a Raspberry Pi 3 could do at best: a lower bound for each step from its multiply-adds and the bytes it moves.

A step cannot be faster than its multiply-adds at the processor's peak, nor than its weights can come from memory. Real
code reaches neither, so the bound is no forecast; how many times the bound a printed time is tells how much of it the
networks explain.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_BYTES = {"float32": 4, "int8": 1}


@dataclass(frozen=True)
class Board:
    """Peaks of a board.

    Parameters
    ----------
    name : str
        The board.
    cores : int
        Of its processor.
    clock : float
        Hz.
    macs : int
        Multiply-adds in float32 that a core can start in a cycle.
    bandwidth : float
        Bytes a second from memory, at most.
    cache : int
        Bytes of the last cache.
    sources : tuple of str
        Where the numbers are from.
    """

    name: str
    cores: int
    clock: float
    macs: int
    bandwidth: float
    cache: int
    sources: tuple[str, ...]

    def seconds(self, macs: float, moved: float, cores: int) -> float:
        """Return the least time for so many multiply-adds and bytes: the two overlap, so the greater of both."""
        return max(macs / (cores * self.macs * self.clock), moved / self.bandwidth)


PI3 = Board(
    name="Raspberry Pi 3 Model B",
    cores=4,
    clock=1.2e9,
    macs=4,
    bandwidth=3.6e9,
    cache=512 * 1024,
    sources=(
        "Raspberry Pi documentation, processors: BCM2837, four Cortex-A53 at 1.2 GHz, 512 KB level 2 cache",
        "ncnn, developer guide on Cortex-A53: one fmla of four float32 issues a cycle, 8 FLOP a cycle and core",
        "Raspberry Pi 3 Model B, product brief: 1 GB of LPDDR2 at 900 MT/s; on its 32-bit bus 3.6 GB/s at most",
    ),
)


def lower_bound(
    network: Mapping[str, float], batch: int, *, cores: int = 1, precision: str = "float32", board: Board = PI3
) -> float:
    """Return the least seconds a window that a step can take.

    Parameters
    ----------
    network : mapping
        ``weights`` and ``macs`` of a step, as a record has them.
    batch : int
        Windows of a call; weights come from memory once a call.
    cores : int
        Cores used.
    precision : {"float32", "int8"}
        Of the weights. Multiply-adds are counted at the peak of float32 for both.
    board : Board
        Whose peaks.

    Raises
    ------
    ValueError
        If the board has fewer cores, or the batch is empty.
    """
    if batch < 1 or not 1 <= cores <= board.cores:
        raise ValueError(f"batch={batch}, cores={cores}: {board.name} has 1 to {board.cores} cores")
    weights = network["weights"] * _BYTES[precision]
    # a pipeline's weights are many times the cache, so they come from memory each call; windows and what lies between
    # layers may stay in the cache, and a lower bound must allow that
    return board.seconds(network["macs"] * batch, weights, cores) / batch


def bounds(networks: Iterable[Mapping], batch: int, *, cores: int = 1, board: Board = PI3) -> list[dict]:
    """Return one row a step: multiply-adds, bytes of weights, what limits it, and the bound in seconds a window."""
    rows = []
    for network in networks:
        bound = lower_bound(network, batch, cores=cores, board=board)
        by_macs = network["macs"] / (cores * board.macs * board.clock)
        rows.append(
            {
                "step": network["step"],
                "code": network["code"],
                "macs": network["macs"],
                "weight_bytes": 4 * network["weights"],
                "limited_by": "arithmetic" if by_macs >= bound * (1 - 1e-9) else "memory",
                "bound": bound,
            }
        )
    return rows
