"""The data card of a release: what was done, what is guaranteed and what is not, and what attackers inferred."""

import datetime
import importlib.metadata
import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pooch
from sklearn.ensemble import RandomForestClassifier

from sensorprivacy import __version__
from sensorprivacy.data import Problem
from sensorprivacy.game.chance import DRAWS
from sensorprivacy.game.joins import Match, strongest_match
from sensorprivacy.game.outcome import LEVEL, Attacks, strongest
from sensorprivacy.game.panel import RELEASE_ATTACKERS
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import TableScene, as_numbers, judge, with_task
from sensorprivacy.threeway.publication import ROW_ORDER
from sensorrelease.checks import identifying
from sensorrelease.pages import render
from sensorrelease.publishing.matching import CARD, FORMAT
from sensorrelease.schema.gate import Gate

VERSION = 1
_PACKAGES = {"numpy": "numpy", "pandas": "pandas", "sklearn": "scikit-learn", "opendp": "opendp", "torch": "torch"}
_PACKAGES |= {"pyarrow": "pyarrow"}
_MOST = 10  # rows of the table on the page
TASK_MODEL = "task model: forest"
SHUFFLED = "Rows are in random order, drawn from the operating system's secure generator."
IN_ORDER = (
    "Rows are in the order of the input. Anyone who knows that order can identify every row, and neighbouring rows may "
    "be of one user."
)
Row = Mapping[str, Any]  # a measurement, see `measured`


@dataclass(frozen=True)
class Card:
    """A data card. It names no user, no recording and no private label.

    Attributes
    ----------
    facts : dict
        JSON values: ``defence``, ``columns``, ``guarantee``, ``measured``, ``rows``, ``files``, ``versions``, ...
    """

    facts: dict[str, Any]

    def to_markdown(self) -> str:
        """Return the card as a page."""
        summary = _summary(self.facts)
        leaks = [row for row in summary if row["low"] > row["chance"] and not row["about"].startswith("task ")]
        shown = {"summary": summary, "leaks": leaks, "exposed": _most_exposed(self.facts["measured"])}
        return render("card.md", facts=self.facts, **shown) + "\n"


def write_card(folder: Path, fitted: Any, **facts: Any) -> Card:
    """Write ``card.json`` and ``card.md`` into the folder of a release, and return the card.

    Parameters
    ----------
    folder : pathlib.Path
        The folder, with all published files.
    fitted : FittedTable or FittedRecordings
        The defence.
    **facts
        What else the card states, see `Card`.
    """
    whole = {"format": FORMAT, "version": VERSION, "date": datetime.date.today().isoformat()}
    whole |= {"defence": {"name": fitted.name, "about": fitted.about}, **facts}
    measurements = {"measured": [], "measured_on": []} | fitted.facts
    card = Card(whole | measurements | {"files": _digests(folder), "versions": _versions()})
    text = json.dumps(card.facts, indent=1, allow_nan=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")
    (folder / "card.md").write_text(card.to_markdown(), encoding="utf-8")
    return card


def measured(attacks: Attacks, words: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return measurements as JSON values, without the names of the most exposed classes.

    Parameters
    ----------
    attacks : Attacks
        Of the releases ``original`` and ``published``.
    words : mapping
        What is inferred, by label.

    Returns
    -------
    list of dict
        One for each attack that did not fail. The strongest on a question has ``of_strongest``: the ends of the
        interval that allows for the choice.
    """
    best = {id(some[0]): strongest(some).measure for some in attacks.by_strength}
    found = []
    for one in attacks:
        if one.reason:
            continue
        values = {name: value for name, value in asdict(one.measure).items() if name != "exposed"}
        plain = {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in values.items()}
        row = {"about": words.get(one.about, one.about), "attacker": one.attacker, "data": one.release}
        chosen = {"of_strongest": [best[id(one)].low, best[id(one)].high]} if id(one) in best and one.measure.n else {}
        found.append(row | {"level": one.level} | plain | chosen)
    return found


def measure_table(
    raw: Problem,
    public: pd.DataFrame,
    gate: Gate,
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
    gate : Gate
        Titles of task and user column.
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
    found = Attacks()
    for data, table in (("original", raw.features), ("published", public.reset_index(drop=True))):
        beside = known if task_published or data == "original" else None
        scene = TableScene(raw, as_numbers(table), split, model, name=data, identifying=identifying(raw))
        for one in judge(scene, RELEASE_ATTACKERS, known=beside, draws=DRAWS):
            found.append(replace(one, attacker=TASK_MODEL) if one.about == "task" else one)
    return measured(found, {label: f"{label} {getattr(gate, label)}" for label in ("task", "user")})


def guarantee(
    step: Any, task: str, published: Sequence[str], unchanged: Sequence[str], most_rows: int, *, in_order: bool
) -> dict[str, Any]:
    """Return the guarantee of a published table: ``statements``, and epsilon of a row and of a person.

    Parameters
    ----------
    step : transformer
        The fitted defence.
    task : str
        Title of the column to predict.
    published, unchanged : sequence of str
        The published columns, and those of them whose cells are those of the input.
    most_rows : int
        Rows of the user with the most rows, 0 if unknown.
    in_order : bool
        Whether rows keep their order.
    """
    row = getattr(step, "epsilon_total_", None) or None  # 0: no column is noisy
    statements = render(
        "guarantee_table.txt",
        stated=[line for line in getattr(step, "guarantees_", ()) if line != ROW_ORDER],
        row=row,
        most_rows=most_rows,
        task=task,
        published=published,
        unchanged=unchanged,
        order=IN_ORDER if in_order else SHUFFLED,
    )
    return {
        "statements": statements.split("\n"),
        "epsilon_row": row,
        "epsilon_person": None if row is None or not most_rows else row * most_rows,
        "most_rows": most_rows or None,
    }


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the loaded packages that results depend on."""
    used = {module: package for module, package in _PACKAGES.items() if module in sys.modules}
    own = {"python": platform.python_version(), "sensorprivacy": __version__}
    return own | {package: importlib.metadata.version(package) for package in used.values()}


def _digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): pooch.file_hash(str(file)) for file in files}


def _summary(facts: Mapping[str, Any]) -> list[Row]:
    """Return the strongest attack on each question from published data, and of each level that matches rows."""
    best: dict[tuple[str, str, str], Row] = {}
    for row in facts["measured"]:
        if row["score"] is not None:
            key = row["data"], row["about"], row["level"]
            best[key] = max(best.get(key, row), row, key=lambda one: one["score"])
    lines: list[Row] = []
    for (data, about, level), row in best.items():
        if data == "published":
            low, high = row.get("of_strongest") or (row["low"], row["high"])
            first = best.get(("original", about, level), {}).get("score")
            lines.append({**row, "low": low, "high": high, "first": first})
    matches = [Match(**one) for one in facts["matched"]["attacks"]]
    for level in dict.fromkeys(one.level for one in matches):
        if (found := strongest_match(matches, level)) is not None:
            line: dict[str, Any] = {"about": f"original of a {level}", "level": "", "first": None}
            line |= {"attacker": found.by, "score": found.share, "chance": found.control, "n": found.rows}
            lines.append(line | {"low": found.low, "high": found.high, "unit": f"{level}s"})
    return lines[:_MOST]


def _most_exposed(rows: Sequence[Row]) -> Row | None:
    """Return the attack on published data that recognizes one user or class best; None if none recognizes anyone."""
    tested = [row for row in rows if row["data"] == "published" and not row["about"].startswith("task ")]
    shown = [row for row in tested if min(row.get("p") or 1, row.get("p_any") or 1) < LEVEL / 2]
    return max(shown, key=lambda row: _overlap(row["exposed_recall"], row["exposed_precision"]), default=None)


def _overlap(recall: float, precision: float) -> float:
    """Return the share of right cases among those that belong to a class or are attributed to it."""
    return recall * precision / (recall + precision - recall * precision or 1)
