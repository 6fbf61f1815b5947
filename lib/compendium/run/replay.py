"""Replay runs of the profile ``paper`` with tiny settings, with the code of today and with that of another commit.

If both give the same files, byte for byte, on one machine in one job, the committed results of the run carry over: a
join in ``figures/RUN/replay.json`` leads from the old digest of the code to the new one. A run stays stale if its files
differ, or if a changed definition was not executed.

The settings keep each switch of the run (``replay`` in ``runs.yaml``). Each process has one thread. Noise is seeded,
and clocks count their calls; see `replayed`.
"""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compendium import paths
from compendium.datasets.catalogue import catalogue
from compendium.paths import build_dir, digest_of, figures_dir, project_root
from compendium.run import processes, replayed
from compendium.run.committed import reaches, read_joins, read_record, versions
from compendium.run.definitions import NOTEBOOK, Code, code_of, forget
from compendium.run.parameters import read_parameters
from compendium.run.runs import Run
from compendium.run.states import git, json_bytes
from sensorprivacy.paths import CACHE_VARIABLE, cache_folder, write_atomically

SAME, DIFFERS, UNSEEN = "same", "differs", "not executed"
FAILED, UNCHANGED, REPLAYED = "failed", "unchanged", "replayed"
# `verify` judges again from the tables
_NO_RESULT = {paths.RUN_FILE, paths.MACHINE_FILE, paths.VERDICTS_FILE}
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_SEED, _SECONDS = 0, 1800


class ReplayError(RuntimeError):
    """A commit cannot be replayed."""


@dataclass(frozen=True)
class Outcome:
    """How a replay of a run ended, with its processor time in seconds; `joined`: the results of the run carry over."""

    run: str
    kind: str
    what: str = ""
    seconds: float = 0.0
    joined: bool = False

    def text(self) -> str:
        """Return a line for the user."""
        return f"{self.kind:12} {self.run}, {self.seconds:.0f} s: {self.what}{', carried over' * self.joined}"


@dataclass(frozen=True)
class Side:
    """One of the two states of the code: its checkout, and the folder for what it writes."""

    root: Path
    out: Path

    @property
    def lib(self) -> Path:
        """The folder of its packages."""
        return self.root / "lib"

    def code(self, run: Run) -> Code:
        """Return the code of a run in this state."""
        return code_of(self.notebook(run), self.lib, run.reads)

    def notebook(self, run: Run) -> Path:
        """Return the notebook of a run in this state."""
        return self.root / "notebooks" / run.notebook.name


@dataclass(frozen=True)
class _Played:
    """What one side of a replay left: digests of files, functions that ran, or the reason of a failure."""

    files: dict[str, str] = field(default_factory=dict)
    ran: frozenset[tuple[str, str]] = frozenset()
    seconds: float = 0.0
    failure: str = ""


def replay(
    runs: Iterable[Run],
    against: str | None = None,
    *,
    code: str | None = None,
    cores: int = 1,
    every: bool = False,
    say: Callable[[Outcome], None] = print,
) -> list[Outcome]:
    """Replay runs, and write the joins of those whose results carry over.

    Parameters
    ----------
    runs : iterable of Run
        Runs of the profile ``paper``. The data sets that they need must be on this machine.
    against : str, optional
        A commit to compare with. Without it, each run is only replayed with the code of today.
    code : str, optional
        A commit to replay instead of the code of today; nothing carries over then.
    cores : int, default=1
        Number of runs at a time.
    every : bool, default=False
        Replay also runs whose code is the same in both states.
    say : callable
        Called with the outcome of each run when it ends.

    Returns
    -------
    list of Outcome
        In the order of the runs.

    Raises
    ------
    ReplayError
        If there is no such commit.
    """
    folder = build_dir() / "replay"
    shutil.rmtree(folder, ignore_errors=True)
    forget()  # another commit may have been in these folders
    today = Side(project_root(), folder / "new") if code is None else _checkout(code, folder / "new")
    old = None if against is None else _checkout(against, folder / "old")

    def one(run: Run) -> Outcome:
        kind, what, files, seconds = _compared(run, today, old, every)
        joined = kind == SAME and code is None and old is not None and _join(run, old, today, str(against), files)
        outcome = Outcome(run.name, kind, what, seconds, joined)
        say(outcome)
        return outcome

    with ThreadPoolExecutor(cores) as pool:
        try:
            return list(pool.map(one, runs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.end_children()
            raise


def _compared(run: Run, today: Side, old: Side | None, every: bool) -> tuple[str, str, dict[str, str], float]:
    """Return the kind of the outcome, its account, the digests of compared files, and seconds of processor time."""
    if old is not None and not old.notebook(run).is_file():
        return FAILED, "the commit has no such notebook", {}, 0.0
    if old is not None and not every and old.code(run).digest == today.code(run).digest:
        return UNCHANGED, "the same code in both states", {}, 0.0
    new = _play(run, today)
    if old is None or new.failure:
        how = (FAILED, f"today: {new.failure}") if new.failure else (REPLAYED, f"{len(new.files)} files")
        return *how, new.files, new.seconds
    before = _play(run, old)
    seconds, differ, varying = new.seconds + before.seconds, _differing(new, before), set[str]()
    if before.failure:
        return FAILED, f"before: {before.failure}", {}, seconds
    if differ:  # what the old code does not repeat either measures the machine, such as its memory
        again = _play(run, old)
        seconds, varying = seconds + again.seconds, _differing(before, again)
    if differ - varying:
        return DIFFERS, ", ".join(sorted(differ - varying)), {}, seconds
    if unseen := sorted(_unseen(old.code(run), today.code(run), new.ran)):
        return UNSEEN, ", ".join(unseen), {}, seconds
    same = {name: digest for name, digest in new.files.items() if name not in varying}
    left_out = f"; not compared, because they vary by themselves: {', '.join(sorted(varying))}" if varying else ""
    return SAME, f"{len(same)} files{left_out}", same, seconds


def _differing(one: _Played, other: _Played) -> set[str]:
    """Return the names of the files that two replays do not share with the same bytes."""
    return {name for name in {*one.files, *other.files} if one.files.get(name) != other.files.get(name)}


def _play(run: Run, side: Side) -> _Played:
    """Execute a run with the settings of replay in a process of its own."""
    out = side.out / run.name
    shutil.rmtree(out, ignore_errors=True)
    place = out / "figures" / "quick" / run.name
    if run.summarizes or run.after_all:  # it reads the committed tables of other runs
        shutil.copytree(figures_dir("paper"), place.parent, ignore=shutil.ignore_patterns("*.png", "quick", run.name))
    (out / "build").mkdir(parents=True)
    (out / "cache").mkdir()
    for name in {one.folder for one in catalogue().values()}:  # the rest was made by code, in forms that change
        if (kept := cache_folder() / name).exists():
            (out / "cache" / name).symlink_to(kept)
    declared = read_parameters(side.notebook(run))
    values = {name: value for name, value in run.replayed.items() if name in declared}
    ran, log = out / "ran.json", out / "log.txt"
    job = {"notebook": str(side.notebook(run)), "lib": str(side.lib), "name": run.name, "seed": _SEED}
    words = [sys.executable, "-P", replayed.__file__, json.dumps(job | {"values": values, "ran": str(ran)})]
    where: dict[str, Any] = {"cwd": side.root, "env": _environment(side, out), "stderr": subprocess.STDOUT}
    try:
        with log.open("wb") as stream:
            done = subprocess.run(words, stdout=stream, timeout=_SECONDS, **where)
    except subprocess.TimeoutExpired:
        return _Played(failure=f"took more than {_SECONDS} s")
    if done.returncode:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return _Played(failure=(said or ["no message"])[-1][:300])
    if not place.is_dir() and side.root != project_root():  # early commits know no other folder than their own
        place = side.root / "figures" / "quick" / run.name
    files = {path.relative_to(place).as_posix(): path for path in sorted(place.rglob("*")) if path.is_file()}
    digests = {name: digest_of(path) for name, path in files.items() if name not in _NO_RESULT}
    noted = json.loads(ran.read_text(encoding="utf-8"))
    failure = "" if digests else "it wrote no files"  # equal by that would say nothing
    functions = frozenset((file, name) for file, name in noted["functions"])
    return _Played(digests, functions, noted["seconds"], failure)


def _environment(side: Side, out: Path) -> dict[str, str]:
    places = {"PYTHONPATH": side.lib, "SENSORPRIVACY_HOME": side.root, "SENSORPRIVACY_OUTPUT": out}
    places[CACHE_VARIABLE] = out / "cache"
    fixed = {"SENSORPRIVACY_MIRROR": paths.mirror_address() or "", "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
    return {**os.environ, **dict.fromkeys(_THREADS, "1"), **fixed, **{name: str(at) for name, at in places.items()}}


def _unseen(old: Code, today: Code, ran: frozenset[tuple[str, str]]) -> Iterator[str]:
    """Yield the changed definitions that no line of the replay executed.

    Classes are compared method by method. A variable was executed if a definition that uses it was, and so was a
    compiled function, which cannot be observed.
    """
    before, now = old.alone(), today.alone()
    known = {(name.rpartition(".")[2], digest) for name, digest in before.items()}  # a definition may have moved
    for name, digest in now.items():
        if name != NOTEBOOK and (name.rpartition(".")[2], digest) not in known:
            changed = _changed_parts(old, today, name)
            if not all(_was_executed(today, name, part, ran, set()) for part in changed):
                yield name


def _changed_parts(old: Code, today: Code, name: str) -> list[str]:
    """Return the names of a class's changed methods, or an empty name for anything else."""
    now, before = (_methods(code, name) for code in (today, old))
    return [part for part, text in now.items() if before.get(part) != text] or [""]


def _methods(code: Code, name: str) -> dict[str, str]:
    found = [each for each in code.statements(name) if isinstance(each, ast.ClassDef)]
    parts = (part for each in found for part in each.body)
    return {getattr(part, "name", ""): ast.dump(part) for part in parts}


def _was_executed(code: Code, name: str, part: str, ran: frozenset[tuple[str, str]], seen: set[str]) -> bool:
    if name == NOTEBOOK:
        return True
    if name in seen:
        return False
    seen.add(name)
    module, _, own = name.rpartition(".")
    path = module.replace(".", "/")
    qualified = f"{own}.{part}" if part else own
    for file, function in ran:
        if file in (f"{path}.py", f"{path}/__init__.py") and f"{function}.".startswith(f"{qualified}."):
            return True
    kinds = code.statements(name)
    observed = any(isinstance(each, ast.FunctionDef) and not _is_compiled(code, module, each) for each in kinds) or part
    users = (user for user, used in code.used.items() if any(name in places for places in used.values()))
    return not observed and any(_was_executed(code, user, "", ran, seen) for user in users)


def _is_compiled(code: Code, module: str, function: ast.FunctionDef) -> bool:
    """Return whether numba compiles a function, also by a decorator that the module has made."""
    names = [ast.unparse(each).partition("(")[0] for each in function.decorator_list]
    made = (ast.unparse(one) for name in names for one in code.statements(f"{module}.{name}"))
    return any("njit" in text for text in (*names, *made))


def _join(run: Run, old: Side, today: Side, commit: str, files: dict[str, str]) -> bool:
    """Write that the results of a run carry over, if the old code made them; return whether it did."""
    folder = figures_dir("paper") / run.name
    if not (folder / paths.RUN_FILE).is_file():
        return False
    made_by, joins = read_record(run)["code"], read_joins(run)
    before, now = old.code(run).digest, today.code(run).digest
    if reaches(made_by, joins, now) or not reaches(made_by, joins, before):
        return False
    join: dict[str, Any] = {"old": before, "new": now, "against": git("rev-parse", f"{commit}^{{commit}}")}
    join |= {"files": len(files), "outputs": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()}
    join |= {"settings": run.replayed, "packages": versions()}
    write_atomically(folder / paths.REPLAY_FILE, lambda part: part.write_bytes(json_bytes([*joins, join])))
    return True


def _checkout(commit: str, folder: Path) -> Side:
    """Return another state of the code, extracted below `folder`."""
    folder.mkdir(parents=True)
    packed = folder / "code.zip"  # of a tar archive, Python 3.11.2 cannot refuse paths outside the folder
    parts = ("lib", "notebooks", "data", "runs.yaml", "requirements.lock")
    if git("archive", "--output", str(packed), commit, *parts) is None:
        raise ReplayError(f"git knows no commit {commit!r} of this repository that could be replayed")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder / "code")
    return Side(folder / "code", folder)
