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
import tarfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from compendium.paths import (
    MACHINE_FILE,
    REPLAY_FILE,
    RUN_FILE,
    VERDICTS_FILE,
    build_dir,
    figures_dir,
    mirror_address,
    project_root,
)
from compendium.run import processes, replayed
from compendium.run.committed import reaches, read_joins, read_record, versions
from compendium.run.definitions import NOTEBOOK, Code, code_of, forget
from compendium.run.parameters import read_parameters
from compendium.run.runs import Run
from sensorprivacy.paths import write_atomically

SAME, DIFFERS, UNSEEN, FAILED, UNCHANGED, REPLAYED = (
    "same",
    "differs",
    "not executed",
    "failed",
    "unchanged",
    "replayed",
)
_NO_RESULT = {RUN_FILE, MACHINE_FILE, VERDICTS_FILE}  # `verify` judges again from the tables
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
    commit = "" if against is None else _git("rev-parse", f"{against}^{{commit}}").decode().strip()

    def one(run: Run) -> Outcome:
        kind, what, new, seconds = _compared(run, today, old, every)
        joined = kind == SAME and code is None and old is not None and _join(run, old, today, commit, new.files)
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


def _compared(run: Run, today: Side, old: Side | None, every: bool) -> tuple[str, str, _Played, float]:
    """Return the kind of the outcome, its account, what the code of today left, and seconds of processor time."""
    nothing = _Played()
    if old is not None and not old.notebook(run).is_file():
        return FAILED, "the commit has no such notebook", nothing, 0.0
    if old is not None and not every and old.code(run).digest == today.code(run).digest:
        return UNCHANGED, "the same code in both states", nothing, 0.0
    new = _play(run, today)
    before = new if old is None or new.failure else _play(run, old)
    seconds = new.seconds + (before.seconds if before is not new else 0)
    if new.failure or before.failure:
        return FAILED, f"{'today' if new.failure else 'before'}: {new.failure or before.failure}", new, seconds
    if old is None:
        return REPLAYED, f"{len(new.files)} files", new, seconds
    differ, varying = _differing(new, before), set[str]()
    if differ:  # what the old code does not repeat either measures the machine, such as its memory
        again = _play(run, old)
        seconds, varying = seconds + again.seconds, _differing(before, again)
    if differ - varying:
        return DIFFERS, ", ".join(sorted(differ - varying)), new, seconds
    if unseen := sorted(_unseen(old.code(run), today.code(run), new.ran)):
        return UNSEEN, ", ".join(unseen), new, seconds
    new = replace(new, files={name: digest for name, digest in new.files.items() if name not in varying})
    left_out = f"; not compared, because they vary by themselves: {', '.join(sorted(varying))}" if varying else ""
    return SAME, f"{len(new.files)} files{left_out}", new, seconds


def _differing(one: _Played, other: _Played) -> set[str]:
    """Return the names of the files that two replays do not share with the same bytes."""
    return {name for name in {*one.files, *other.files} if one.files.get(name) != other.files.get(name)}


def _play(run: Run, side: Side) -> _Played:
    """Execute a run with the settings of replay in a process of its own."""
    out = side.out / run.name
    shutil.rmtree(out, ignore_errors=True)
    place = out / "figures" / "quick" / run.name
    if run.summarizes or run.after_all:  # it reads the committed tables of other runs
        shutil.copytree(
            figures_dir("paper"), out / "figures" / "quick", ignore=shutil.ignore_patterns("*.png", "quick")
        )
        shutil.rmtree(place, ignore_errors=True)
    (out / "build").mkdir(parents=True)
    declared = read_parameters(side.notebook(run))
    values = {name: value for name, value in run.replayed.items() if name in declared}
    ran = out / "ran.json"
    job = {"notebook": str(side.notebook(run)), "lib": str(side.lib), "name": run.name, "seed": _SEED}
    job |= {"values": values, "ran": str(ran)}
    words = [sys.executable, "-P", str(Path(replayed.__file__)), json.dumps(job)]
    log = out / "log.txt"
    with log.open("wb") as stream:
        try:
            done = subprocess.run(
                words, cwd=side.root, env=_environment(side, out), stdout=stream, stderr=stream, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired:
            return _Played(failure=f"took more than {_SECONDS} s")
    if done.returncode:
        return _Played(
            failure=(log.read_text(encoding="utf-8", errors="replace").splitlines() or ["no message"])[-1][:300]
        )
    if not place.is_dir() and side.root != project_root():  # early commits know no other folder than their own
        place = side.root / "figures" / "quick" / run.name
    files = {path.relative_to(place).as_posix(): path for path in sorted(place.rglob("*")) if path.is_file()}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    noted = json.loads(ran.read_text(encoding="utf-8"))
    functions = frozenset((file, name) for file, name in noted["functions"])
    results = {name: digest for name, digest in digests.items() if name not in _NO_RESULT}
    failure = "" if results else "it wrote no files"  # equal by that would say nothing
    return _Played(results, functions, noted["seconds"], failure)


def _environment(side: Side, out: Path) -> dict[str, str]:
    places = {"PYTHONPATH": side.lib, "SENSORPRIVACY_HOME": side.root, "SENSORPRIVACY_OUTPUT": out}
    return {
        **os.environ,
        **{name: str(path) for name, path in places.items()},
        **dict.fromkeys(_THREADS, "1"),
        "SENSORPRIVACY_MIRROR": mirror_address() or "",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
    }


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
    if not (folder / RUN_FILE).is_file():
        return False
    record, joins = read_record(run), read_joins(run)
    before, now = old.code(run).digest, today.code(run).digest
    if reaches(record["code"], joins, now) or not reaches(record["code"], joins, before):
        return False
    join: dict[str, Any] = {"old": before, "new": now, "against": commit, "files": len(files)}
    join |= {"outputs": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()}
    join |= {"settings": run.replayed, "packages": versions()}
    text = json.dumps([*joins, join], indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_atomically(folder / REPLAY_FILE, lambda part: part.write_text(text, encoding="utf-8"))
    return True


def _checkout(commit: str, folder: Path) -> Side:
    """Return another state of the code, extracted below `folder`."""
    content = _git("archive", commit, "lib", "notebooks", "data", "runs.yaml", "requirements.lock")
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extractall(folder / "code", filter="data")
    return Side(folder / "code", folder)


def _git(*words: str) -> bytes:
    command = ["git", *words]
    done = subprocess.run(command, cwd=project_root(), capture_output=True)
    if done.returncode:
        raise ReplayError(f"git {' '.join(words[:2])}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
