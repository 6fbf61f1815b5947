"""Measure which share of each notebook's code lines is about the subject, and how long its cells are.

The rule. A line belongs to the statement that it is a part of. Empty lines and comments do not count, nor do the cells
of the parameters, which have a line for each. A statement is *plumbing* if it is one of these:

1. an import;
2. a call of the run (``begin``, ``run.uses``, ``run.table``, ``run.figure``, ``run.conclude``, ``run.close``), of
   ``display`` or of ``print``, or an assignment from one;
3. the name of a result as the last line of a cell, which Jupyter shows;
4. a drawing: an assignment from a call of ``charts``, ``edge_charts`` or ``show``;
5. options: an assignment from a list, set or dict that holds names and constants only, or from a ``partial``.

All other statements are about the subject: reading data, formulas, calls of the algorithms, and the assertions that
compare both. The first line of an ``if``, a loop or a ``with`` is about the subject if a statement inside is.

Usage: ``python bench/tools/subject_lines.py [NOTEBOOK ...]``
"""

import ast
import io
import json
import statistics
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
_DRAWS = {"charts", "diagrams", "curve_charts", "edge_charts", "latent_charts", "paper2_charts", "show"}
_SHOWS = {"display", "print", "begin"}
_SIMPLE = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.JoinedStr, ast.Tuple)
_HOLDERS = (ast.List, ast.Dict, ast.Set)


def measure(notebook: Path) -> dict[str, Any]:
    """Return ``lines``, ``subject``, ``share``, and ``median`` and ``longest``: code lines of a cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = [
        "".join(cell["source"])
        for cell in cells
        if cell["cell_type"] == "code" and not {"parameters", "settings"} & set(cell["metadata"].get("tags", []))
    ]
    every = [_code_lines(source) for source in sources]
    subject = sum(len(_subject(source) & lines) for source, lines in zip(sources, every, strict=True))
    total = sum(map(len, every))
    return {
        "notebook": notebook.stem,
        "lines": total,
        "subject": subject,
        "share": subject / total if total else 0.0,
        "median": statistics.median(map(len, every)) if every else 0,
        "longest": max(map(len, every), default=0),
    }


def _code_lines(source: str) -> set[int]:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(f"{source}\n").readline):
        if token.type not in skipped:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


def _subject(source: str) -> set[int]:
    """Return the numbers of the lines of a cell that are about the subject."""
    return set().union(*map(_lines, ast.parse(source).body))


def _lines(node: ast.stmt) -> set[int]:
    inside = list(_inside(node))
    if inside:
        found = set().union(*map(_lines, inside))
        return found | set(range(node.lineno, inside[0].lineno)) if found else set()
    assert node.end_lineno is not None
    return set() if _plumbing(node) else set(range(node.lineno, node.end_lineno + 1))


def _inside(node: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, ())


def _plumbing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr) and isinstance(value, ast.Name):
        return True
    if isinstance(value, ast.Call):
        named = _root(value.func)
        if named in _SHOWS | {"run"} or _calls(node, {"table", "figure", "conclude", "uses"}):
            return True
        if isinstance(node, ast.Assign) and named in _DRAWS | {"partial"}:
            return True
    return isinstance(node, ast.Assign | ast.AugAssign) and isinstance(value, _HOLDERS) and _plain(value)


def _plain(value: ast.expr) -> bool:
    return all(isinstance(part, (*_SIMPLE, *_HOLDERS)) for part in ast.walk(value) if isinstance(part, ast.expr))


def _calls(node: ast.AST, methods: set[str]) -> bool:
    """Return whether one of these methods of the run is called in a statement."""
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(isinstance(one, ast.Attribute) and one.attr in methods and _root(one) == "run" for one in calls)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def main(words: list[str]) -> None:
    """Print a line for each notebook."""
    print(f"{'notebook':<28} {'lines':>6} {'subject':>8} {'share':>6} {'median of a cell':>17} {'longest':>8}")
    for path in [Path(word) for word in words] or sorted(FOLDER.glob("*.ipynb")):
        row = measure(path)
        shown = f"{row['notebook']:<28} {row['lines']:>6} {row['subject']:>8} {row['share']:>6.0%}"
        print(f"{shown} {row['median']:>17g} {row['longest']:>8}")


if __name__ == "__main__":
    main(sys.argv[1:])
