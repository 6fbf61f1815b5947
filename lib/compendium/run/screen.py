"""The last screen of `make reproduce`: counts, numbers that matter, what is missing and why, and the page to open."""

import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from compendium.datasets.catalogue import catalogue
from compendium.datasets.network import INDEX, NETWORK, host_of
from compendium.paths import VERDICTS_FILE, command, figures_dir, output_root
from compendium.run.runs import read_runs
from compendium.run.states import FAILED, NO_DATA, NOT_RUN, OK, DataState, RunState, is_present, read_data_state

WIDTH = 100
_LINES = 9  # about what is missing
_FIELDS = ["paper", "what", "printed", "ours", "chance", "task"]


def summary(ended: Mapping[str, RunState], profile: str, page: Path) -> str:
    """Return the closing lines, at most 24 of at most `WIDTH` characters.

    Parameters
    ----------
    ended : mapping of str to RunState
        How each run ended.
    profile : {"quick", "paper"}
        Their settings.
    page : path
        The page that shows them.
    """
    root, width = output_root(), WIDTH
    lines = [f"{profile} profile, {len(ended)} runs: {counted(ended)}", *_table(numbers(ended, profile))]
    if (verdicts := figures_dir(profile) / VERDICTS_FILE).is_file():
        from compendium.verdicts.replication import summary_line  # here, because it imports pandas
        from compendium.verdicts.verdicts import read_verdicts

        lines += textwrap.wrap(summary_line(read_verdicts(verdicts)), width)
    lines += [textwrap.shorten(line, width, placeholder=" ...") for line in shortfalls(ended, most=3)[:_LINES]]
    here = page.relative_to(root) if page.is_relative_to(root) else page
    return "\n".join([*lines, f"tables and figures: {figures_dir(profile).relative_to(root)}/<run>/", f"open {here}"])


def counted(ended: Mapping[str, RunState]) -> str:
    """Return how many runs ended in which way."""
    counts = Counter(state.status for state in ended.values())
    return ", ".join(f"{counts[status]} {status}" for status in (OK, NO_DATA, FAILED, NOT_RUN) if counts[status])


def numbers(ended: Mapping[str, RunState], profile: str) -> list[dict[str, str]]:
    """Return the numbers that matter of each paper: printed, ours, by chance, and the accuracy of the task.

    The file ``show/templates/screen.toml`` says which. A value that no run left has the reason in its place.
    """
    found = []
    for entry in contents()["number"]:
        known = [choice for choice in entry["choices"] if _run_of(choice) in ended]
        rows = [_row(choice, ended, profile) for choice in known]
        absent = [{"what": choice["what"], "ours": ended[_run_of(choice)].status} for choice in known[:1]]
        row = next(filter(None, [*rows, *absent]), None)
        found += [dict.fromkeys(_FIELDS, "") | {"paper": str(entry["paper"])} | row] if row else []
    return found


def shortfalls(ended: Mapping[str, RunState], most: int = 99) -> list[str]:
    """Return what is missing, one line for each reason, with at most so many names: data sets, failures, other runs."""
    runs, without = read_runs(), [name for name, state in ended.items() if state.status == NO_DATA]
    lacking = dict.fromkeys(each for name in without for each in runs[name].missing(is_present))
    lines = absences(map(read_data_state, lacking), most)
    failed = [(name, state) for name, state in ended.items() if state.status == FAILED]
    lines += [f"failed: {name}{f' ({one.log})' if one.log else ''}: {one.reason}" for name, one in failed[:most]]
    lines += [f"failed: {len(failed) - most} more, see the page"] * (len(failed) > most)
    reasons: dict[str, list[str]] = {}
    for name, state in ended.items():
        if state.status == NOT_RUN:
            reasons.setdefault(state.reason if state.blocked else "nobody asked for them", []).append(name)
    return lines + [f"not run: {reason}: {some(names)}" for reason, names in reasons.items()]


def absences(absent: Iterable[DataState], most: int = 99) -> list[str]:
    """Return one line for each reason why data sets are absent: at most so many of them, the reason, and the remedy."""
    reasons: dict[str, list[str]] = {}
    for state in absent:
        reasons.setdefault(_reason(state), []).append(state.name)
    more = {why: f" and {len(names) - most} more" if len(names) > most else "" for why, names in reasons.items()}
    return [f"no data: {', '.join(names[:most])}{more[why]}: {why}" for why, names in reasons.items()]


def _reason(state: DataState) -> str:
    entry = catalogue().get(state.name)
    if entry is None or not entry.origins:
        return f"on request, see {command('data list NAME')}"
    asked = {host_of(each.url) if each.url else INDEX for each in entry.origins}
    why = "no connection" if asked <= NETWORK.unreachable.keys() else "not downloaded"
    return f"{why}; try again: make data"


def some(names: Sequence[str], most: int = 8) -> str:
    """Return names, or their number if there are many."""
    return ", ".join(names) if len(names) <= most else f"{len(names)} runs"


@cache
def contents() -> dict[str, Any]:
    """Return ``screen.toml``: the numbers and pictures to show."""
    file = Path(__file__).parents[1] / "show" / "templates" / "screen.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _run_of(choice: Mapping[str, Any]) -> str:
    return str(choice["ours"][0]).partition("/")[0]


def _row(choice: Mapping[str, Any], ended: Mapping[str, RunState], profile: str) -> dict[str, str] | None:
    """Return the texts of a line, or None if the run left no such values."""
    from compendium.verdicts.printed import printed_values

    if ended[_run_of(choice)].status not in (OK, NOT_RUN):
        return None
    places = {"ours": choice["ours"], "chance": filter(None, [choice.get("chance")]), "task": choice.get("task", [])}
    cells = {name: [_cell(each, profile, choice.get("form", ".0%")) for each in own] for name, own in places.items()}
    if any("" in own for own in cells.values()):
        return None
    texts = printed_values().set_index("claim_id")["printed"]
    cells["printed"] = [texts.get(name, name) for name in choice["printed"]]
    return {"what": choice["what"]} | {name: " -> ".join(own) or "none" for name, own in cells.items()}


def _cell(place: str, profile: str, form: str) -> str:
    from compendium.verdicts.cells import row_of, tables_of

    table, where, column = place.split(" | ")
    frame = tables_of(profile, "")(table)
    row = None if frame is None else row_of(frame, where, table)
    return format(float(row[column]), form) if row and row[column] else ""


def _table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return rows as aligned lines with a head, between empty lines."""
    columns = [[name, *(row[name] for row in rows)] for name in _FIELDS]
    padded = [[text.ljust(max(map(len, column))) for text in column] for column in columns]
    return ["", *("  ".join(line).rstrip() for line in zip(*padded, strict=True)), ""] if rows else []
