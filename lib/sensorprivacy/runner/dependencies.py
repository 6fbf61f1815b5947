"""Which of our files a notebook rests on, so that a change to one room reruns only what uses it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import nbformat

PACKAGE = "sensorprivacy"


def sources(notebook: Path, lib: Path) -> list[Path]:
    """Return the package files that a notebook imports, directly or through one another.

    Parameters
    ----------
    notebook : path
        A notebook; magics and shell lines in it are passed over.
    lib : path
        The folder that holds the package.

    Returns
    -------
    list of path
        Sorted: the modules reached, and what lies beside them that is no Python (catalogues, styles). Empty for a
        notebook that does not use the package.
    """
    cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    names = {name for cell in cells for name in imported(_plain(cell))}
    reached = _reach(names, lib)
    rooms = {path.parent for path in reached}
    beside = (path for room in rooms for path in _beside(room))
    return sorted(reached.union(beside))


def imported(code: str, module: str = "", *, is_package: bool = False) -> set[str]:
    """Return the dotted names of the package's modules that code may import, lazy imports included.

    Parameters
    ----------
    code : str
        Python source.
    module : str, optional
        The dotted name of the module it is, to resolve relative imports.
    is_package : bool, default=False
        Whether it is the ``__init__`` of a package.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: None if is_package and node.level == 1 else is_package - node.level]
                base = ".".join([*parents, *([node.module] if node.module else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)  # a name may be a module
    return {name for name in found if name == PACKAGE or name.startswith(f"{PACKAGE}.")}


def module_file(name: str, lib: Path) -> Path | None:
    """Return the file of a dotted module name, or None where there is no such module."""
    path = lib.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def _reach(names: set[str], lib: Path) -> set[Path]:
    reached: set[Path] = set()
    waiting = set(names)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        # Importing a module runs the __init__ of every package above it.
        above, _, _ = name.rpartition(".")
        file = module_file(name, lib)
        more = {above} if above else set()
        if file is not None and file not in reached:
            # A package that imports lazily lists what it imports in a stub beside it.
            for part in filter(Path.is_file, (file, file.with_suffix(".pyi"))):
                reached.add(part)
                more |= _imported_by(part, name, part.stat().st_mtime_ns)
        waiting |= more - seen
    return reached


@cache
def _imported_by(file: Path, name: str, _changed: int) -> frozenset[str]:
    """Return what a module imports; notebooks share most modules, so each is parsed once."""
    return frozenset(imported(file.read_text(encoding="utf-8"), name, is_package=file.stem == "__init__"))


def _beside(room: Path) -> Iterator[Path]:
    """Yield the files of a room that are no code: in it and in folders below it that are no packages."""
    for path in room.iterdir():
        if path.is_file() and path.suffix not in {".py", ".pyc"}:
            yield path
        elif path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file():
            yield from _beside(path)


def _plain(cell: str) -> str:
    return re.sub(r"^\s*[%!].*$", "", cell, flags=re.MULTILINE)
