"""Find the files of the package that a notebook depends on, so that a change reruns only the notebooks that use it."""

# The standard library's modulefinder is not used: it also walks through NumPy, PyTorch and all other packages, and does
# not know what a stub (.pyi) imports lazily, nor the data files beside the code.

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from compendium.run.parameters import code_cells

PACKAGES = ("sensorprivacy", "compendium")


def package_files(notebook: Path, lib: Path) -> list[Path]:
    """Return the package files that a notebook imports, directly or through one another.

    Parameters
    ----------
    notebook : path
        The notebook; magics and shell lines in it are ignored.
    lib : path
        The folder that holds the package.

    Returns
    -------
    list of path
        Sorted: the modules, their stubs, and the other files in their folders, such as catalogues and styles. Empty for
        a notebook that does not use the package.
    """
    cells = [re.sub(r"^\s*[%!].*$", "", source, flags=re.MULTILINE) for source, _ in code_cells(notebook)]
    reached: set[Path] = set()
    waiting = {name for cell in cells for name in imported(cell)}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        files, names = _needed(name, lib)
        reached |= files
        waiting |= names - seen
    beside = (path for folder in {path.parent for path in reached} for path in _beside(folder))
    return sorted(reached.union(beside))


def code_digest(notebook: Path, lib: Path) -> str:
    """Return the SHA-256 of a notebook's code and of the package files that it imports.

    It is the same on every machine: it depends on relative paths and contents only, and not on text cells or outputs.

    Parameters
    ----------
    notebook, lib : path
        As for `package_files`.
    """
    cells = "\0".join(source for source, _ in code_cells(notebook))
    digest = hashlib.sha256(cells.encode())
    for path in package_files(notebook, lib):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"\n{path.relative_to(lib).as_posix()} {content}".encode())
    return digest.hexdigest()


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
    found: set[str] = set()
    for node in _statements(ast.parse(code)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {name for name in found if name.partition(".")[0] in PACKAGES}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements of a program; imports are statements, and most of a program is expressions."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from _statements(child)


@cache
def module_file(name: str, lib: Path) -> Path | None:
    """Return the file of a dotted module name, or None if there is no such module."""
    path = lib.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache  # notebooks share most modules
def _needed(name: str, lib: Path) -> tuple[set[Path], set[str]]:
    """Return the files that importing a name runs, and the names that these import."""
    parts = name.split(".")
    files: set[Path] = set()
    names: set[str] = set()
    for depth in range(1, len(parts) + 1):  # importing a module runs the __init__ of every package above it
        module = ".".join(parts[:depth])
        file = module_file(module, lib)
        lazy: frozenset[str] = frozenset()
        if file is not None:
            files.add(file)
            names |= _imported_by(file, module)
            stub = file.with_suffix(".pyi")
            if stub.is_file():
                files.add(stub)
                lazy = _imported_by(stub, module)
        if depth == len(parts):
            names |= lazy  # a package that is imported by name may use all its names
        elif module_file(".".join(parts[: depth + 1]), lib) is None:
            names |= {each for each in lazy if each.endswith(f".{parts[depth]}")}
    return files, names


@cache
def _imported_by(file: Path, module: str) -> frozenset[str]:
    return frozenset(imported(file.read_text(encoding="utf-8"), module, is_package=file.stem == "__init__"))


def _beside(folder: Path) -> Iterator[Path]:
    """Yield the files that are no code: in a folder, and in folders below it that are no packages."""
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in {".py", ".pyc", ".pyi"}:
            yield path
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            yield from _beside(path)
