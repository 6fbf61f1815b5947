"""Progress bars that appear only where somebody watches them."""

import os
import sys
from typing import Any

from tqdm import tqdm as _tqdm

BATCH = "SENSORPRIVACY_BATCH"  # environment variable that is set while notebooks run in a batch


def watched() -> bool:
    """Return whether somebody watches: on a terminal or in a live notebook, but not in a batch or a piped log."""
    return ("ipykernel" in sys.modules and BATCH not in os.environ) or sys.stderr.isatty()


class tqdm(_tqdm):  # noqa: N801 - it is used in place of tqdm's own class
    """Show tqdm's bar if somebody watches."""

    def __init__(self, *args: Any, disable: bool = False, **options: Any) -> None:
        super().__init__(*args, disable=disable or not watched(), **options)  # type: ignore[call-overload]
