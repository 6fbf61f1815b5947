"""The command ``sensorprivacy edge export | measure | replay``."""

import argparse
from pathlib import Path

from sensorprivacy.edge.board.commands import Commands, add_board_commands
from sensorprivacy.paths import build_dir

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
        "recordings", nargs="?", type=Path, metavar="FILE", help="your recordings.toml (default: MotionSense)"
    )
    export.add_argument("--hide", metavar="ATTRIBUTE", help="private attribute of your recordings")
    export.add_argument("--save", type=Path, metavar="FILE", help="save the anonymizer trained on your recordings")
    export.add_argument(
        "--out", type=Path, metavar="FOLDER", help="folder to write (default: build/edge of the checkout, or edge)"
    )
    export.add_argument("--model", type=Path, metavar="FILE", help="use a saved anonymizer instead of training one")
    export.add_argument("--epochs", type=int, default=5, help="training epochs of each autoencoder (default: 5)")
    export.add_argument(
        "--inference-epochs", type=int, default=5, help="training epochs of each inference model (default: 5)"
    )
    add_board_commands(commands, _bundle_folder)


def _bundle_folder() -> Path:
    try:
        return build_dir() / "edge"
    except FileNotFoundError:  # no checkout
        return Path("edge")


def _export(arguments: argparse.Namespace) -> int:
    from sensorprivacy import latent
    from sensorprivacy.edge.own import check_shape, own_bundles
    from sensorprivacy.edge.paper_bundles import write_all
    from sensorprivacy.edge.program import write_program
    from sensorprivacy.latent.study import prepare

    folder = arguments.out or _bundle_folder()
    choices = {"epochs": arguments.epochs, "inference_epochs": arguments.inference_epochs}
    if arguments.recordings is not None:
        made = own_bundles(
            arguments.recordings, arguments.hide, folder, model=arguments.model, keep=arguments.save, **choices
        )
    elif arguments.hide or arguments.save:
        raise ValueError("--hide and --save are for your own recordings: name their recordings.toml")
    else:
        known = prepare("motionsense", "gender", **choices)
        trained = latent.load(arguments.model) if arguments.model else known.anonymizer(known.inference_models())
        if arguments.model:
            check_shape(trained, known.test, arguments.model)
        made = write_all(known, trained, folder)
    for bundle in made.values():
        print(f"{bundle.folder}  {sum(step.bytes for step in bundle.steps) / 1e6:.1f} MB, {len(bundle.steps)} files")
    print(f"{write_program(folder)}  copy the folder to a board and run: python3 edge.pyz measure --out board.json")
    return 0
