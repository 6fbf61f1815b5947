"""A run's folder: figures, tables, verdicts, and what they were made from.

Nothing is written before :meth:`Run.close`: a run that fails leaves the results of the one before it as they were.
``run.json`` holds what is the same whenever the run is repeated, ``machine.json`` (git-ignored) what is not.
"""

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from sensorprivacy.paths import figures_dir, project_root
from sensorprivacy.report import figures, tables, verdicts
from sensorprivacy.report.printed import printed_values

RUN_FILE, MACHINE_FILE, VERDICTS_FILE, DRAWN = "run.json", "machine.json", "verdicts.csv", "drawn"

# the packages that numbers and pictures rest on, by the module that loads them
_PACKAGES = {
    "sensorprivacy": "sensorprivacy",
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "sklearn": "scikit-learn",
    "opendp": "opendp",
    "torch": "torch",
    "shap": "shap",
    "joblib": "joblib",
    "matplotlib": "matplotlib",
    "seaborn": "seaborn",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class RunError(RuntimeError):
    """A run is used in a way that would spoil its record."""


def open_run(
    notebook: str,
    *,
    variant: str = "",
    profile: str = "quick",
    parameters: Mapping[str, Any],
    data: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> "Run":
    """Begin a run of a notebook.

    Parameters
    ----------
    notebook : str
        The notebook's name without ``.ipynb``.
    variant : str, optional
        What tells this run from others of the same notebook, such as the data set; the run is ``notebook-variant``.
    profile : str, default "quick"
        ``"paper"`` writes the committed ``figures/<run>/``, any other ``figures/<profile>/<run>/``, stamped.
    parameters : mapping
        The notebook's parameters; JSON values or paths.
    data : mapping of str to str, optional
        Digest of each data set used, by its name.
    seed : int, optional
        The seed of everything random in the run.

    Returns
    -------
    Run
        Call its `close` in the notebook's last cell, or use it in a ``with`` block.

    Raises
    ------
    ValueError
        If a name would not do as a folder's name, or a parameter is no JSON value.
    """
    for name in filter(None, (notebook, variant, profile)):
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r}: a name is letters, digits, '-', '_' and '.'")
    if not notebook or not profile:
        raise ValueError("a run needs the notebook's name and a profile")
    return Run(
        name=f"{notebook}-{variant}" if variant else notebook,
        profile=profile,
        record={
            "notebook": notebook,
            "variant": variant,
            "profile": profile,
            "parameters": {str(key): _json_value(key, value) for key, value in parameters.items()},
            "seed": seed,
            "data": {str(name): str(digest) for name, digest in (data or {}).items()},
        },
    )


class Run:
    """Collects what a run makes and writes it on `close`; see :func:`open_run`."""

    def __init__(self, name: str, profile: str, record: dict[str, Any]) -> None:
        self.name = name
        self.profile = profile
        self.folder: Path = figures_dir(profile) / name
        self.closed = False
        self._record = record
        self._files: dict[str, bytes] = {}
        self._verdicts: list[pd.DataFrame] = []
        self._started = datetime.datetime.now(datetime.UTC)
        self._clock = time.perf_counter()

    @property
    def stamp(self) -> str:
        """What figures and tables are stamped with: the profile, or nothing for the papers' own settings."""
        return "" if self.profile == "paper" else self.profile

    @property
    def verdicts(self) -> pd.DataFrame:
        """All verdicts of this run so far."""
        none = pd.DataFrame(columns=list(verdicts.COLUMNS))
        return pd.concat(self._verdicts, ignore_index=True) if self._verdicts else none

    def table(self, df: pd.DataFrame, name: str, caption: str, stable: bool = True) -> tables.ShownTable:
        """Keep a table as ``<name>.csv`` and ``<name>.md`` and return it for the notebook to show.

        Parameters
        ----------
        df : pandas.DataFrame
            The table; an index that says what a row is becomes its first column.
        name, caption : str
            File name without ending; one line that says what it shows.
        stable : bool, default True
            False for what is freshly drawn each time: it goes to ``drawn/`` and stays out of ``run.json``'s digests.
        """
        shown = tables.ShownTable(df, self._stamped(caption))
        self._keep(f"{name}.csv", tables.csv_text(df).encode(), stable)
        self._keep(f"{name}.md", shown.markdown.encode(), stable)
        return shown

    def figure(self, fig: Figure, name: str, caption: str, stable: bool = True) -> figures.ShownFigure:
        """Keep a figure as ``<name>.png`` and ``<name>.svg`` and return it for the notebook to show.

        The figure is closed. Parameters as for :meth:`table`; the caption is also the picture's alternative text.
        """
        pictures = figures.render(fig, stamp=self.stamp)
        for ending, content in pictures.items():
            self._keep(f"{name}.{ending}", content, stable)
        return figures.ShownFigure(pictures["png"], self._stamped(caption))

    def claims(
        self, ours: Mapping[str, Any], impossible: Mapping[str, str] | None = None, **options: Any
    ) -> "JudgedClaims":
        """Judge our values against the printed ones, keep the verdicts, and return them for the notebook to show.

        Parameters
        ----------
        ours, impossible, **options
            As for :func:`.verdicts.judge`.

        Raises
        ------
        RunError
            If the run has judged one of the claims before.
        """
        self._check_open()
        judged = verdicts.judge(ours, run=self.name, impossible=impossible, **options)
        if twice := sorted(set(judged["claim_id"]) & set(self.verdicts["claim_id"])):
            raise RunError(f"run {self.name} judges claims twice: {', '.join(twice)}")
        self._verdicts.append(judged)
        shown = JudgedClaims(judged)
        shown.attrs["caption"] = self._stamped(f"{len(judged)} printed values: {_tally(judged)}")
        return shown

    def close(self) -> Path:
        """Write everything, remove what an earlier run of this name left, and return the folder; again: no effect."""
        if self.closed:
            return self.folder
        if self._verdicts:
            self._keep(VERDICTS_FILE, tables.csv_text(in_paper_order(self.verdicts)).encode(), True)
        earlier = _listed(self.folder / RUN_FILE)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(self._files.items())}
        stable = {name: digest for name, digest in digests.items() if not name.startswith(f"{DRAWN}/")}
        drawn = [name for name in digests if name not in stable]
        for name, content in self._files.items():
            write_atomically(self.folder / name, content)
        for name in sorted(earlier - set(digests)):
            (self.folder / name).unlink(missing_ok=True)
        record = {"run": self.name, **self._record, "packages": _versions(), "files": stable, "drawn": drawn}
        machine = {**self._machine(), "drawn": {name: digests[name] for name in drawn}}
        write_atomically(self.folder / MACHINE_FILE, _json_bytes(machine))
        write_atomically(self.folder / RUN_FILE, _json_bytes(record))  # last: it says that the rest is there
        self.closed = True
        return self.folder

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()

    def _keep(self, name: str, content: bytes, stable: bool) -> None:
        self._check_open()
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r}: a file's name is letters, digits, '-', '_' and '.'")
        place = name if stable else f"{DRAWN}/{name}"
        if place in self._files or place in (RUN_FILE, MACHINE_FILE):
            raise RunError(f"run {self.name} already has a file {place}")
        self._files[place] = content

    def _check_open(self) -> None:
        if self.closed:
            raise RunError(f"run {self.name} is closed: open it again to add to it")

    def _stamped(self, caption: str) -> str:
        return f"{caption} [{self.stamp}]" if self.stamp else caption

    def _machine(self) -> dict[str, Any]:
        return {
            "run": self.name,
            "started": self._started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._clock, 1),
            "platform": platform.platform(),
            "processors": os.cpu_count(),
            "commit": _git("rev-parse", "HEAD"),
            "dirty": None if (changed := _git("status", "--porcelain")) is None else bool(changed),
        }


class JudgedClaims(pd.DataFrame):
    """The verdicts of some claims: a plain frame that Jupyter shows as printed beside ours."""

    def _repr_html_(self) -> str:
        return tables.ShownTable(tables.compare(self), self.attrs.get("caption", ""))._repr_html_()


def in_paper_order(judged: pd.DataFrame, values: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return verdicts in the order in which the papers print the claims."""
    values = printed_values() if values is None else values
    place = {name: number for number, name in enumerate(values["claim_id"])}
    return judged.sort_values("claim_id", key=lambda ids: ids.map(place), kind="stable").reset_index(drop=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _tally(judged: pd.DataFrame) -> str:
    counts = judged["verdict"].value_counts()
    return ", ".join(f"{counts[name]} {name}" for name in verdicts.VERDICTS if name in counts) or "none"


def _listed(path: Path) -> set[str]:
    """Return the files that an earlier run's record names; none if there is no readable record."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return set()
    names = [*record.get("files", {}), *record.get("drawn", [])]
    return {name for name in names if all(_NAME.fullmatch(part) for part in name.split("/"))}


def _json_bytes(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _json_value(key: str, value: Any) -> Any:
    """Return a parameter as a JSON value; a path on this machine becomes one that says nothing of the machine."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and Path(value).is_absolute():
        root = project_root()
        return str(Path(value).relative_to(root)) if Path(value).is_relative_to(root) else Path(value).name
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"parameter {key}={value!r} is no JSON value: {error}") from error
    return value


def _versions() -> dict[str, str]:
    loaded = {name: importlib.metadata.version(name) for module, name in _PACKAGES.items() if module in sys.modules}
    return {"python": platform.python_version(), **loaded}


def _git(*words: str) -> str | None:
    try:
        command = ["git", *words]
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
