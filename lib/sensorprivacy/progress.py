"""Progress bars that appear only where somebody watches them."""

import os
import sys
from typing import Any

from tqdm import tqdm as _tqdm

BATCH = "SENSORPRIVACY_BATCH"  # environment variable that is set while notebooks run in a batch
_INJECTED = "# Parameters"  # the first line of the cell that papermill adds


def terminal(stream: Any) -> Any:
    """Return the stream below a stream that shows control characters, which can move the cursor."""
    return getattr(stream, "raw", stream)


def watched() -> bool:
    """Return whether somebody watches: on a terminal or in a live notebook, but not in a batch or a piped log."""
    return live_notebook() or sys.stderr.isatty()


def live_notebook() -> bool:
    """Return whether this is a notebook that a person runs, not papermill or our own runner."""
    if "ipykernel" not in sys.modules or BATCH in os.environ:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    cells = [_INJECTED] if shell is None else shell.user_ns.get("In", [])  # the module alone is no notebook
    return not any(cell.startswith(_INJECTED) for cell in cells)


def _widget() -> type[_tqdm] | None:
    """Return tqdm's bar for notebooks; None where ipywidgets is not installed."""
    from tqdm import notebook

    return notebook.tqdm if notebook.IProgress is not None else None  # type: ignore[attr-defined]


class tqdm(_tqdm):  # noqa: N801 - it is used in place of tqdm's own class
    """Show tqdm's bar if somebody watches: a widget in a live notebook, text on a terminal.

    The widget is an object of tqdm's own class for notebooks, which has the same methods.
    """

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Return the bar that fits the place."""
        if live_notebook() and not options.get("disable") and (widget := _widget()) is not None:
            return widget(*args, **options)  # no object of this class, so Python does not call __init__ below
        return super().__new__(cls, *args, **options)

    def __init__(self, *args: Any, disable: bool = False, **options: Any) -> None:
        options.setdefault("file", terminal(sys.stderr))
        super().__init__(*args, disable=disable or not watched(), **options)  # type: ignore[call-overload]
