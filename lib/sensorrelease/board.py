"""Measure bundles: the command ``sensorprivacy edge measure``, and ``edge.pyz measure`` on a board without click."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sensorrelease.printing import steadily, visible

MINUTES = 5.0  # of a measurement

# numpy and onnxruntime are imported when a command runs, so that a typing error is reported at once


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``edge.pyz`` and return its exit code: 0, 1 after a failure, 2 for invalid input, 130 after an interrupt."""
    return steadily(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    try:
        options = vars(_parser().parse_args(argv))
        options.pop("command")
        if sys.maxsize < 2**32:
            raise OSError("this Python has 32 bits, and onnxruntime needs 64: install a 64-bit system")
        return measure_bundles(**options)
    except KeyboardInterrupt:
        print("\ninterrupted: no record was written", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        remedy = f"run {sys.executable} -m pip install numpy onnxruntime==1.23.2"
        print(f"error: {error.name or error} is not installed: {remedy}", file=sys.stderr)
        return 1
    except (OSError, ValueError, ImportError) as error:
        print(f"error: {visible(str(error), one_line=True)}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _between(kind: Callable[[str], Any], low: float, high: float) -> Callable[[str], Any]:
    """Return a type of argparse: numbers from `low` to `high`."""

    def number(text: str) -> Any:
        if not low <= (value := kind(text)) <= high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low} and {high}")
        return value

    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="edge.pyz", description="Measure paper 3's anonymization on this board.")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")
    measure = commands.add_parser("measure", help="measure the time and memory of every step on this machine")
    measure.add_argument("--out", type=Path, required=True, metavar="FILE", help="file for the record (JSON)")
    measure.add_argument("--threads", type=_between(int, 1, 1024), default=1, help="threads of onnxruntime (1)")
    windows, seconds, minutes = _between(int, 1, 100_000), _between(float, 0.0001, 3600), _between(float, 0.0001, 1440)
    batches: Any = {"nargs": "+", "default": [1, 128, 256], "metavar": "N", "help": "windows per call (1 128 256)"}
    measure.add_argument("--batches", type=windows, **batches)
    measure.add_argument("--seconds", type=seconds, default=1.0, help="time for each step and batch size (1)")
    measure.add_argument("--minutes", type=minutes, default=MINUTES, help="time for everything (5)")
    beside = Path(sys.argv[0]).resolve().parent  # bundles lie beside the program
    measure.add_argument("--bundles", type=Path, default=beside, metavar="FOLDER", help="a bundle, or their folder")
    return parser


def measure_bundles(
    bundles: Path, out: Path, threads: int, batches: Sequence[int], seconds: float, minutes: float = MINUTES
) -> int:
    """Measure the bundles in a folder, write the record, and return the exit code."""
    from sensorprivacy.edge.board.measurement import check_target, measure, write_record

    check_target(out)
    record = measure(
        bundles,
        batches=tuple(batches),
        threads=threads,
        seconds=seconds,
        minutes=minutes,
        progress=lambda line: print(
            f"\r\033[K{visible(line)}", end="", file=getattr(sys.stderr, "raw", sys.stderr), flush=True
        ),
    )
    print(file=sys.stderr)
    for bundle in record["bundles"]:
        if late := sorted(set(batches) - {row["batch"] for row in bundle["steps"]}):
            print(f"{bundle['name']}: no time for batches of {late} windows; give more than --minutes {minutes:g}")
    for bundle in record["bundles"]:
        if took := bundle["window"]:
            print(
                f"{bundle['name']:24} {1000 * took['median']:8.3f} ms per window (median), "
                f"{1000 * took['p99']:.3f} ms (99th percentile); a window is due every {1000 * bundle['budget']:g} ms"
            )
    print(write_record(record, out))
    return 0
