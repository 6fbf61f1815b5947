"""The command line ``sensorprivacy``, also called as ``python -m sensorprivacy``."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from sensorprivacy import __version__
from sensorprivacy.extras import remedy
from sensorprivacy.own.compare_cli import add_compare_command
from sensorprivacy.own.edge_cli import add_edge_command
from sensorprivacy.own.minimize_cli import INTERRUPTED, add_minimize_command
from sensorprivacy.own.publish_cli import add_publish_command

# Each command imports what it needs when it runs, so that wrong words are refused without waiting for pandas.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1 after a failure, 2 for wrong words, 130 after an interrupt."""
    words = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args(words)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ModuleNotFoundError as error:
        if (missing := remedy(error)) is None:
            raise
        print(f"error: {missing}", file=sys.stderr)
        return 1
    except (LookupError, OSError, ValueError, RuntimeError) as error:
        # Our own errors explain themselves. SENSORPRIVACY_DEBUG shows the traceback of the others.
        if os.environ.get("SENSORPRIVACY_DEBUG"):
            raise
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sensorprivacy", description="Publish your own sensor data so that people are hard to identify."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add_minimize_command(commands)
    add_compare_command(commands)
    add_publish_command(commands)
    add_edge_command(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
