"""Write pages for people from the templates beside this module: text for a terminal, HTML for a browser."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context
from markupsafe import Markup
from pydantic import TypeAdapter

from sensorprivacy.paths import write_atomically
from sensorrelease.printing import markdown, visible

WIDTH = 88
MOST_COLUMNS = 40
_SEEN = {"group": "from a whole group", "recording": "from a whole recording", "person": "from all windows of a person"}


def render(template: str, **values: Any) -> str:
    """Return a page; values in HTML and Markdown are escaped, and control characters are shown."""
    return str(_pages.get_template(template).render(**values)).strip("\n")


def one_line(template: str, **values: Any) -> str:
    """Return a page as one line, without the line breaks of its template."""
    return " ".join(render(template, **values).split())


def dump_json(path: Path | str, content: Any) -> None:
    """Write values as JSON; missing and infinite numbers are null."""
    text = TypeAdapter(Any).dump_json(content, indent=1, fallback=lambda value: getattr(value, "item", value.__str__)())
    write_atomically(Path(path), lambda part: part.write_bytes(text + b"\n"))


def columns_page(provenance: Mapping[str, Any]) -> str:
    """Return how each column of a table was read and coded; an empty text without such facts in the provenance."""
    rows = [
        {
            "column": _short(row["column"], 24),
            "read as": _short(row["read"], 26),
            "used as": row["used"],
            "missing": row["missing"] or "",
            "coded as": _short(row["coded"], 30),
        }
        for row in provenance.get("columns", [])
    ]
    facts = {"form": provenance.get("form", "table"), "rows_read": provenance.get("rows_read", 0)}
    return render("columns.txt", columns=rows, most=MOST_COLUMNS, **facts)


def text_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a table of text.

    Examples
    --------
    >>> print(text_table([{"defence": "none", "loss": "0 %"}]))
    defence  loss
    -------  ----
    none     0 %
    """
    names = _keys(rows)
    cells = [[row.get(name, "") for name in names] for row in rows]
    table = [[visible(str(cell), one_line=True) for cell in line] for line in (names, *cells)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in table]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(line).rstrip() for line in lines)


def some(names: Sequence[str], most: int = 20) -> str:
    """Return names as a text, without those after the first ones: a page with 5,000 columns stays a page."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def numbered(label: Any, users: Iterable[Any]) -> str:
    """Return the number of a user in the order of all labels, such as "2 of 4": pages name nobody."""
    labels = sorted(set(map(str, users)))
    return f"{labels.index(str(label)) + 1} of {len(labels)}" if str(label) in labels else str(label)


def named(about: str) -> str:
    """Return how a card calls what is inferred.

    Examples
    --------
    >>> named("user owner"), named("the person"), named("gender")
    ('user (owner)', 'person', 'gender')
    """
    role, _, column = about.partition(" ")
    return f"{role} ({column})" if role in ("task", "user") else about.removeprefix("the ")


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of all columns; some rows have no cell in the last ones."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _paragraph(text: str, hanging: int = 0) -> str:
    return f"{_wrapped(text, hanging)}\n" if text.strip() else ""


def _wrapped(text: str, hanging: int = 0, indent: str = "  ", width: int = WIDTH) -> str:
    return textwrap.fill(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent + " " * hanging)


def _short(text: Any, width: int) -> str:
    return textwrap.shorten(str(text), width, placeholder="...")


@pass_context
def _shown(context: Context, value: Any) -> Any:
    """Return how a template shows a value; templates are ours, values can come from a file."""
    if isinstance(value, Markup):
        return Markup(visible(value))  # noqa: S704 - it is escaped already
    return markdown(str(value)) if str(context.name).endswith(".md") else visible(str(value))


_pages = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=select_autoescape(["html"]),
    finalize=_shown,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_filters: dict[str, Any] = {"paragraph": _paragraph, "wrap": _wrapped, "table": text_table, "keys": _keys}
_filters |= {"some": some, "n": "{:,}".format, "p": lambda share, digits=1: f"{share:.{digits}%}"}
_filters |= {"named": named, "seen_from": lambda level: _SEEN.get(level, f"from one {level}")}
_pages.filters |= _filters
