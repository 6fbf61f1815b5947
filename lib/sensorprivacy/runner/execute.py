"""Execute a notebook in a batch: parameters checked first, progress shown, a log kept, failures told in short.

papermill does the work; what is added is that an unknown or ill-typed parameter is refused before anything runs, that
the kernel is this environment's, and that a failing cell ends with its own error and not with a page of frames.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from sensorprivacy.paths import build_dir
from sensorprivacy.runner.parameters import read_parameters, resolve

KERNEL = "python3"
KERNEL_SECONDS = 600  # to start one: on a busy machine the usual minute is too short
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookFailedError(RuntimeError):
    """A cell of a notebook raised, or its kernel died; the message says where and where the rest is to be read."""


@dataclass(frozen=True)
class Executed:
    """A notebook that ran to its end."""

    notebook: Path
    output: Path
    log: Path
    parameters: dict[str, Any]
    seconds: float


def run(
    notebook: Path | str,
    given: Mapping[str, Any] | None = None,
    *,
    output: Path | str | None = None,
    log: Path | str | None = None,
    progress: bool = True,
) -> Executed:
    """Execute a notebook with checked parameters.

    Parameters
    ----------
    notebook : path
        The notebook; it is not changed.
    given : mapping of str to object, optional
        Parameters that differ from the notebook's defaults; text is read as the parameter's type.
    output : path, optional
        Where the executed notebook goes; ``build/executed/<run>.ipynb`` by default, see `run_name`.
    log : path, optional
        What the notebook prints, and the whole traceback of a failure; ``build/logs/<run>.log`` by default.
    progress : bool, default=True
        Show a bar over the cells on the standard error stream.

    Returns
    -------
    Executed

    Raises
    ------
    ParameterError
        If a parameter is unknown, ill-typed or outside its choices; nothing has run then.
    NotebookFailedError
        If a cell raised or the kernel died; the partially executed notebook is at `output`.
    """
    notebook = Path(notebook)
    values = resolve(read_parameters(notebook), given or {})
    name = run_name(notebook, values)
    output = Path(output) if output else build_dir() / "executed" / f"{name}.ipynb"
    log = Path(log) if log else build_dir() / "logs" / f"{name}.log"
    if output.resolve() == notebook.resolve():
        raise ValueError(f"the executed notebook would overwrite {notebook}: give another output")
    for folder in (output.parent, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        stream.write(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}  {notebook}  {values}\n")
        try:
            _execute(notebook, output, values, stream, progress)
        except Exception as error:
            stream.write(_ANSI.sub("", f"\n{type(error).__name__}: {error}\n"))
            raise NotebookFailedError(_short(error, notebook, output, log)) from error
        seconds = time.monotonic() - started
        stream.write(f"\nended after {seconds:.1f} s\n")
    return Executed(notebook, output, log, values, seconds)


def run_name(notebook: Path, values: Mapping[str, Any]) -> str:
    """Return the notebook's name with the values that tell runs apart, such as ``21_threeway_division-adult-step_0.1``.

    Words stand for themselves, a file by its stem; other values are led by their parameter's name. The profile is left
    out: it changes how long a run takes, not what it is about.
    """
    parts = [Path(notebook).stem]
    for name, value in values.items():
        if name != "profile":
            text = Path(value).stem if isinstance(value, str) else f"{name}_{value}"
            parts.append(re.sub(r"[^\w.+-]+", "_", text).strip("_"))
    return "-".join(part for part in parts if part)[:120]


def _execute(notebook: Path, output: Path, values: dict[str, Any], stream: TextIO, progress: bool) -> None:
    # Imported here: papermill takes a second, and refusing a parameter should not.
    import papermill

    # A kernel called python3 may also be installed for the user; the one meant is this environment's.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    with _kernel_words_to(stream) as console:
        papermill.execute_notebook(
            str(notebook),
            str(output),
            parameters=values,
            kernel_name=KERNEL,
            language="python",
            start_timeout=KERNEL_SECONDS,
            progress_bar={"desc": notebook.stem, "file": console} if progress else False,
            stdout_file=stream,
            stderr_file=stream,
        )


@contextmanager
def _kernel_words_to(log: TextIO) -> Iterator[TextIO]:
    """Send what a kernel process itself says, such as its frames after Ctrl-C, to the log; yield the console."""
    console = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        with os.fdopen(os.dup(console), "w") as stream:
            yield stream
    finally:
        os.dup2(console, 2)
        os.close(console)


def _short(error: Any, notebook: Path, output: Path, log: Path) -> str:
    """Return what went wrong in a few lines: cell, line, error, and where to read on."""
    where, what = "", f"{type(error).__name__}: {error}"
    if hasattr(error, "ename"):  # papermill's own: the notebook's error, its source and its traceback
        where = f" in cell [{error.exec_count}]{_offending_line(error)}"
        what = f"{error.ename}: {error.evalue}"
    partial = f"the notebook up to there: {output}" if output.is_file() else "nothing was executed"
    lines = _ANSI.sub("", what).strip().splitlines() or [""]
    return "\n".join([f"{notebook.name} failed{where}", *(f"  {line}" for line in lines[:12]), partial, f"log: {log}"])


def _offending_line(error: Any) -> str:
    """Return the cell's line that raised, marked with an arrow in IPython's traceback."""
    traceback = _ANSI.sub("", "\n".join(error.traceback or []))
    cell = traceback.split("File ", 1)[0]
    arrow = re.search(r"^-+> *\d+ (.+)$", cell, re.MULTILINE)
    return f": {arrow[1].strip()}" if arrow else ""
