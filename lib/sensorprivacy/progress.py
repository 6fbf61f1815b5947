"""Progress bars that appear only where somebody watches them."""

import os
import sys
from typing import Any

from tqdm import tqdm as _tqdm

BATCH = "SENSORPRIVACY_BATCH"  # environment variable that is set while notebooks run in a batch


class tqdm(_tqdm):  # noqa: N801 - it is used in place of tqdm's own class
    """Show tqdm's bar on a terminal and in a live notebook, but not in a batch or in a piped log."""

    def __init__(self, *args: Any, disable: bool = False, **options: Any) -> None:
        live = "ipykernel" in sys.modules and BATCH not in os.environ
        super().__init__(*args, disable=disable or not (live or sys.stderr.isatty()), **options)  # type: ignore[call-overload]
