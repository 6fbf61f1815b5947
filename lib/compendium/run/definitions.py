"""Digest the code behind a notebook's tables: its cells, and the definitions of our packages that they reach by name.

A definition is a function, a class or a variable of a module. Its digest covers its syntax tree and the digests of the
definitions that it uses. So the digest of a run changes with everything that can change its tables. It stays the same
if words change: docstrings, comments, annotations, messages of errors and warnings, the layout, names of local
variables, the module in which a definition stands.

The code of `NOT_FOLLOWED` does not count: it opens a run, finds files and judges. `WRITERS` names the parts of it that
write tables, which count. `review.verify` itself checks parameters, data, files and verdicts.
"""

# A message that a table keeps, such as the reason of a failed attack, does not count. No committed table has one.

import ast
import hashlib
import re
import symtable
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.datasets.registry import readers_of
from compendium.run.modules import PACKAGES, Names, Place, Target, file_of, imports_of, module_of, resolve
from compendium.run.parameters import code_cells

NOT_FOLLOWED = ("run.notebook", "datasets.store", "datasets.catalogue", "paths")
WRITERS = ("compendium.show.tables:csv_text", "compendium.run.judging:statement_table")
NOTEBOOK = "notebook"
"""Stands for the cells of a notebook among its definitions."""

# Printed values may stand in tables beside ours. The other columns say where our value is, for the judge.
_PRINTED = ["claim_id", "paper", "table", "row", "column", "printed", "value", "decimals"]
_SEES_LOCALS = {"locals", "eval", "exec", "query", "vars"}  # what reads the names of local variables
# a text that only names a module of ours, such as "compendium.readers.iot23:iot23_problem"
_OUR_MODULE = re.compile(rf"(?<=^')(?:{'|'.join(PACKAGES)})(?:\.\w+)*(?=\.?'$|:\w+'$)")
_KINDS_OF_FIELD = ("ClassVar", "InitVar", "KW_ONLY")
_NO_RESULT = ("warnings.warn", "print")


@cache  # many runs share a notebook
def code_of(notebook: Path, lib: Path, sets: tuple[str, ...]) -> "Code":
    """Return the code of a run, read once."""
    return Code(notebook, lib, sets)


def forget() -> None:
    """Forget all code that was read, because files have changed since."""
    for known in (code_of, module_of, file_of, _read):
        known.cache_clear()


class Code:
    """The code of a run: cells of a notebook and the definitions that they reach.

    Parameters
    ----------
    notebook : path
        The notebook.
    lib : path
        The folder that holds the packages.
    sets : iterable of str
        The data sets that the run reads, by name or path: their readers count.

    Attributes
    ----------
    digest : str
        The SHA-256 of all, the same on every machine and for every version of Python.
    used : dict of str to dict
        For each definition, by its dotted name, the names in it and the definitions that they stand for. The first,
        `NOTEBOOK`, stands for the cells.
    """

    def __init__(self, notebook: Path, lib: Path, sets: Iterable[str] = ()) -> None:
        self.lib = lib
        cells = _Reading("", lib)
        for source, _ in code_cells(notebook):
            try:
                cells.take(ast.parse(source).body)
            except SyntaxError:  # what only IPython understands
                cells.text += source
        named = [name.split(":") for name in (*WRITERS, *(each for one in sets for each in readers_of(one)))]
        roots = {place for module, name in named for place in resolve(module, (name,), lib)}
        self._text = {NOTEBOOK: cells.text + cells.outside}
        self.used: dict[str, dict[str, set[str]]] = {}
        waiting, depth = {NOTEBOOK: cells.used | {"": roots}}, 0
        while waiting:
            self.used |= {name: {each: _dotted(of) for each, of in used.items()} for name, used in waiting.items()}
            found = {place for used in waiting.values() for places in used.values() for place in places}
            new = {".".join(place): _read(*place, lib) for place in found if ".".join(place) not in self.used}
            self._text |= {name: read.counted for name, read in new.items()}
            waiting, depth = {name: read.used for name, read in new.items()}, depth + 1
        self.digest = self._merged(depth)

    def alone(self) -> dict[str, str]:
        """Return the digest of each definition without those that it uses, by dotted name."""
        return {name: _sha(text) for name, text in self._text.items()}

    def modules(self) -> dict[str, str]:
        """Return the first digits of a digest of each module's reached definitions, to name what has changed."""
        parts: dict[str, list[str]] = {}
        for name, digest in sorted(self.alone().items()):
            parts.setdefault(name.rpartition(".")[0] or name, []).append(digest)
        return {module: _sha(*digests)[:12] for module, digests in parts.items()}

    def statements(self, name: str) -> list[ast.stmt]:
        """Return the statements that make a definition."""
        module, _, own = name.rpartition(".")
        found = module_of(module, self.lib)
        return [] if found is None else found.made.get(own, [])

    def _merged(self, rounds: int) -> str:
        """Return one digest: each round brings the digests of all definitions one step nearer to the cells.

        The names of modules do not count, so a definition may move. Definitions may use each other.
        """
        digests = self.alone()
        for _ in range(rounds):
            digests = {
                name: _sha(digest, *(self._of(each, of, digests) for each, of in sorted(self.used[name].items())))
                for name, digest in digests.items()
            }
        return digests[NOTEBOOK]

    @staticmethod
    def _of(name: str, definitions: set[str], digests: dict[str, str]) -> str:
        return " ".join([name, *sorted(digests[each] for each in definitions)])


def _dotted(places: Iterable[Place]) -> set[str]:
    return {".".join(place) for place in places}


class _Reading:
    """Read statements of a module: their text without what does not count, the names and the words in them."""

    def __init__(self, module: str, lib: Path) -> None:
        self.module, self.lib = module, lib
        self.text, self.chains, self.words = "", set[Names](), set[str]()
        self._imports: dict[str, Target] = {}
        self._locals: dict[str, str] | None = None  # new names of the local variables of the function being read

    def take(self, statements: Iterable[ast.stmt]) -> None:
        """Read some statements."""
        for statement in statements:
            self._imports |= imports_of(statement, self.module, package=False)
            self.text += self._said(statement) + "\n"

    @cached_property
    def used(self) -> dict[str, set[Place]]:
        """The definitions that each name stands for, once all statements are read."""
        found: dict[str, set[Place]] = {}
        for chain, (module, names) in self._targets():
            places = {each for each in resolve(module, names, self.lib) if not _is_below(each[0], NOT_FOLLOWED)}
            found |= {".".join(chain): places} if places else {}
        return found

    @property
    def outside(self) -> str:
        """The names of other packages."""
        targets = ((module, *names) for _, (module, names) in self._targets())
        return " ".join(sorted(".".join(names) for names in targets if names[0].partition(".")[0] not in PACKAGES))

    @cached_property
    def counted(self) -> str:
        """All that counts of the statements: the text, names of other packages, the content of named files."""
        return f"{self.text}{self.outside}{''.join(_content(path) for path in sorted(self._files()))}"

    def _targets(self) -> Iterator[tuple[Names, Target]]:
        """Yield each name that comes from elsewhere in the module or from another one, with where it comes from."""
        module = module_of(self.module, self.lib)
        known = (module.imports if module else {}) | self._imports
        for chain in self.chains:
            first, rest = chain[0], chain[1:]
            if first in known:
                yield chain, (known[first][0], (*known[first][1], *rest))
            elif module and first in module.made:
                yield chain, (self.module, (first,))

    def _files(self) -> Iterator[Path]:
        """Yield the files that the statements name: beside the module, and in ``data/paper`` if they look there."""
        file = file_of(self.module, self.lib)
        folders = [] if file is None else [file.parent, *(each for each in file.parent.iterdir() if _has_no_code(each))]
        if any(chain[-1] == "data_dir" for chain in self.chains):
            folders += [each for each in (self.lib.parent / "data" / "paper").rglob("") if each.is_dir()]
        for word in self.words:
            if "." in word.strip("*.") and len(word) < 60 and not {"/", "\\", "\n", " "} & set(word):
                yield from (path for folder in folders for path in folder.glob(word) if path.suffix != ".py")

    def _said(self, node: Any) -> str:
        if isinstance(node, list):
            return f"[{','.join(filter(None, map(self._said, node)))}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        special = getattr(self, f"_said_{type(node).__name__.lower()}", None)
        return self._fields(node) if special is None else special(node)

    def _fields(self, node: ast.AST, *left_out: str) -> str:
        """Return the text of all fields, without those that versions of Python write differently."""
        left_out = (*left_out, "ctx", "type_params", "type_comment", "kind")
        given = ((name, value) for name, value in ast.iter_fields(node) if name not in left_out)
        parts = (f"{name}={self._said(value)}" for name, value in given if value is not None and value != [])
        return f"{type(node).__name__}({','.join(parts)})"

    def _said_name(self, node: ast.Name) -> str:
        if self._locals is not None and node.id in self._locals:
            return self._renamed(node.id)
        self.chains.add((node.id,))
        return node.id

    def _renamed(self, name: str) -> str:
        """Return a local variable's place among those of its function, in the order of their first use."""
        assert self._locals is not None
        self._locals[name] = self._locals[name] or f"_{sum(map(bool, self._locals.values()))}"
        return self._locals[name]

    def _said_attribute(self, node: ast.Attribute) -> str:
        names, base = [node.attr], node.value
        while isinstance(base, ast.Attribute):
            names, base = [base.attr, *names], base.value
        if isinstance(base, ast.Name) and not (self._locals and base.id in self._locals):
            self.chains.add((base.id, *names))
            return ".".join([base.id, *names])
        return f"{self._said(base)}.{'.'.join(names)}"

    def _said_constant(self, node: ast.Constant) -> str:
        if isinstance(node.value, str):
            self.words.add(node.value)
        return _OUR_MODULE.sub("", repr(node.value))

    def _said_importfrom(self, node: ast.ImportFrom) -> str:
        """Names of our modules do not count: what each imported name stands for does."""
        ours = node.level or (node.module or "").partition(".")[0] in PACKAGES
        return "" if ours else self._fields(node)

    def _said_joinedstr(self, node: ast.JoinedStr) -> str:
        parts = (self._said(part) if isinstance(part, ast.Constant) else "*" for part in ast.iter_child_nodes(node))
        self.words.add("".join(part.strip("'") for part in parts))
        return self._fields(node)

    def _said_functiondef(self, node: ast.FunctionDef) -> str:
        outer = self._locals
        head = self._fields(node, "returns", "body")  # defaults are no part of the function's scope
        self._locals = dict.fromkeys(_local_names(node), "") if outer is None else outer
        body = self._said(_without_docstring(node.body))
        self._locals = outer
        return f"{head}{body}"

    _said_asyncfunctiondef = _said_functiondef

    def _said_arg(self, node: ast.arg) -> str:
        return node.arg

    def _said_excepthandler(self, node: ast.ExceptHandler) -> str:
        known = self._locals is not None and node.name in self._locals
        return f"{self._renamed(str(node.name)) if known else node.name}:{self._fields(node, 'name')}"

    def _said_classdef(self, node: ast.ClassDef) -> str:
        outer, self._locals = self._locals, None
        is_dataclass = any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        body = _without_docstring(node.body)
        parts = [self._field(e, is_dataclass) if isinstance(e, ast.AnnAssign) else self._said(e) for e in body]
        self._locals = outer
        return f"{self._fields(node, 'body')}[{','.join(parts)}]"

    def _field(self, node: ast.AnnAssign, is_dataclass: bool) -> str:
        """Return the text of a field of a class. Its type counts, for example for pydantic, but not in a dataclass."""
        kind = ast.unparse(node.annotation)
        plain = is_dataclass and not any(word in kind for word in _KINDS_OF_FIELD)
        return self._fields(node, "annotation") if plain else self._fields(node)

    def _said_annassign(self, node: ast.AnnAssign) -> str:
        return "" if node.value is None else self._said(ast.Assign([node.target], node.value))

    def _said_raise(self, node: ast.Raise) -> str:
        return f"raise {self._said(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)}"

    def _said_assert(self, node: ast.Assert) -> str:
        return f"assert {self._said(node.test)}"

    def _said_call(self, node: ast.Call) -> str:
        return "said" if ast.unparse(node.func) in _NO_RESULT else self._fields(node)


@cache
def _read(module: str, name: str, lib: Path) -> _Reading:
    """Read a definition, and what its module does when it is imported."""
    found, reading = module_of(module, lib), _Reading(module, lib)
    assert found is not None
    reading.take([*found.made[name], *(found.made.get("", []) if name else [])])
    return reading


def _has_no_code(path: Path) -> bool:
    return path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").is_file()


def _content(path: Path) -> str:
    """Return a digest of a file; of a paper's printed values, only of the columns that tables may show."""
    if path.match("paper-?.csv"):
        return _sha(pd.read_csv(path, dtype=str, keep_default_na=False)[_PRINTED].to_csv(index=False))
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _is_below(module: str, names: Iterable[str]) -> bool:
    return any(f"{module}.".startswith(f"compendium.{name}.") for name in names)


def _local_names(function: ast.AST) -> set[str]:
    """Return the names of variables that only this function knows; none if it reads them by their names."""
    for each in ast.walk(function):
        if getattr(each, "id", "") in _SEES_LOCALS or getattr(each, "attr", "") in _SEES_LOCALS:
            return set()
    tables, symbols = [symtable.symtable(ast.unparse(function), "", "exec")], []
    while tables:
        table = tables.pop()
        tables += table.get_children()
        symbols += table.get_symbols() if table.get_type() == "function" else []
    known = {s.get_name() for s in symbols if s.is_global() or s.is_parameter() or s.is_imported() or s.is_namespace()}
    return {symbol.get_name() for symbol in symbols if symbol.is_local()} - known


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0].value if body and isinstance(body[0], ast.Expr) else None
    return body[1:] if isinstance(first, ast.Constant) and isinstance(first.value, str) else body


def _sha(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
