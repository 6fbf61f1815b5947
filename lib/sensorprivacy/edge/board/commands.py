"""Commands ``measure`` and ``replay``: part of ``sensorprivacy edge``, and all of ``edge.pyz`` on a board."""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

Commands = argparse._SubParsersAction  # argparse has no public name for it
DefaultFolder = Callable[[], Path]
# numpy and onnxruntime are imported when a command runs, so that a typing error is reported at once


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``edge.pyz`` and return its exit code: 0, 1 after a failure, 2 for invalid input, 130 after an interrupt."""
    parser = argparse.ArgumentParser(prog="edge.pyz", description="Measure paper 3's anonymization on this board.")
    # bundles lie beside the program
    add_board_commands(
        parser.add_subparsers(required=True, metavar="COMMAND"), lambda: Path(sys.argv[0]).resolve().parent
    )
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.command(arguments))
    except KeyboardInterrupt:
        unfinished = ": no record was written" if arguments.command is _measure else ""
        print(f"\ninterrupted{unfinished}", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        remedy = f"run {sys.executable} -m pip install numpy onnxruntime"
        print(f"error: {error.name or error} is not installed: {remedy}", file=sys.stderr)
        return 1
    except (OSError, ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def add_board_commands(commands: Commands, default_folder: DefaultFolder) -> None:
    """Add ``measure`` and ``replay`` to a command line.

    Parameters
    ----------
    commands : argparse subparsers action
        Result of ``parser.add_subparsers()``. The namespace gets ``command``, a function that returns the exit code.
    default_folder : callable
        Returns the folder of the bundles if the user gives none.
    """
    measure = commands.add_parser("measure", help="measure the time and memory of every step on this machine")
    measure.set_defaults(command=_measure)
    measure.add_argument("--out", type=Path, required=True, metavar="FILE", help="file for the record (JSON)")
    measure.add_argument("--threads", type=int, default=1, help="threads of onnxruntime (default: 1)")
    measure.add_argument(
        "--batches",
        type=int,
        nargs="+",
        default=[1, 128, 256],
        metavar="N",
        help="windows per call (default: 1 128 256)",
    )
    measure.add_argument("--seconds", type=float, default=1.0, help="time for each step and batch size (default: 1)")

    replay = commands.add_parser("replay", help="anonymize a stream faster than real time and count missed deadlines")
    replay.set_defaults(command=_replay)
    replay.add_argument("--minutes", type=float, default=1.0, help="length of the recording (default: 1)")
    replay.add_argument("--speed", type=float, default=20.0, help="speed of the replay; 1 is real time (default: 20)")
    for command in (measure, replay):
        command.set_defaults(default_folder=default_folder)
        command.add_argument("--bundles", type=Path, metavar="FOLDER", help="a bundle, or a folder of bundles")


def _measure(arguments: argparse.Namespace) -> int:
    from sensorprivacy.edge.board.measurement import check_target, measure, write_record

    check_target(arguments.out)
    record = measure(
        arguments.bundles or arguments.default_folder(),
        batches=tuple(arguments.batches),
        threads=arguments.threads,
        seconds=arguments.seconds,
        progress=lambda line: print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True),
    )
    print(file=sys.stderr)
    for bundle in record["bundles"]:
        if took := bundle["window"]:
            print(
                f"{bundle['name']:24} {1000 * took['median']:8.3f} ms per window (median), "
                f"{1000 * took['p99']:.3f} ms (99th percentile); a window is due every {1000 * bundle['budget']:g} ms"
            )
    print(write_record(record, arguments.out))
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    from sensorprivacy.edge.board.bundle import find_bundles, read_bundle
    from sensorprivacy.edge.board.pipeline import Pipeline
    from sensorprivacy.edge.board.stream import recording, replay

    late, speed = 0, arguments.speed
    if not all(math.isfinite(given) and given > 0 for given in (speed, arguments.minutes)):
        raise ValueError(f"--minutes {arguments.minutes:g} and --speed {speed:g} must be numbers above 0")
    for bundle in map(read_bundle, find_bundles(arguments.bundles or arguments.default_folder())):
        if not bundle.anonymizes:
            continue
        found = replay(Pipeline(bundle), recording(bundle, 60 * arguments.minutes), speed=speed)
        print(
            f"{bundle.folder.name:24} {found['windows']} windows at {speed:g} times real time: "
            f"{found['late_windows']} late, "
            f"{found['overrun']} of them because of their own processor time; "
            f"slowest {1000 * found['slowest']:.2f} ms of {1000 * bundle.budget / speed:g} ms; "
            f"memory grew by {found['grown'] / 1024:.0f} KB"
        )
        late += int(found["late_windows"])
    return 1 if late else 0
