"""Execute a notebook in a batch: check its parameters first, report progress, keep a log, explain a failure briefly.

papermill does the work. This module adds four things. It refuses a wrong parameter before anything runs. It uses the
kernel of this environment. It writes a line for each cell. And it ends a failure with the cell's own error, not with a
page of frames.
"""

import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import Any, TextIO

import nbformat

from compendium.paths import build_dir, figures_dir
from compendium.run.parameters import code_cells, complete, read_parameters, resolve
from compendium.run.runs import run_name
from sensorprivacy.paths import CACHE_VARIABLE, check_writable, temporary_files
from sensorprivacy.progress import BATCH

KERNEL = "python3"
KERNEL_SECONDS = 600  # to start a kernel: the usual minute is too short on a busy machine
_HOMES = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", CACHE_VARIABLE)
_LENGTH = 200  # of a reason in the summary
SLOW_SECONDS = 10  # the user hears of cells that take longer
_SHUTDOWN = re.compile(r"^.*KeyboardInterrupt caught in kernel\.?\n*\Z", re.MULTILINE)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookFailedError(RuntimeError):
    """A cell of a notebook raised an error, or the kernel died.

    The message names the cell and the log; `reason` is the error in one line.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Executed:
    """A notebook that ran to its end; its tables and figures are in `results`, if it has any."""

    output: Path
    log: Path
    results: Path
    seconds: float


def run(
    notebook: Path | str,
    given: Mapping[str, Any] | None = None,
    *,
    output: Path | str | None = None,
    log: Path | str | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Executed:
    """Execute a notebook with checked parameters.

    Parameters
    ----------
    notebook : path
        The notebook; it is not changed.
    given : mapping of str to object, optional
        Values that replace the notebook's defaults. Text is converted to the parameter's type.
    output : path, optional
        The executed notebook. By default ``build/executed/<profile>/<run>.ipynb``, or ``build/executed/own/`` for a
        run that is not in ``runs.yaml``; see `runs.run_name`.
    log : path, optional
        The log: the notebook's printed text and warnings, and the traceback of a failure. By default
        ``build/logs/<profile>/<run>.log``.
    say : callable, optional
        Takes a line about each cell that runs for more than ten seconds, such as ``print``. The log has a line for
        every cell.

    Returns
    -------
    Executed

    Raises
    ------
    ParameterError
        If a parameter is unknown, of the wrong type, out of range or none of its choices. Nothing has run then.
    NotebookFailedError
        If a cell raised an error or the kernel died. ``<output>.unfinished.ipynb`` has the notebook up to that cell.
    """
    notebook = Path(notebook)
    declared = read_parameters(notebook)
    values = resolve(declared, given or {})
    whole = complete(declared, values)
    name, replicates = run_name(notebook, whole)
    place = f"{whole['profile'] if replicates else 'own'}/{name}"
    output = Path(output or build_dir() / "executed" / f"{place}.ipynb")
    log = Path(log or build_dir() / "logs" / f"{place}.log")
    if output.resolve() == notebook.resolve():
        raise ValueError(f"the executed notebook would overwrite {notebook}: choose another output")
    for folder in (output.parent, log.parent):
        check_writable(folder)
    unfinished = output.with_name(f"{output.stem}.unfinished.ipynb")
    for earlier in (output, unfinished):
        earlier.unlink(missing_ok=True)
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        stream.write(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}  {notebook}  {values}\n")
        try:
            with temporary_files(), _progress(output.stem, notebook, bool(values), stream, say) as hooks:
                _execute(notebook, unfinished, values, stream, hooks)
        except KeyboardInterrupt:
            # The kernel ends with us. asyncio would print that as an error of its own.
            logging.getLogger("asyncio").setLevel(logging.CRITICAL)
            raise
        except Exception as error:
            seconds = time.monotonic() - started
            said = _ANSI.sub("", f"{type(error).__name__}: {error}").strip()
            stream.write(f"\nfailed after {seconds:.1f} s\n{said}\n")
            reason = said.splitlines()[-1][:_LENGTH]
            raise NotebookFailedError(_short(error, notebook, unfinished, log), reason) from error
    without_error_stream(unfinished)
    unfinished.replace(output)
    seconds = time.monotonic() - started
    # Jupyter interrupts a kernel before it asks it to end. A kernel that shows figures reports that as an error.
    text = _SHUTDOWN.sub("", log.read_text(encoding="utf-8"))
    log.write_text(f"{text}\nended after {seconds:.1f} s\n", encoding="utf-8")
    return Executed(output, log, figures_dir(place.split("/")[0]) / name, seconds)


def without_error_stream(output: Path) -> None:
    """Remove warnings and progress from an executed notebook, so that it is fit to read; the log has them."""
    notebook = nbformat.read(output, as_version=4)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    nbformat.write(notebook, output)


def _execute(notebook: Path, output: Path, values: dict[str, Any], log: TextIO, hooks: Mapping[str, Any]) -> None:
    # Imported here: papermill takes a second.
    import papermill

    # A kernel called python3 may also be installed for the user. This selects the environment's own.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    os.environ[BATCH] = "1"  # no bars in the notebook and in the log
    _do_without_home()
    kernel = {"kernel_name": KERNEL, "language": "python", "start_timeout": KERNEL_SECONDS}
    streams = {"stdout_file": log, "stderr_file": log, "progress_bar": False}
    with _kernel_errors_to(log):
        papermill.execute_notebook(str(notebook), str(output), parameters=values, **kernel, **streams, **hooks)


def _do_without_home() -> None:
    """Give programs that keep files in the home folder one below ``build/`` if no file can be made there."""
    try:
        with tempfile.TemporaryFile(dir=Path.home()):  # root may write by permission where /proc still refuses
            return
    except (OSError, RuntimeError):
        for name in _HOMES:
            os.environ.setdefault(name, str(build_dir() / "home" / name.lower()))


@contextmanager
def _progress(
    name: str, notebook: Path, injected: bool, log: TextIO, say: Callable[[str], None]
) -> Iterator[dict[str, Callable[..., None]]]:
    """Yield hooks for papermill that write a line for each cell to the log, and say those of slow cells."""
    total = len(code_cells(notebook)) + injected  # papermill adds a cell with the values
    timers: list[Timer] = []

    def start(**_: Any) -> None:
        line = f"{name}: cell {len(timers) + 1} of {total}"
        print(line, file=log, flush=True)
        timers.append(Timer(SLOW_SECONDS, say, [line]))
        timers[-1].start()

    def end(**_: Any) -> None:
        timers[-1].cancel()

    try:
        yield {"on_cell_execute": start, "on_cell_executed": end}
    finally:  # a cell that failed has no end
        for timer in timers[-1:]:
            timer.cancel()


@contextmanager
def _kernel_errors_to(log: TextIO) -> Iterator[None]:
    """Send to the log what the kernel's process itself writes to standard error, such as its frames after Ctrl-C."""
    console = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(console, 2)
        os.close(console)


def _short(error: Any, notebook: Path, unfinished: Path, log: Path) -> str:
    """Return a failure in a few lines: the cell, its error, and the files with more."""
    where, what = "", f"{type(error).__name__}: {error}"
    if hasattr(error, "ename"):  # papermill's own error carries the notebook's error and traceback
        cell = _ANSI.sub("", "\n".join(error.traceback or [])).split("File ", 1)[0]
        arrow = re.search(r"^-+> *\d+ (.+)$", cell, re.MULTILINE)  # IPython's mark of the line that raised the error
        where = f" in cell [{error.exec_count}]{f': {arrow[1].strip()}' if arrow else ''}"
        what = f"{error.ename}: {error.evalue}"
    partial = f"the notebook up to that cell: {unfinished}" if unfinished.is_file() else "nothing was executed"
    lines = _ANSI.sub("", what).strip().splitlines() or [""]
    return "\n".join([f"{notebook.name} failed{where}", *(f"  {line}" for line in lines[:12]), partial, f"log: {log}"])
