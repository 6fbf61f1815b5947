"""Write a comparison: a page for the terminal, a self-contained HTML page, and JSON."""

import base64
import html
import io
import json
import math
import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.tables import ROW
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.search.job import duration
from sensorprivacy.own.advice import LOSSES
from sensorprivacy.own.chart import frontier
from sensorprivacy.own.findings import Findings, hidden_in
from sensorprivacy.own.minimize_page import columns_table
from sensorprivacy.own.results import Result
from sensorprivacy.paths import write_atomically

WIDTH = 100
_CAPTION = "Accuracy of the task against the strongest attack, one point for each defence"
_NEWLINE = "\n"
_TASK_SEEN = "Attackers also see the task column, because it is published, unless the release replaces it."
_TASK_UNSEEN = "Attackers do not see the task column."
_STYLE = """<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
td,th{padding:.2em .6em;text-align:left;border-bottom:1px solid #ddd;white-space:nowrap}
img{max-width:100%;width:44em}li{margin:.4em 0;font-size:14px}</style>"""


def page(found: Findings, max_loss: float = 0.01) -> str:
    """Return the report for the terminal.

    Parameters
    ----------
    found : Findings
        The comparison.
    max_loss : float
        Tolerated loss of the recommendation on top.

    Returns
    -------
    str
        About one page of text.
    """
    lines = [f"COMPARISON OF {found.problem}: {len(found.results)} releases", *_wrapped(_size(found)), ""]
    lines += ["Recommendation", *(line for text in _advice(found, max_loss) for line in _wrapped(text)), ""]
    lines += ["Best defence for each loss of accuracy", _text(_losses_cells(found)), ""]
    lines += ["All defences (test rows)", _text(_cells(found)), ""]
    lines += [line for name, text in _details(found).items() for line in [name, *_wrapped(text)]]
    if columns := columns_table(found.facts.get("table", {})):
        lines += ["", *columns, *found.facts["table"]["notices"]]
    return "\n".join(lines)


def write_html(found: Findings, path: Path, max_loss: float = 0.01) -> None:
    """Write the report as one HTML file that requests nothing from a network."""
    picture = io.BytesIO()
    frontier(found).savefig(picture, format="png", dpi=200)
    image = base64.b64encode(picture.getvalue()).decode()
    advice = " ".join(_advice(found, max_loss))
    title = html.escape(f"Defences for {found.problem}")
    details = "".join(
        f"<h2>{html.escape(name)}</h2><p>{html.escape(text)}</p>" for name, text in _details(found).items()
    )
    stated = "".join(
        f"<li><b>{html.escape(one.defence)}</b>: {html.escape(' '.join(one.guarantees))}</li>"
        for one in found.results
        if one.guarantees
    )
    body = [
        f"<h1>{title}</h1><p>{html.escape(_size(found))}</p>",
        f"<h2>Recommendation</h2><p>{html.escape(advice)}</p>",
        f'<img alt="{_CAPTION}" src="data:image/png;base64,{image}">',
        f"<h2>Best defence for each loss of accuracy</h2>{_table(_losses_cells(found))}",
        f"<h2>All defences, on test rows</h2>{_table(_cells(found))}{details}",
        f"<h2>Stated guarantees</h2><ul>{stated or '<li>No release has a guarantee.</li>'}</ul>",
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>{_STYLE}'
    text = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{_NEWLINE.join(body)}</body></html>\n'
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))


def write_json(found: Findings, path: Path) -> None:
    """Write all numbers and the advice as JSON; missing and infinite numbers are null."""
    attacks = [
        {"defence": one.defence, "attacker": line.attacker, "level": line.level} | _measure(line.measure)
        for one in found.results
        for line in one.judged
        if line.part == "test"
    ]
    content = {
        "problem": found.problem,
        "facts": found.facts,
        "defences": found.frame.to_dict("records"),
        "columns": {one.defence: list(one.columns) for one in found.results},
        "measures": attacks,
        "recommendations": [
            row | {"repeated": vars(found.repeated(row["max_loss"]))}
            for row in found.recommendations().to_dict("records")
        ],
        "imbalance": found.imbalance,
    }
    text = json.dumps(_plain(content), indent=1, allow_nan=False)
    write_atomically(path, lambda part: part.write_text(text + "\n", encoding="utf-8"))


def _measure(measure: Measure) -> dict[str, Any]:
    return {name: str(value) if name == "exposed" else value for name, value in vars(measure).items()}


def _plain(value: Any) -> Any:
    """Return a value with Python's own types; NaN and infinity become None."""
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _size(found: Findings) -> str:
    facts, hidden = found.facts, hidden_in(found)
    who = "users" if hidden == "user" else f"classes of {hidden}"
    return (
        f"{facts['rows']:,} rows, {facts['columns']} columns, {facts['classes']} task classes, {facts['users']} {who}; "
        f"split: {facts['split']}; {duration(facts['seconds'])}"
    )


def _advice(found: Findings, max_loss: float) -> list[str]:
    """Return the recommendation, how often it is repeated on other rows, and what limits it."""
    repeated = [found.repeated(max_loss).text] if len(found.results) > 2 else []
    warning = [f"Warning: {found.imbalance}"] if found.imbalance else []
    return [found.recommend(max_loss).text, *repeated, *warning, *filter(None, [_prediction(found)])]


def _prediction(found: Findings) -> str:
    """Say what the prediction alone would reveal, if it was judged."""
    one = next((one for one in found.results if one.family == "prediction"), None)
    if one is None:
        return ""
    return (
        f"If the recipient needs nothing but the task, publish the prediction alone: accuracy "
        f"{one.task().measure.score:.1%}, strongest attack {one.strongest().measure.score:.1%}."
    )


def _losses_cells(found: Findings) -> list[dict[str, str]]:
    """Return the table of the best defence for each loss."""
    cells = []
    for loss in LOSSES:
        advice = found.recommend(loss)
        row = {"loss": f"{loss:.0%}", "best defence": advice.defence or "none qualifies"}
        if advice.loss is not None:
            kept = {True: "yes", False: "no", None: "undecided"}[advice.keeps_task]
            row |= {"measured": f"{advice.loss.value:.1%}", "within": kept, "attack": f"{advice.attack:.1%}"}
            row |= {"protects": "yes" if advice.protects else "not shown"}
            row |= {"lead exceeds interval": "" if advice.lead is None else "yes" if advice.leads else "no"}
        cells.append(row)
    return cells


def _cells(found: Findings) -> list[dict[str, str]]:
    """Return the main table, the weakest attack first; equal releases share a line."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for one in sorted(found.results, key=lambda one: one.strongest().measure.score):
        key = (one.columns, one.guarantees, one.task().measure.score, one.strongest().measure.score)
        groups.setdefault(key, []).append(one)
    return [
        {
            "defence": first.defence + (f" and {len(rest)} equal" if rest else ""),
            "accuracy": _interval(first.task().measure, first.task().measure.high),
            "strongest attack": _interval(first.strongest().measure, first.highest),
            "attacker": first.strongest().attacker,
            "most exposed": _exposed(first),
            "columns": str(len(first.columns)),
            "guarantee": _guarantee(first),
        }
        for first, *rest in groups.values()
    ]


def _interval(measure: Measure, high: float) -> str:
    return f"{measure.score:.1%} ({100 * measure.low:.0f}-{100 * high:.0f})"


def _exposed(one: Result) -> str:
    shown = one.exposure()
    return (
        "nobody"
        if shown is None
        else f"{shown.measure.exposed}: {shown.measure.exposed_recall:.0%}, {shown.measure.exposed_precision:.0%}"
    )


def _guarantee(one: Result) -> str:
    if not math.isfinite(one.epsilon):
        return "none"
    return f"epsilon {one.epsilon:g} a row" + ("" if one.guaranteed else ", partly")


def _details(found: Findings) -> dict[str, str]:
    """Return the notes below the tables, by heading."""
    raw, facts, hidden = found.raw, found.facts, hidden_in(found)
    strongest, task = raw.strongest().measure, raw.task().measure
    pooled = " pooled over whole groups" if raw.levels[0] != ROW else ""
    few = few_units([f"{strongest.n} {strongest.unit}", f"{task.n} {task.unit}"])
    unseen = (
        f" {strongest.unseen:.1%} of the test {strongest.unit} have a {hidden} without training rows and are left out."
        if strongest.unseen
        else ""
    )
    caution = f" Caution: {few}." if few else ""
    notes = {
        "How to read this": (
            f"Accuracy: a forest trained on released rows, n = {task.n:,} {task.unit}, chance {task.chance:.1%}. "
            f"Strongest attack: {_identified(found, pooled)} by the strongest attacker "
            f"({', '.join(_attackers(found))}), n = {strongest.n:,} {strongest.unit}, chance {strongest.chance:.1%}. "
            f"{_TASK_SEEN if facts.get('task_published') else _TASK_UNSEEN} "
            "Intervals have 95 %; the upper end of an attack is the highest of all attackers. Most exposed: the "
            f"{hidden} whose rows are recognized most clearly, with recall and precision. Defences are chosen on "
            f"validation rows; all numbers are from test rows.{unseen}{caution}"
        ),
        "Guarantees": (
            f"Epsilon holds for one row. The person with most rows has {facts['rows_of_a_person']:,} and loses that "
            "many times epsilon, unless a stated guarantee adds up less. Only a guarantee covers attackers that were "
            "not tried here."
        ),
    }
    reasons = dict.fromkeys(one.reason for one in found.untried)
    if reasons:
        listed = {reason: [one.defence for one in found.untried if one.reason == reason] for reason in reasons}
        notes["Not tried"] = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in listed.items()) + "."
    return notes


def _identified(found: Findings, pooled: str) -> str:
    hidden, counted = hidden_in(found), "recordings" if pooled else "rows"
    return (
        f"share of users identified{pooled}" if hidden == "user" else f"share of {counted} whose {hidden} is inferred"
    )


def _attackers(found: Findings) -> list[str]:
    return list(dict.fromkeys(line.attacker for one in found.results for line in one.judged if line.attacker != "task"))


def _text(rows: list[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", disable_numparse=True)


def _table(rows: list[dict[str, str]]) -> str:
    return str(pd.DataFrame(rows).fillna("").to_html(index=False, border=0, escape=True))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
