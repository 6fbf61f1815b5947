"""Compare all tables of two results folders cell by cell, for example before and after a rearrangement.

    python bench/tools/compare_results.py BEFORE AFTER [--renames renames.json]

``renames.json`` maps old words to new ones: ``{"columns": {"told": "accuracy"}, "cells": {"detail": "noise"}}``.
A renamed column counts as equal if all its cells are equal. In ``cells``, each old word is replaced inside text cells.
Tables of wall-clock times and of fresh randomness differ between any two runs: give a third folder, a second run of
the same code as BEFORE, as ``--again``, and tables that differ there as well are listed apart.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import pandas as pd


def read(path: Path, columns: dict[str, str], cells: dict[str, str]) -> pd.DataFrame:
    """Return a table as text, with renamed columns and words, and without the wording of reasons."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False).rename(columns=columns)
    for old, new in cells.items():
        frame = frame.replace(re.compile(rf"\b{re.escape(old)}\b"), new)
    return frame.drop(columns="reason", errors="ignore")


def difference(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """Return how two tables differ, or an empty text."""
    if list(before.columns) != list(after.columns):
        gone, new = set(before) - set(after), set(after) - set(before)
        return f"columns: {sorted(gone)} -> {sorted(new)}" if gone or new else "order of the columns"
    if len(before) != len(after):
        return f"rows: {len(before)} -> {len(after)}"
    unequal = before.ne(after)
    where = ", ".join(f"{name} ({count})" for name, count in unequal.sum().items() if count)
    return f"{int(unequal.to_numpy().sum())} of {before.size} cells: {where}" if where else ""


def main() -> int:
    """Print a line for each table that differs, and a summary; return 1 if a table differs unexpectedly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--again", type=Path, help="a second run of the code of BEFORE")
    parser.add_argument("--renames", type=Path)
    given = parser.parse_args()
    renames = json.loads(given.renames.read_text()) if given.renames else {}
    columns, cells = renames.get("columns", {}), renames.get("cells", {})

    def tables(folder: Path) -> set[Path]:
        return {path.relative_to(folder) for path in folder.rglob("*.csv") if "own" not in path.parts}

    old, new = tables(given.before), tables(given.after)
    lines, varying, equal, compared = [], [], 0, 0
    lines += [f"{name}: only before" for name in sorted(old - new)]
    lines += [f"{name}: only after" for name in sorted(new - old)]
    for name in sorted(old & new):
        before = read(given.before / name, columns, cells)
        said = difference(before, read(given.after / name, {}, {}))
        compared += before.size
        if not said:
            equal += 1
        elif given.again and difference(before, read(given.again / name, columns, cells)):
            varying.append(f"{name}: differs between two runs of the same code as well")
        else:
            lines.append(f"{name}: {said}")
    print("\n".join([*lines, *varying]))
    print(f"{len(old & new)} tables, {compared} cells:", end=" ")
    print(f"{equal} tables equal, {len(varying)} vary by themselves, {len(lines)} differ")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
