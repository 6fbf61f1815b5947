"""Find what names stand for: the definitions of our modules, also through imports and lazy packages."""

import ast
from functools import cache
from pathlib import Path

PACKAGES = ("sensorprivacy", "sensorrelease", "compendium")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NEVER = ("TYPE_CHECKING", "__name__ == '__main__'")  # conditions that hold in no run

Names = tuple[str, ...]  # a name and its attributes, such as ("game", "play")
Place = tuple[str, str]  # module and name of a definition
Target = tuple[str, Names]  # a module, and names behind it


class Module:
    """A module: the statements that make each of its names, and what it imports, also lazily."""

    def __init__(self, name: str, file: Path) -> None:
        self.made: dict[str, list[ast.stmt]] = {}  # the empty name: what only does something on import
        self.imports: dict[str, Target] = {}
        package = file.stem == "__init__"
        for statement in _parsed(file):
            if isinstance(statement, ast.If) and ast.unparse(statement.test) in NEVER:
                continue
            if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                self.imports |= imports_of(statement, name, package=package)
            for bound in _bound(statement):
                self.made.setdefault(bound, []).append(statement)
        stub = ast.Module(_parsed(file.with_suffix(".pyi")), [])
        self.lazy = imports_of(stub, name, package=package)


def _parsed(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text(encoding="utf-8")).body if file.is_file() else []


def resolve(module: str, names: Names, lib: Path) -> set[Place]:
    """Return the definitions that names behind a module stand for; none if it is another package's.

    A module that is used whole stands for all its definitions, and so does one that lacks the name.
    """
    found = module_of(module, lib)
    if found is None:
        return set()
    if not names:
        lazily = (resolve(*target, lib) for target in found.lazy.values())
        return {(module, name) for name in found.made if name}.union(*lazily)
    first, rest = names[0], names[1:]
    if first in found.made:
        return {(module, first)}
    for known in (found.imports, found.lazy):
        if first in known and known[first] != (module, (first,)):
            return resolve(known[first][0], (*known[first][1], *rest), lib)
    inside = f"{module}.{first}"
    return resolve(inside, rest, lib) if file_of(inside, lib) is not None else resolve(module, (), lib)


@cache
def file_of(name: str, lib: Path) -> Path | None:
    """Return the file of a dotted module name of our packages, or None if there is no such module."""
    if name.partition(".")[0] not in PACKAGES:
        return None
    path = lib.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def module_of(name: str, lib: Path) -> Module | None:
    """Return a module of our packages, or None if there is none of this dotted name."""
    file = file_of(name, lib)
    return None if file is None else Module(name, file)


def imports_of(node: ast.AST, module: str, *, package: bool) -> dict[str, Target]:
    """Return what each name stands for that a statement imports, also inside functions."""
    found: dict[str, Target] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            whole = {alias.asname: alias.name for alias in each.names if alias.asname}
            whole |= {first: first for alias in each.names if not alias.asname for first in alias.name.split(".")[:1]}
            found |= {name: (imported, ()) for name, imported in whole.items()}
        elif isinstance(each, ast.ImportFrom):
            parents = module.split(".")[: None if package and each.level == 1 else package - each.level]
            base = ".".join(filter(None, [*(parents if each.level else ()), each.module]))
            found |= {alias.asname or alias.name: (base, (alias.name,)) for alias in each.names}
    return found


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines; the empty name if it only does something."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if is_text or isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    inside = [each for each in ast.walk(statement) if isinstance(each, (ast.Name, *FUNCTIONS, ast.ClassDef))]
    stored = (each for each in inside if not isinstance(each, ast.Name) or isinstance(each.ctx, ast.Store))
    return {each.id if isinstance(each, ast.Name) else each.name for each in stored} or {""}
