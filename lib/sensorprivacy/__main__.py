"""Run the command line as ``python -m sensorprivacy``."""

import sys

from sensorprivacy.cli import main

if __name__ == "__main__":
    sys.exit(main())
