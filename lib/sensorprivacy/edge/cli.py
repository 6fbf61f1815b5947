"""``python -m sensorprivacy edge export | measure | replay``; on a board ``python3 edge.pyz measure | replay``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sensorprivacy.edge.pipeline import Pipeline

# numpy and onnxruntime are imported when a command runs: a wrong word is refused at once


def add_edge_command(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command ``edge`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        What ``parser.add_subparsers()`` returned. The namespace gets ``command``, which returns the exit code.
    """
    command = subparsers.add_parser("edge", help="paper 3 on a device: export its networks, measure a board")
    _add_commands(command.add_subparsers(required=True, metavar="WHAT"), board=False)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command on a board and return its exit code: 0, 1 for a failure, 2 for wrong words."""
    parser = argparse.ArgumentParser(prog="edge.pyz", description="Measure paper 3's anonymization on this board.")
    _add_commands(parser.add_subparsers(required=True, metavar="WHAT"), board=True)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.command(arguments))
    except (OSError, ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", *, board: bool) -> None:
    measure = commands.add_parser("measure", help="time every step of the bundles on this machine")
    measure.set_defaults(command=_measure)
    measure.add_argument("--out", type=Path, required=True, metavar="FILE", help="the record, JSON")
    _add_bundles(measure)
    measure.add_argument("--threads", type=int, default=1, help="threads of onnxruntime (1)")
    measure.add_argument("--batches", type=int, nargs="+", default=[1, 128, 256], metavar="N", help="(1 128 256)")
    measure.add_argument("--seconds", type=float, default=1.0, help="spent on each step and batch size (1)")

    replay = commands.add_parser("replay", help="anonymize a stream faster than real time and count missed deadlines")
    replay.set_defaults(command=_replay)
    _add_bundles(replay)
    replay.add_argument("--minutes", type=float, default=1.0, help="length of the recording (1)")
    replay.add_argument("--speed", type=float, default=20.0, help="times real time (20)")
    if board:
        return
    export = commands.add_parser("export", help="write bundles and edge.pyz, to be carried to a board")
    export.set_defaults(command=_export)
    export.add_argument("--out", type=Path, metavar="FOLDER", help="where to (build/edge)")
    export.add_argument("--model", type=Path, metavar="FILE", help="a saved anonymizer, instead of training one")
    export.add_argument("--epochs", type=int, default=5, help="of each autoencoder (5)")
    export.add_argument("--inference-epochs", type=int, default=5, help="of each inference model (5)")


def _add_bundles(command: argparse.ArgumentParser) -> None:
    command.add_argument("--bundles", type=Path, metavar="FOLDER", help="a bundle, or a folder of them")


def _folder(arguments: argparse.Namespace) -> Path:
    """Return where the bundles are: as said, beside the program that was carried, or where `export` puts them."""
    if arguments.bundles:
        return Path(arguments.bundles)
    program = Path(sys.argv[0])
    if program.suffix == ".pyz":
        return program.resolve().parent
    from sensorprivacy.paths import build_dir

    return build_dir() / "edge"


def _measure(arguments: argparse.Namespace) -> int:
    from sensorprivacy.edge.device import measure, write_record

    record = measure(
        _folder(arguments),
        batches=tuple(arguments.batches),
        threads=arguments.threads,
        seconds=arguments.seconds,
        tell=lambda what: print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True),
    )
    print(file=sys.stderr)
    for each in record["bundles"]:
        if each["window"]:
            took, budget = each["window"], each["budget"]
            print(
                f"{each['name']:24} {1000 * took['median']:8.3f} ms a window, "
                f"99 of 100 within {1000 * took['p99']:.3f} ms; due every {1000 * budget:g} ms"
            )
    print(write_record(record, arguments.out))
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    from sensorprivacy.edge.bundle import find_bundles, read_bundle
    from sensorprivacy.edge.pipeline import Pipeline

    bundles = [read_bundle(path) for path in find_bundles(_folder(arguments))]
    missed = 0
    for bundle in bundles:
        if bundle.anonymizes:
            missed += _replay_one(Pipeline(bundle), arguments.minutes, arguments.speed)
    return 1 if missed else 0


def _replay_one(pipeline: "Pipeline", minutes: float, speed: float) -> int:
    from sensorprivacy.edge.replay import recording, replay

    bundle = pipeline.bundle
    found = replay(pipeline, recording(bundle, 60 * minutes), speed=speed)
    print(
        f"{bundle.folder.name:24} {found['windows']} windows at {speed:g} times real time, {found['late']} late, "
        f"{found['overrun']} of them by their own work; "
        f"slowest {1000 * found['slowest']:.2f} ms of {1000 * bundle.budget / speed:g}; "
        f"memory grew by {found['grown'] / 1024:.0f} KB"
    )
    return int(found["late"])


def _export(arguments: argparse.Namespace) -> int:
    from sensorprivacy import latent
    from sensorprivacy.edge import prepared
    from sensorprivacy.edge.carry import write_program
    from sensorprivacy.latent.study import prepare
    from sensorprivacy.paths import build_dir

    folder = arguments.out or build_dir() / "edge"
    choices = {"epochs": arguments.epochs, "inference_epochs": arguments.inference_epochs}
    known = prepare("motionsense", "gender", **choices)
    trained = latent.load(arguments.model) if arguments.model else known.anonymizer(known.inference_models())
    for bundle in prepared.write_all(known, trained, folder).values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(folder)}  carry the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0
