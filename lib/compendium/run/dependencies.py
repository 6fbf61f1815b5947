"""Find what a run depends on: files of our packages, and versions. A change repeats only the runs that use it."""

# The standard library's modulefinder is not used: it also walks through NumPy, PyTorch and all other packages, and does
# not know what a stub (.pyi) imports lazily, nor the data files beside the code.

import ast
import importlib.metadata
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from compendium.datasets.registry import readers_of
from compendium.run.modules import PACKAGES, file_of
from compendium.run.parameters import code_cells

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
        Sorted: the modules, their stubs, and the other files in their folders, such as catalogues and styles. Empty for
        a notebook that does not use the package.
    """
    cells = [re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE) for source, _ in code_cells(notebook)]
    reached: set[Path] = set()
    waiting = _reached_by("\n".join(cells), "", lib)
    waiting |= {reader.replace(":", ".") for name in sets for reader in readers_of(name)}
    seen = {_VERIFIED}
    while waiting := waiting - seen:
        name = waiting.pop()
        seen.add(name)
        files, names = _needed(name, lib)
        reached |= files
        waiting |= names
    beside = (path for folder in {path.parent for path in reached} for path in _beside(folder))
    return sorted(reached.union(beside))


def versions() -> dict[str, str]:
    """Return the versions that results may depend on, whether or not this process has imported the packages yet."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def imported(code: str, module: str = "", *, is_package: bool = False) -> set[str]:
    """Return the dotted names that code imports from the package, also those inside functions.

    Parameters
    ----------
    code : str
        Python source.
    module : str, optional
        The dotted name of the module it is, to resolve relative imports.
    is_package : bool, default=False
        Whether it is the ``__init__`` of a package.

    Returns
    -------
    set of str
        Modules, such as ``sensorprivacy.game``, and names in modules, such as ``sensorprivacy.game.play.play``.
    """
    return set(_names(ast.parse(code), module, is_package))


def _names(tree: ast.AST, module: str, is_package: bool) -> dict[str, str]:
    """Return the imported names of our packages, each with the name that the code gives it."""
    found: dict[str, str] = {}
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found.update((alias.name, alias.asname or "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            found.update((f"{base}.{alias.name}", alias.asname or alias.name) for alias in node.names)
    return {name: alias for name, alias in found.items() if name.partition(".")[0] in PACKAGES}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that may run; imports are statements, and most of a program is expressions."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        if field == "body" and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for child in getattr(node, field, ()):
            yield child
            yield from _statements(child)


def _reached_by(code: str, module: str, lib: Path, *, is_package: bool = False) -> set[str]:
    """Return the names that code imports; of a lazy package, those that it uses, such as ``datasets.table``."""
    tree, found = ast.parse(code), set()
    for name, alias in _names(tree, module, is_package).items():
        file = file_of(name, lib)
        lazy = alias and file is not None and file.with_suffix(".pyi").is_file()
        used = _attributes(tree, alias) if lazy else None
        found |= {f"{name}.{attribute}" for attribute in used} if used else {name}
    return found


def _attributes(tree: ast.AST, name: str) -> set[str] | None:
    """Return the attributes of a variable that code uses; None if it uses the variable itself, too."""
    nodes = list(ast.walk(tree))
    used = [node.attr for node in nodes if isinstance(node, ast.Attribute) and _is_name(node.value, name)]
    return set(used) if len(used) == sum(_is_name(node, name) for node in nodes) else None


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@cache  # notebooks share most modules
def _needed(name: str, lib: Path) -> tuple[set[Path], set[str]]:
    """Return the files that importing a name runs, and the names that these import."""
    parts, files, names = name.split("."), set[Path](), set[str]()
    for depth in range(1, len(parts) + 1):  # importing a module runs the __init__ of every package above it
        module = ".".join(parts[:depth])
        file = file_of(module, lib)
        lazy: frozenset[str] = frozenset()
        if file is not None:
            files.add(file)
            names |= _imported_by(file, module, lib)
            stub = file.with_suffix(".pyi")
            if stub.is_file():
                files.add(stub)
                lazy = _imported_by(stub, module, lib)
        if depth == len(parts):
            names |= lazy  # a package that is imported by name may use all its names
        elif file_of(".".join(parts[: depth + 1]), lib) is None:
            names |= {each for each in lazy if each.endswith(f".{parts[depth]}")}
    return files, names


@cache
def _imported_by(file: Path, module: str, lib: Path) -> frozenset[str]:
    package = file.stem == "__init__"
    return frozenset(_reached_by(file.read_text(encoding="utf-8"), module, lib, is_package=package))


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the files that are no code: in a folder, and in folders below it that are no packages."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in {".py", ".pyc", ".pyi"}:
            yield path
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            yield from _beside(path)
