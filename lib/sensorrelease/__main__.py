"""Run the command line as ``python -m sensorrelease``."""

import sys

from sensorrelease.cli import main

if __name__ == "__main__":
    sys.exit(main())
