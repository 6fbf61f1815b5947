"""Write a comparison: a page for the terminal, a self-contained HTML page, and JSON."""

import base64
import io
import math
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from sensorprivacy.game.joins import in_words, strongest_match
from sensorprivacy.game.outcome import Measure
from sensorprivacy.game.tables import ROW
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.search.job import duration
from sensorprivacy.paths import write_atomically
from sensorrelease.advice import LOSSES
from sensorrelease.findings import Findings, hidden_in
from sensorrelease.pages import columns_page, render
from sensorrelease.results import Result


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
    return render("compare.txt", columns=columns_page(found.facts.get("table", {})), **_facts(found, max_loss))


def write_html(found: Findings, path: Path, max_loss: float = 0.01) -> None:
    """Write the report as one HTML file that requests nothing from a network."""
    found = found.without_files
    from sensorrelease.chart import frontier  # matplotlib takes a second, and most commands draw nothing

    picture = io.BytesIO()
    frontier(found.frame, hidden_in(found)).savefig(picture, format="png", dpi=200)
    image = base64.b64encode(picture.getvalue()).decode()
    text = render("compare.html", image=image, **_facts(found, max_loss))
    write_atomically(path, lambda part: part.write_text(text + "\n", encoding="utf-8"))


def _facts(found: Findings, max_loss: float) -> dict[str, Any]:
    """Return what both pages show."""
    facts, hidden = found.facts, hidden_in(found)
    who = "users" if hidden == "user" else f"classes of {hidden}"
    size = (
        f"{facts['rows']:,} rows, {facts['columns']} columns, {facts['classes']} task classes, {facts['users']} {who}; "
        f"split: {facts['split']}; {duration(facts['seconds'])}"
    )
    advice = render("recommendation.txt", found=found, max_loss=max_loss)
    answer = {"found": found, "size": size, "advice": advice.split("\n"), "notes": _notes(found)}
    answer["matched"] = in_words(found[chosen].matches) if (chosen := found.recommend(max_loss).defence) else ""
    answer |= {"release": found.recommend(max_loss).command, "published": _published(found, max_loss)}
    return answer | {"losses": _losses_cells(found), "cells": _cells(found)}


def _published(found: Findings, max_loss: float) -> str:
    """Return what the command on the page publishes, if it is not what was compared."""
    chosen = found.recommend(max_loss).defence
    word, asked = found.facts.get("words", {}).get(chosen), found.facts.get("publish") or {}
    return " ".join(render("published.txt", word=word or "", recorded="hide" in asked).split())


def write_json(found: Findings, path: Path) -> None:
    """Write all numbers and the advice as JSON; missing and infinite numbers are null."""
    found = found.without_files
    attacks = [
        {"defence": one.defence, "attacker": line.attacker, "level": line.level} | _measure(found, line.measure)
        for one in found.results
        for line in one.judged
        if line.part == "test"
    ]
    content = {
        "problem": found.problem,
        "facts": found.facts,
        "defences": found.frame.to_dict("records"),
        "words": found.facts.get("words"),
        "columns": {one.defence: list(one.columns) for one in found.results},
        "measures": attacks,
        "recommendations": found.recommendations().to_dict("records"),
        "imbalance": found.imbalance,
    }
    text = TypeAdapter(Any).dump_json(content, indent=1, fallback=lambda number: number.item())
    write_atomically(path, lambda part: part.write_bytes(text + b"\n"))


def _measure(found: Findings, measure: Measure) -> dict[str, Any]:
    return {name: found.who(value) if name == "exposed" else value for name, value in vars(measure).items()}


def _losses_cells(found: Findings) -> list[dict[str, str]]:
    """Return the table of the best defence for each loss."""
    cells = []
    for loss in LOSSES:
        advice = found.recommend(loss)
        row = {"loss": f"{loss:.0%}", "best defence": advice.defence or "none qualifies"}
        if advice.loss is not None and advice.attack is not None:
            kept = {True: "yes", False: "no", None: "undecided"}[advice.keeps_task]
            row |= {
                "measured": f"{advice.loss.value:.1%}",
                "within": kept,
                "attack": f"{advice.attack.score:.1%}",
                "chance": f"{advice.attack.chance:.1%}",
            }
            row |= {"protects": "yes" if advice.protects else "not shown"}
            row |= {"lead exceeds interval": "" if advice.lead is None else "yes" if advice.leads else "no"}
        cells.append(row)
    return cells


def _cells(found: Findings) -> list[dict[str, str]]:
    """Return the main table, the weakest attack first; equal releases share a line."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    attacks = {one.defence: one.strongest() for one in found.results}
    for one in sorted(found.results, key=lambda one: attacks[one.defence].measure.score):
        key = (one.columns, one.guarantees, one.task().measure.score, attacks[one.defence].measure.score)
        groups.setdefault(key, []).append(one)
    return [
        {
            "defence": first.defence + (f" and {len(rest)} equal" if rest else ""),
            "accuracy": _interval(first.task().measure),
            "strongest attack": _interval(attacks[first.defence].measure),
            "attacker": attacks[first.defence].attacker,
            "most exposed": _exposed(found, first),
            "matched rows": _matched(first),
            "columns": str(len(first.columns)),
            "guarantee": _guarantee(first),
        }
        for first, *rest in groups.values()
    ]


def _interval(measure: Measure) -> str:
    return f"{measure.score:.1%} ({100 * measure.low:.0f}-{100 * measure.high:.0f})"


def _exposed(found: Findings, one: Result) -> str:
    shown = one.exposure()
    if shown is None:
        return "nobody"
    return (
        f"{found.who(shown.measure.exposed)}: {shown.measure.exposed_recall:.0%}, {shown.measure.exposed_precision:.0%}"
    )


def _matched(one: Result) -> str:
    best = strongest_match(one.matches)
    return "" if best is None else f"{best.share:.1%} ({best.control:.1%})"


def _guarantee(one: Result) -> str:
    if not math.isfinite(one.epsilon):
        return "none"
    return f"epsilon {one.epsilon:g} a row" + ("" if one.guaranteed else ", partly")


def _notes(found: Findings) -> dict[str, str]:
    """Return the notes below the tables, by heading."""
    attack, task, facts = found.raw.strongest().measure, found.raw.task().measure, found.facts
    names = dict.fromkeys(line.attacker for one in found.results for line in one.judged)
    read = render(
        "how_to_read.txt",
        attack=attack,
        task=task,
        hidden=hidden_in(found),
        pooled=found.raw.levels[0] != ROW,
        attackers=[name for name in names if name != "task"],
        task_published=facts.get("task_published"),
        few=few_units([f"{attack.n} {attack.unit}", f"{task.n} {task.unit}"]),
    )
    guarantees = (
        f"Epsilon holds for one row. The person with most rows has {facts['rows_of_a_person']:,} and loses that many "
        "times epsilon, unless a stated guarantee adds up less. Only a guarantee covers attackers that were not tried "
        "here."
    )
    notes = {"How to read this": " ".join(read.split()), "Guarantees": guarantees}
    if words := found.facts.get("words", {}):
        named = {one.defence: words.get(one.defence, "") for one in found.results}
        references = [one.defence for one in found.results if one.trivial and not named[one.defence]]
        other = {name: word for name, word in named.items() if word not in ("", name)}
        text = render("words.txt", words=other, references=references)
        notes |= {"Words for publish": " ".join(text.split())} if text else {}
    untried: dict[str, list[str]] = {}
    for one in found.untried:
        untried.setdefault(one.reason, []).append(one.defence)
    if untried:
        notes["Not tried"] = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in untried.items()) + "."
    return notes
