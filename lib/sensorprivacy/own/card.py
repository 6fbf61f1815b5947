"""The data card of a release: what was done, what is guaranteed and what is not, and what attackers inferred."""

import importlib.metadata
import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pooch
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy.data import Problem
from sensorprivacy.game.chance import DRAWS
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import TABLE_ATTACKERS, TableScene, as_numbers, judge, with_task
from sensorprivacy.own.publishing.columns import Columns
from sensorprivacy.threeway.publication import ROW_ORDER

FORMAT, VERSION = "sensorprivacy-data-card", 1
_MODULES = {"sensorprivacy": "sensorprivacy", "numpy": "numpy", "pandas": "pandas", "sklearn": "scikit-learn"}
_MODULES |= {"opendp": "opendp", "torch": "torch", "pyarrow": "pyarrow"}
SHUFFLED = "Rows are in random order, drawn from the operating system's secure generator."
IN_ORDER = (
    "Rows are in the order of the input. Anyone who knows that order can identify every row, and neighbouring rows may "
    "be of one user."
)
REUSED = "Measured when the defence was fitted, on the rows of that table. These rows were not measured."


@dataclass(frozen=True)
class Card:
    """A data card. It names no user, no recording and no private label.

    Attributes
    ----------
    facts : dict
        JSON values: ``defence``, ``columns``, ``guarantee``, ``measured``, ``rows``, ``files``, ``versions``, ...
    """

    facts: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Write ``card.json`` and ``card.md``."""
        text = json.dumps(self.facts, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / "card.json").write_text(text + "\n", encoding="utf-8")
        (folder / "card.md").write_text(self.to_markdown(), encoding="utf-8")

    def to_markdown(self) -> str:
        """Return the card as a page."""
        facts, columns = self.facts, self.facts["columns"]
        lines = [f"# Data card: {facts['name']}", "", facts["defence"]["about"], ""]
        lines += _items(
            {
                "Defence": f"`{facts['defence']['name']}`",
                "Task": columns["task"],
                "Published columns": ", ".join(columns["published"]),
                "Size": "; ".join(facts["size"]),
                "Order": facts["order"],
            }
        )
        lines += ["", "## Dropped", ""]
        lines += _items(columns["dropped"])
        lines += ["", "## Guarantee and its limits", ""]
        lines += [f"- {line}" for line in facts["guarantee"]["statements"]]
        lines += ["", "## Measured", ""]
        lines += [REUSED] * facts["reused"] + [*facts["measured_on"], ""]
        lines += [*_strongest(facts["measured"]), "", *_table(facts["measured"])]
        lines += ["", "## Provenance", ""]
        lines += _items({f"SHA-256 of {name}": f"`{digest}`" for name, digest in facts["files"].items()})
        lines += _items({"SHA-256 of the input": f"`{facts['input']['digest']}`", "Seed": facts["seed"]})
        lines += _items({"Versions": ", ".join(f"{name} {number}" for name, number in facts["versions"].items())})
        return "\n".join(lines) + "\n"


def measured(measure: Measure, about: str, attacker: str, data: str, level: str = "row") -> dict[str, Any]:
    """Return a measurement as JSON values, without the name of the most exposed class."""
    values = {name: value for name, value in asdict(measure).items() if name != "exposed"}
    plain = {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in values.items()}
    return {"about": about, "attacker": attacker, "data": data, "level": level, **plain}


def measure_table(
    raw: Problem,
    public: pd.DataFrame,
    columns: Columns,
    split: Split,
    seed: int,
    *,
    trees: int = 100,
    task_published: bool = True,
) -> list[dict[str, Any]]:
    """Return the accuracy of a task model and of adversaries who identify users, before and after the defence.

    Parameters
    ----------
    raw : Problem
        The original rows.
    public : pandas.DataFrame
        The published cells of the same rows, without the task.
    columns : Columns
        Names of task and user column.
    split : Split
        With validation rows; measured is on the test rows.
    seed : int
        Seed of the models.
    trees : int
        Trees of a forest.
    task_published : bool
        Whether the true task column is published, too.

    Returns
    -------
    list of dict
        One for each measurement. Adversaries also see the task column if it is published. One sees nothing else. With
        groups, adversaries predict single rows, and all rows of a group together.
    """
    model, known = RandomForestClassifier(trees, random_state=seed), with_task(raw)
    found = []
    for data, table in (("original", raw.features), ("published", public.reset_index(drop=True))):
        beside = known if task_published or data == "original" else None
        scene = TableScene(raw, as_numbers(table), split, model)
        for one in judge(scene, TABLE_ATTACKERS, known=beside, draws=DRAWS):
            name = "task model: forest" if one.about == "task" else one.attacker
            about = f"{one.about} {getattr(columns, one.about)}"
            found.append(measured(one.measure, about, name, data, one.level))
    return found


def guarantee(
    step: Any, columns: Columns, published: Sequence[str], unchanged: Sequence[str], most_rows: int, *, in_order: bool
) -> dict[str, Any]:
    """Return the guarantee of a published table: ``statements``, and epsilon of a row and of a person.

    Parameters
    ----------
    step : transformer
        The fitted defence.
    columns : Columns
        Roles of the columns.
    published, unchanged : sequence of str
        The published columns, and those of them whose cells are those of the input.
    most_rows : int
        Rows of the user with the most rows, 0 if unknown.
    in_order : bool
        Whether rows keep their order.
    """
    row = getattr(step, "epsilon_total_", None) or None  # 0: no column is noisy
    lines = [line for line in getattr(step, "guarantees_", ()) if line != ROW_ORDER]
    if row is None:
        lines.append("There is no formal guarantee. Protection is only measured, against the attackers below.")
    else:
        person = f"the user with the most rows has {most_rows:,}, which adds up to {row * most_rows:g}"
        lines.append(
            f"Epsilon of the noisy cells of one row: {row:g}. A user with r rows loses r times {row:g}"
            + (f"; {person}." if most_rows else ".")
        )
        lines.append("Publishing the same rows again adds the same loss again.")
    if columns.task in published:
        lines.append(f"The task column {columns.task} is published unchanged. No guarantee covers it.")
    if unchanged:
        lines.append(
            f"Unchanged cells: {', '.join(unchanged)}. Whoever has the original table can find rows by these values."
        )
    lines.append("The choice of the defence and the measurements below depend on the data. No guarantee covers them.")
    lines.append(IN_ORDER if in_order else SHUFFLED)
    return {
        "statements": lines,
        "epsilon_row": row,
        "epsilon_person": None if row is None or not most_rows else row * most_rows,
        "most_rows": most_rows or None,
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the loaded packages that results depend on."""
    found = {"python": platform.python_version()}
    for module, package in _MODULES.items():
        if module in sys.modules:
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                found[package] = "0+unknown"
    return found


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): pooch.file_hash(str(file)) for file in files}


def _strongest(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each inference from published data: the model with the highest accuracy."""
    best: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for row in rows:
        if row["score"] is not None:
            key = row["data"], row["about"], row["level"]
            best[key] = max(best.get(key, row), row, key=lambda one: one["score"])
    lines = []
    for (data, about, level), row in best.items():
        if data == "published":
            first = best.get(("original", about, level))
            before = "" if first is None else f"; from original data {first['score']:.1%}"
            lines.append(
                f"- Strongest for {about} of a {level}: {row['attacker']}, {row['score']:.1%} ({row['low']:.1%} to "
                f"{row['high']:.1%}, {row['n']:,} {row['unit']}; chance {row['chance']:.1%}{before})"
            )
    return lines


def _items(values: Mapping[str, Any]) -> list[str]:
    return [f"- {name}: {value}" for name, value in values.items()]


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| Inferred | From | Data | By | Accuracy | 95 % interval | Chance | p | n |", "|" + "---|" * 9]

    def shown(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.3f}"

    for row in rows:
        interval = f"{shown(row['low'])} to {shown(row['high'])}"
        size = f"{row['n']:,} {row['unit']}"
        cells = [
            row["about"],
            f"a {row['level']}",
            row["data"],
            row["attacker"],
            shown(row["score"]),
            interval,
            shown(row["chance"]),
        ]
        lines.append("| " + " | ".join([*cells, shown(row.get("p")), size]) + " |")
    return lines
