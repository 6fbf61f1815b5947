"""What a run depends on, and whether its committed results are those of this state of the code, without running it."""

import ast
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from compendium import paths
from compendium.datasets.registry import readers_of
from compendium.paths import REPLAY_FILE, RUN_FILE, digest_of, figures_dir, project_root
from compendium.run.definitions import Code, code_of
from compendium.run.modules import NEVER, file_of, imports_of, module_of, resolve
from compendium.run.parameters import ParameterError, code_cells, complete, read_parameters
from compendium.run.runs import Run
from compendium.run.states import data_state_file, json_value, read_data_state

COMPUTED, CARRIED, STALE, WRONG, ABSENT = "computed", "carried over", "stale", "wrong", "absent"
"""States of results.

They were computed by this state of the code; by another one that gives the same files in replay (see `replay`); by
another one; they contradict their own record; they were never made.
"""
CURRENT = (COMPUTED, CARRIED)
_FEW = 4  # modules in a line
# Files of data sets come verified by their digests, which are an input of each run that reads them. How they were
# found or downloaded changes no result.
_VERIFIED = "compendium.datasets.store"
# Packages that results depend on.
_PACKAGES = ["sensorprivacy", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "joblib", "numba", "opendp"]
_PACKAGES += ["torch", "shap", "matplotlib", "seaborn", "onnxruntime"]


def package_files(notebook: Path, lib: Path, sets: Iterable[str] = ()) -> list[Path]:
    """Return the package files that a run of a notebook imports, directly or through one another.

    Parameters
    ----------
    notebook : path
        The notebook; magics and shell lines in it are ignored.
    lib : path
        The folder that holds the packages.
    sets : iterable of str
        The data sets that the run reads, by name or path: their readers are imported when they are asked for.

    Returns
    -------
    list of path
        Sorted: the modules, and the other files in their folders, such as catalogues and styles. Empty for a notebook
        that does not use the package. Of a lazy package, only the names that are used count.
    """
    cells = (re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE) for source, _ in code_cells(notebook))
    readers = {reader.partition(":")[0] for name in sets for reader in readers_of(name)}
    waiting = readers | _imported("\n".join(cells), "", lib)
    reached: dict[str, Path] = {}
    while waiting := waiting - reached.keys() - {_VERIFIED}:
        name = waiting.pop()
        if found := file_of(name, lib):
            reached[name] = found
            waiting |= _needed(found, name, lib)
    folders = {path.parent for path in reached.values()}
    return sorted({*reached.values(), *(path for folder in folders for path in _beside(folder))})


@cache  # notebooks share most modules
def _needed(file: Path, module: str, lib: Path) -> frozenset[str]:
    return frozenset(_imported(file.read_text(encoding="utf-8"), module, lib, package=file.stem == "__init__"))


def _imported(code: str, module: str, lib: Path, *, package: bool = False) -> set[str]:
    """Return the modules whose definitions code imports, also inside functions."""
    found, tree = set(), ast.parse(code)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and ast.unparse(node.test) in NEVER)]
    for alias, (base, names) in imports_of(tree, module, package=package).items():
        whole = ".".join([base, *names])
        lazy = module_of(whole, lib)
        used = set(re.findall(rf"\b{alias}\.(\w+)", code)) if lazy and lazy.lazy else set()
        found |= {place for name in used for place, _ in resolve(whole, (name,), lib)}
        found |= set() if used else {place for place, _ in resolve(base, names, lib)} | ({whole} if lazy else set())
    return found


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the files that are no code: in a folder, and in folders below it that are no packages."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in {".py", ".pyc"}:
            yield path
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            yield from _beside(path)


def versions() -> dict[str, str]:
    """Return the versions that results may depend on, whether or not this process has imported the packages yet."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def findings(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the state, the place and the account of a run's committed results, and of each file that contradicts it."""
    folder = figures_dir("paper") / run.name
    if not (folder / RUN_FILE).is_file():
        yield ABSENT, run.name, f"needs {', '.join(run.sets)}" if run.sets else "was never run"
        return
    record = read_record(run)
    for name, digest in record["files"].items():
        path = folder / name
        if not path.is_file() or digest_of(path) != digest:
            yield WRONG, f"figures/{run.name}/{name}", "is missing" if not path.is_file() else "was changed"
    code = code_of(run.notebook, project_root() / "lib", run.reads)
    joins = read_joins(run)
    same = record["code"] == code.digest
    changed = [] if same or reaches(record["code"], joins, code.digest) else [_code_words(record["modules"], code)]
    changed += _changes(run, record)
    if changed:
        yield STALE, run.name, ", ".join(changed)
    elif same:
        yield COMPUTED, run.name, "code, parameters, packages and data are those of today"
    else:
        last = joins[-1]
        yield CARRIED, run.name, f"{last['files']} files were the same in replay against {last['against'][:8]}"


def is_current(run: Run) -> bool:
    """Return whether a run's committed results are those of this state of the code."""
    return all(kind in CURRENT for kind, _, _ in findings(run))


def read_record(run: Run) -> dict[str, Any]:
    """Return the record of a run's committed results; early versions lacked some parts."""
    empty: dict[str, Any] = {"files": {}, "code": "", "modules": {}, "parameters": {}, "packages": {}, "data": {}}
    return empty | paths.read_record("paper", run.name)


def read_joins(run: Run) -> list[dict[str, Any]]:
    """Return what replay has recorded for a run: each join has an old digest of code and an equal new one."""
    path = figures_dir("paper") / run.name / REPLAY_FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def reaches(made_by: str, joins: list[dict[str, Any]], today: str) -> bool:
    """Return whether joins lead from the code that made some results to the code of today."""
    for join in joins:
        made_by = join["new"] if join["old"] == made_by else made_by
    return made_by == today


def _code_words(before: dict[str, str], code: Code) -> str:
    """Return in words which modules' code has changed."""
    now = code.modules()
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name)) if before else []
    if not names:
        return "code"
    more = f" and {len(names) - _FEW} more modules" if len(names) > _FEW else ""
    return f"code of {', '.join(names[:_FEW])}{more}"


def _changes(run: Run, record: dict[str, Any]) -> Iterator[str]:
    """Yield what, besides the code, is no longer as it was when the run was made."""
    values: dict[str, Any] = {}
    with suppress(ParameterError):
        values = complete(read_parameters(run.notebook), run.values("paper"))
    if not values or record["parameters"] != {name: json_value(value) for name, value in values.items()}:
        yield "parameters"
    lock = (project_root() / "requirements.lock").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([a-z0-9_-]+)==([^\s;]+)", lock, flags=re.MULTILINE))
    found = {name: version.partition("+")[0] for name, version in record["packages"].items()}  # torch: 2.13.0+cpu
    older = [name for name, version in found.items() if pins.get(name, version) != version]
    if older:
        yield f"packages ({', '.join(older)})"
    known = {name: read_data_state(name) for name in record["data"] if data_state_file(name).is_file()}
    if any(state.present and state.digest != record["data"][name] for name, state in known.items()):
        yield "data"
