"""The folder of a run: its figures, tables and verdicts, and a record of how they were made.

:meth:`Run.close` writes everything at the end. So a run that fails leaves the results of the last run as they were.
``run.json`` records what is the same in every repetition of a run. ``machine.json`` records the rest, such as memory,
the commit, the computer and the seconds of the last start: an interrupted run goes on from the parts that it kept.
"""

import datetime
import hashlib
import json
import os
import platform
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from compendium import paths
from compendium.datasets import registry
from compendium.run import judging
from compendium.run.committed import versions
from compendium.run.states import git, json_bytes, json_value
from compendium.show import captions, figures, tables
from compendium.verdicts import cells
from compendium.verdicts.replication import headline, tally
from compendium.verdicts.verdicts import in_paper_order
from sensorprivacy.paths import check_writable, part_folder

DRAWN = "drawn"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class RunError(RuntimeError):
    """A run cannot write its results, or its record would become wrong."""


class Run:
    """Collect the results of a run of a notebook, and write them on `close`.

    Parameters
    ----------
    name : str
        ``<notebook>`` or ``<notebook>-<variant>``; also the name of the run's folder.
    profile : str, default "quick"
        ``"paper"`` writes to the committed folder ``figures/<run>/``. Any other profile writes to
        ``figures/<profile>/<run>/``, and each output is stamped with the profile's name.
    parameters : mapping
        The notebook's parameters, as `parameters.complete` returns them.
    replicates : bool, default True
        False for a run that is not in ``runs.yaml``, such as one on your own data. It writes to
        ``figures/own/<run>/`` and keeps no verdicts.
    code : str, optional
        Digest of the code that computes the results; see `definitions.Code`.
    modules : mapping of str to str, optional
        Digest of the part of each module that computes them; it names what changed later.
    names : mapping of str to object, optional
        The notebook's variables, which captions may refer to; by default the parameters.

    Raises
    ------
    ValueError
        If a name cannot be the name of a folder.
    OSError
        If the folder cannot be written to, or its disk is full.
    """

    def __init__(
        self,
        name: str,
        *,
        profile: str = "quick",
        parameters: Mapping[str, Any],
        replicates: bool = True,
        code: str = "",
        modules: Mapping[str, str] | None = None,
        names: Mapping[str, Any] | None = None,
    ) -> None:
        _check_name(name)
        _check_name(profile)
        self.name, self.profile, self.replicates = name, profile, replicates
        self.folder: Path = paths.figures_dir(profile if replicates else "own") / name
        self.closed = False
        values = {key: json_value(value) for key, value in parameters.items()}
        notebook = name.partition("-")[0]
        self._record: dict[str, Any] = {"run": name, "notebook": notebook, "profile": profile, "parameters": values}
        self._record |= {"code": code, "modules": dict(modules or {}), "seed": values.get("seed")}
        self._record |= {"data": {}, "captions": {}, "packages": versions()}
        beside = paths.project_root() / "notebooks" / "captions" / f"{notebook}.toml"
        self._captions = captions.Captions(beside, parameters if names is None else names)
        self._given = {"data_set": registry.words(str(parameters.get("dataset", "")))}
        self._files: dict[str, bytes] = {}
        self._judged: pd.DataFrame | None = None
        self._started = datetime.datetime.now(datetime.UTC)
        self._clock = time.perf_counter()
        check_writable(self.folder if self.folder.exists() else self.folder.parent)

    @property
    def kept(self) -> Path:
        """Folder for parts that an interrupted run goes on from; each state of the code has its own."""
        return paths.build_dir() / "kept" / self.name / self._record["code"][:12]

    @property
    def judges(self) -> bool:
        """Whether this run reproduces printed values: whether ``data/paper/paper-<n>.csv`` names it."""
        return self.replicates and len(cells.claims_of(self.name)) > 0

    def uses(self, data: Mapping[str, str], **chosen: str) -> None:
        """Record the digest of each data set that the run reads, by the set's name, and what the machine decided.

        Parameters
        ----------
        data : mapping of str to str
            Digest of each data set.
        **chosen
            Values that a parameter left to the machine, such as the precision of multiplications.
        """
        self._check_open()
        if chosen:
            self._record["chosen"] = self._record.get("chosen", {}) | chosen
        self._record["data"] |= data

    def table(self, df: pd.DataFrame, name: str, caption: str = "", **given: Any) -> None:
        """Add a table, as ``<name>.csv``, and show it in the notebook.

        Parameters
        ----------
        df : pandas.DataFrame
            The table. An index that describes the rows becomes the first column.
        name : str
            File name without its ending. The notebook's file of captions has an entry of this name; see `captions`.
        caption : str, optional
            One line that describes the table, for a notebook without a file of captions.
        **given
            Values for placeholders of the caption that are no names of the notebook.
        """
        words = self._words("table", name, caption, given)
        self._add(f"{name}.csv", tables.csv_text(df).encode(), words)
        _show(tables.shown_table(df, words.caption, words.closing))

    def figure(self, fig: Figure, name: str, caption: str = "", **given: Any) -> None:
        """Add a figure, as ``<name>.png``, and show it in the notebook.

        The parameters are those of :meth:`table`. The caption is also the picture's alternative text. Above the picture
        stand its title and the data that it shows, so that it can be read alone.
        """
        words = self._words("figure", name, caption, given)
        png = figures.render(fig, words.title, self._stamped(words.about))
        self._add(f"{name}.png", png, words)
        _show(figures.shown_figure(png, words.caption, words.closing))

    def conclude(self, name: str, **given: Any) -> None:
        """Show the sentence that ends a section below anything but a table or a figure.

        Parameters
        ----------
        name : str
            Name of the sentence in the notebook's file of captions.
        **given
            Values for its placeholders that are no names of the notebook.
        """
        _show(tables.Shown("", "", self._captions.words("sentence", name, given).closing))

    def verdicts(
        self, statements: Mapping[str, Any] | None = None, undecided: Mapping[str, str] | None = None
    ) -> judging.JudgedClaims:
        """Judge the printed values of this run by its tables, and return the verdicts for the notebook to show.

        ``data/paper/paper-<n>.csv`` names the cell of each; see :mod:`.cells`. Call it after all tables.

        Parameters
        ----------
        statements : mapping of str to object, optional
            Values by claim id that no other table holds. They become the table ``statements``.
        undecided : mapping of str to str, optional
            Those of them that the data cannot decide, with the reason. A statement without a value is undecided, too.

        Raises
        ------
        UnexplainedError
            If a value differs from the printed one and the ledger does not explain it. Runs whose quick settings are
            shorter than the paper's may differ without a reason.
        """
        self._check_open()
        if statements and self.judges:
            judging.check_ids([*statements, *(undecided or {})])
            frame = judging.statement_table(statements, undecided or {})
            self._keep(frame, "statements", "Values that no other table has")
        judged, lacking = judging.judge_tables(self.name if self.replicates else "", self.profile, self._files)
        self._judged = judged if self.replicates else None
        if len(lacking):
            self._keep(lacking, cells.MISSING, "What this run needed for printed values and did not have")
        shown = judging.JudgedClaims(judged)
        folder = self.folder.relative_to(paths.output_root()).as_posix()
        shown.attrs["caption"] = f"{self._stamped(self._tally(judged))}. Files of this run: {folder}/"
        shown.attrs["closing"] = _came_out(judged)
        return shown

    def close(self) -> Path:
        """Write all results, remove those of the last run of this name, and return the folder.

        A second call has no effect.

        Raises
        ------
        RunError
            If the results cannot be written. The results of the last run are then unchanged.
        """
        if self.closed:
            return self.folder
        content = dict(self._files)
        if self._judged is not None:
            content[paths.VERDICTS_FILE] = tables.csv_text(in_paper_order(self._judged)).encode()
        digests = {name: hashlib.sha256(content[name]).hexdigest() for name in sorted(content)}
        stable = {name: digest for name, digest in digests.items() if not name.startswith(f"{DRAWN}/")}
        drawn = {name: digest for name, digest in digests.items() if name not in stable}
        content[paths.MACHINE_FILE] = json_bytes({**self._machine(), "drawn": drawn})
        # the last file: it states that the others are complete
        content[paths.RUN_FILE] = json_bytes({**self._record, "files": stable, "drawn": list(drawn)})
        earlier = _listed(self.folder / paths.RUN_FILE)
        _replace_files(self.folder, content)
        for name in sorted({*earlier, paths.REPLAY_FILE} - set(digests)):
            (self.folder / name).unlink(missing_ok=True)
        self.closed = True
        return self.folder

    def _keep(self, df: pd.DataFrame, name: str, caption: str) -> None:
        self._add(f"{name}.csv", tables.csv_text(df).encode(), captions.Words(self._stamped(caption)))

    def _words(self, kind: str, name: str, caption: str, given: Mapping[str, Any]) -> captions.Words:
        own = captions.Words(caption, title=captions.headline(caption))
        found = own if caption else self._captions.words(kind, name, {**self._given, **given})
        return replace(found, caption=self._stamped(found.caption))

    def _add(self, name: str, content: bytes, words: captions.Words) -> None:
        self._check_open()
        _check_name(name)
        place = f"{DRAWN}/{name}" if words.drawn else name
        if place in self._files:
            raise RunError(f"run {self.name} already has a file {place}: use another name")
        self._files[place] = content
        self._record["captions"][place] = words.caption

    def _check_open(self) -> None:
        if self.closed:
            raise RunError(f"run {self.name} is closed: open it again to add to it")

    def _stamped(self, caption: str) -> str:
        """Return a caption that names the profile, unless it is that of the papers."""
        return caption if self.profile == "paper" else f"{caption} [{self.profile}]".strip()

    def _tally(self, judged: pd.DataFrame) -> str:
        if judged.empty:
            why = "no printed value belongs to it" if self.replicates else "it has its own data or settings"
            return f"This run has no verdicts: {why}"
        decisive = f"{len(headline(judged))} from rows, logs or tests of a statement"
        return f"{len(judged)} printed values: {tally(judged['verdict'])}; {decisive}"

    def _machine(self) -> dict[str, Any]:
        changed = git("status", "--porcelain", "--", ":!figures")  # results of runs before this one are no change
        return {
            "run": self.name,
            "started": self._started.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._clock, 1),
            "processor_seconds": round(sum(os.times()[:4]), 1),  # of this process and those that it started and ended
            "platform": platform.platform(),
            "processors": os.cpu_count(),
            "peak_mb": _peak(),
            "commit": git("rev-parse", "HEAD"),
            "dirty": None if changed is None else bool(changed),
        }


def _came_out(judged: pd.DataFrame) -> str:
    """Return how many printed values came out; those that hold by construction do not count."""
    verdict = judged["verdict"].mask(judged["basis"] == "construction", "hold by construction")
    said = {"undecided": "undecided", "no data": "without data", "hold by construction": "hold by construction"}
    decided = verdict[~verdict.isin(list(said))]
    aside = ", ".join(f"{(verdict == name).sum()} {words}" for name, words in said.items() if name in set(verdict))
    came_out = f"{decided.isin(['exact', 'within']).sum()} of {len(decided)} decided values came out as printed"
    return f"{came_out}{f' ({aside})' if aside else ''}." if len(judged) else ""


def _peak() -> int | None:
    """Return the most memory that this process has held, in MB; None on Windows, which does not tell."""
    try:
        import resource
    except ModuleNotFoundError:
        return None
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(held / (1e6 if sys.platform == "darwin" else 1e3))


def _show(result: Any) -> None:
    """Show a result in the notebook that is running; there is none to show it in outside of IPython."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(result)


def _replace_files(folder: Path, content: Mapping[str, bytes]) -> None:
    """Write all files to a hidden folder, then move them: a full disk is noticed before any old file changes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part_folder(folder / "files") as hidden:
            for name, data in content.items():
                for place in (Path(hidden, name), folder / name):
                    place.parent.mkdir(exist_ok=True)
                Path(hidden, name).write_bytes(data)
            for name in content:
                Path(hidden, name).replace(folder / name)
    except OSError as error:
        reason = error.strerror or error
        raise RunError(f"cannot write to {folder}: {reason}; the earlier files there are unchanged") from error


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: a name has only letters, digits, '-', '_' and '.', and begins with the first two")


def _listed(path: Path) -> set[str]:
    """Return the files that an earlier run's record lists; none if there is no readable record."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return set()
    names = [*record.get("files", {}), *record.get("drawn", [])]
    return {name for name in names if all(_NAME.fullmatch(part) for part in name.split("/"))}
