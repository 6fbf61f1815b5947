"""Write a comparison: a page for the terminal, a self-contained HTML page, and JSON."""

import base64
import io
import math
from pathlib import Path
from typing import Any

from sensorprivacy.game.joins import in_words
from sensorprivacy.game.tables import ROW
from sensorprivacy.game.units import few_units
from sensorprivacy.minimize.search.job import duration
from sensorprivacy.paths import write_atomically
from sensorrelease.advice import LOSSES
from sensorrelease.findings import Findings, hidden_in
from sensorrelease.pages import columns_page, dump_json, one_line, render


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


def write_html(found: Findings, path: Path | str, max_loss: float = 0.01) -> None:
    """Write the report as one HTML file that requests nothing from a network: advice, frontier, numbers, guarantees."""
    found = found.without_files
    from sensorrelease.chart import frontier  # matplotlib takes a second, and most commands draw nothing

    picture = io.BytesIO()
    frontier(found.frame, hidden_in(found)).savefig(picture, format="png", dpi=200)
    image = base64.b64encode(picture.getvalue()).decode()
    text = render("compare.html", image=image, **_facts(found, max_loss))
    write_atomically(Path(path), lambda part: part.write_text(text + "\n", encoding="utf-8"))


def _facts(found: Findings, max_loss: float) -> dict[str, Any]:
    """Return what both pages show."""
    best, publish = found.recommend(max_loss), found.facts.get("publish") or {}
    word = found.facts.get("words", {}).get(best.defence) or ""
    return {
        "found": found,
        "size": one_line(
            "size.txt", **found.facts | {"hidden": hidden_in(found), "time": duration(found.facts["seconds"])}
        ),
        "advice": render("recommendation.txt", found=found, max_loss=max_loss).split("\n"),
        "matched": in_words(found[best.defence].matches) if best.defence else "",
        "release": best.command,
        "published": one_line("published.txt", word=word, recorded="hide" in publish),
        "losses": _losses(found),
        "cells": _cells(found),
        "notes": _notes(found),
    }


def write_json(found: Findings, path: Path | str) -> None:
    """Write all numbers and the advice as JSON; missing and infinite numbers are null."""
    found = found.without_files
    attacks = [
        {"defence": one.defence, "attacker": line.attacker, "level": line.level}
        | vars(line.measure)
        | {"exposed": found.who(line.measure.exposed)}
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
    dump_json(path, content)


def _losses(found: Findings) -> list[dict[str, str]]:
    """Return the table of the best defence for each loss."""
    cells = []
    for loss in LOSSES:
        advice = found.recommend(loss)
        row = {"loss": f"{loss:.0%}", "best defence": advice.defence or "none qualifies"}
        if advice.loss is not None and advice.attack is not None:
            row |= {
                "measured": f"{advice.loss.value:.1%}",
                "within": {True: "yes", False: "no", None: "undecided"}[advice.keeps_task],
                "attack": f"{advice.attack.score:.1%}",
                "chance": f"{advice.attack.chance:.1%}",
                "protects": "yes" if advice.protects else "not shown",
                "lead exceeds interval": "" if advice.lead is None else "yes" if advice.leads else "no",
            }
        cells.append(row)
    return cells


def _cells(found: Findings) -> list[dict[str, str]]:
    """Return the main table, the weakest attack first; equal releases share a line."""
    groups: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    rows = zip(found.results, found.frame.to_dict("records"), strict=False)  # the others were not tried
    for one, row in sorted(rows, key=lambda pair: pair[1]["attack"]):
        groups.setdefault((one.columns, one.guarantees, row["accuracy"], row["attack"]), []).append(row)
    return [
        {
            "defence": row["defence"] + (f" and {len(equal)} equal" if equal else ""),
            "accuracy": _interval(row, "accuracy"),
            "strongest attack": _interval(row, "attack"),
            "attacker": row["attacker"],
            "most exposed": "nobody"
            if math.isnan(row["exposed_recall"])
            else "{exposed}: {exposed_recall:.0%}, {exposed_precision:.0%}".format_map(row),
            "matched rows": ""
            if math.isnan(row["matched"])
            else "{matched:.1%} ({matched_control:.1%})".format_map(row),
            "columns": str(row["n_columns"]),
            "guarantee": f"epsilon {row['epsilon_row']:g} a row" + ("" if row["guaranteed"] else ", partly")
            if math.isfinite(row["epsilon_row"])
            else "none",
        }
        for row, *equal in groups.values()
    ]


def _interval(row: dict[Any, Any], name: str) -> str:
    return f"{row[name]:.1%} ({100 * row[f'{name}_low']:.0f}-{100 * row[f'{name}_high']:.0f})"


def _notes(found: Findings) -> dict[str, str]:
    """Return the remarks below the tables: a title and a paragraph each."""
    attack, task = found.raw.strongest().measure, found.raw.task().measure
    values: dict[str, Any] = {"found": found, "attack": attack, "task": task, "hidden": hidden_in(found)}
    values["pooled"] = found.raw.levels[0] != ROW
    values["attackers"] = list(
        dict.fromkeys(line.attacker for one in found.results for line in one.judged if line.attacker != "task")
    )
    values["few"] = few_units([f"{attack.n} {attack.unit}", f"{task.n} {task.unit}"])
    titles = {"how_to_read": "How to read this", "guarantees": "Guarantees", "words": "Words for publish"}
    titles["untried"] = "Not tried"
    texts = {title: one_line(f"{name}.txt", **values) for name, title in titles.items()}
    return {title: text for title, text in texts.items() if text}
