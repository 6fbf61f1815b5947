"""Run the command line as ``python -m compendium``."""

import sys

from compendium.cli import main

if __name__ == "__main__":
    sys.exit(main())
