"""The command ``sensorprivacy edge export | measure | replay``."""

import argparse
from pathlib import Path

from sensorprivacy.edge.board.commands import Commands, add_board_commands

# torch is imported when a command runs: it takes seconds, and a board has none


def add_edge_command(subparsers: Commands) -> None:
    """Add the command ``edge`` to a command line.

    Parameters
    ----------
    subparsers : argparse subparsers action
        Result of ``parser.add_subparsers()``. The namespace gets ``command``, a function that returns the exit code.
    """
    edge = subparsers.add_parser("edge", help="run paper 3 on a device: export its networks, measure a board")
    commands = edge.add_subparsers(required=True, metavar="COMMAND")
    export = commands.add_parser("export", help="write the networks and edge.pyz into a folder to copy to a board")
    export.set_defaults(command=_export)
    export.add_argument(
        "recordings",
        type=Path,
        metavar="FILE",
        help="your recordings.toml; for MotionSense: python -m compendium export",
    )
    export.add_argument("--hide", metavar="ATTRIBUTE", help="private attribute of your recordings")
    export.add_argument("--save", type=Path, metavar="FILE", help="save the anonymizer trained on your recordings")
    export.add_argument("--out", type=Path, metavar="FOLDER", help="folder to write (default: edge)")
    export.add_argument("--model", type=Path, metavar="FILE", help="use a saved anonymizer instead of training one")
    export.add_argument("--epochs", type=int, default=5, help="training epochs of each autoencoder (default: 5)")
    export.add_argument(
        "--inference-epochs", type=int, default=5, help="training epochs of each inference model (default: 5)"
    )
    add_board_commands(commands, lambda: Path("edge"))


def _export(arguments: argparse.Namespace) -> int:
    from sensorprivacy.edge.export import write_program
    from sensorprivacy.own.boards import own_bundles

    folder = arguments.out or Path("edge")
    choices = {"epochs": arguments.epochs, "inference_epochs": arguments.inference_epochs}
    made = own_bundles(
        arguments.recordings, arguments.hide, folder, model=arguments.model, keep=arguments.save, **choices
    )
    for bundle in made.values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(folder)}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0
