"""The page that `make reproduce` leaves: the numbers that matter, a picture of each paper, and every executed notebook.

It needs no package beyond those of the notebooks, and comes out however the runs ended.
"""

import base64
import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

from compendium.book.notebooks import cleaned, read
from compendium.book.pages import in_place_of, templates, write
from compendium.paths import build_dir, figures_dir
from compendium.run.runs import read_runs
from compendium.run.screen import contents, counted, numbers, shortfalls
from compendium.run.states import FAILED, NO_DATA, OK, RunState, read_data_state

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_INLINE = {
    r"`([^`]+)`": r"<code>\1</code>",
    r"\*\*([^*]+)\*\*": r"<b>\1</b>",
    r"(?<!\w)\*([^*\s][^*]*)\*": r"<em>\1</em>",
}
_FORMULA = re.compile(r"(\$\$[^$]+\$\$|\$[^$\s][^$]*\$)")
_LINK = re.compile(r"!?\[([^]]+)\]\(([^)\s]+)\)")


def write_overview(ended: Mapping[str, RunState], profile: str) -> Path:
    """Write the page of a profile with a page of each executed notebook, and return its path.

    Parameters
    ----------
    ended : mapping of str to RunState
        How each run ended.
    profile : {"quick", "paper"}
        Their settings.
    """
    forms, runs = templates(), read_runs()
    with in_place_of(build_dir() / "pages" / profile) as folder:
        rows = []
        for name, state in ended.items():
            notebook = _executed(name, state, profile)
            if notebook:
                body = [_cell(cell) for cell in cleaned(read(notebook)).cells]
                page = forms.get_template("executed.html").render(name=name, state=state, body=body)
                write(folder / f"{name}.html", page)
            lacking = runs[name].missing(lambda one: read_data_state(one).present) if state.status == NO_DATA else []
            row = {"about": runs[name].about, "reason": ", ".join(lacking) or state.reason}
            rows.append({"name": name, "status": state.status, "page": f"{name}.html" if notebook else ""} | row)
        rows.sort(key=lambda row: not row["page"])  # the others keep their order
        shown = {"profile": profile, "counts": counted(ended), "numbers": numbers(ended, profile), "runs": rows}
        shown |= {"missing": shortfalls(ended), "pictures": _pictures(profile)}
        write(folder / "index.html", forms.get_template("overview.html").render(shown))
    return build_dir() / "pages" / profile / "index.html"


def _executed(name: str, state: RunState, profile: str) -> Path | None:
    """Return a run's executed notebook; of a failed run, the notebook up to the cell that failed."""
    ending = {OK: ".ipynb", FAILED: ".unfinished.ipynb"}.get(state.status)
    path = build_dir() / "executed" / profile / f"{name}{ending}"
    return path if path.is_file() else None


def _pictures(profile: str) -> list[dict[str, Any]]:
    """Return the first picture of each paper that a run left, with its run."""
    found = []
    for entry in contents()["picture"]:
        files = [figures_dir(profile) / name for name in entry["files"]]
        found += [{"what": entry["what"], "run": f.parent.name, "data": _base64(f)} for f in files if f.is_file()][:1]
    return found


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _cell(cell: Any) -> str:
    """Return a cell as HTML: its text, or its code, folded, and what it shows."""
    if cell.cell_type != "code":
        return markdown(cell.source)
    folded = f"<details><summary>code</summary><pre>{html.escape(cell.source)}</pre></details>"
    return folded + "".join(map(_output, cell.outputs))


def _output(output: Any) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"])
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    text = data.get("text/markdown")
    if text is not None:
        return markdown(text)
    lines = output.get("traceback") or [output.get("text", data.get("text/plain", ""))]
    return f"<pre>{html.escape(_ANSI.sub('', chr(10).join(lines)))}</pre>"


def markdown(text: str) -> str:
    """Return the Markdown of our notebooks as HTML: headings, lists, tables as they are, paragraphs, simple marks.

    Examples
    --------
    >>> markdown("A *word* and `code`.")
    '<p>A <em>word</em> and <code>code</code>.</p>'
    """
    return "\n".join(map(_block, re.split(r"\n\s*\n", text.strip())))


def _block(block: str) -> str:
    lines = block.split("\n")
    if block.startswith(("```", "|", "    ")):
        return f"<pre>{html.escape(block.strip('`'))}</pre>"
    if head := re.match(r"(#+) +(.*)", lines[0]):
        level, rest = len(head[1]), "\n".join(lines[1:])
        return f"<h{level}>{_inline(head[2])}</h{level}>" + (f"\n{_block(rest)}" if rest else "")
    if re.match(r"([*-]|\d+\.) ", block):
        items = re.split(r"(?:^|\n)(?:[*-]|\d+\.) ", block)[1:]
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
    return f"<p>{_inline(block)}</p>"


def _inline(text: str) -> str:
    """Return a line with its marks as HTML; links to files of the checkout, which the page does not hold, are words."""
    return "".join(_formula(part) if at % 2 else _marked(part) for at, part in enumerate(_FORMULA.split(text)))


def _formula(text: str) -> str:
    try:
        return str(tex2mathml(text.strip("$"), as_block=text.startswith("$$")))
    except MathError:
        return html.escape(text)


def _marked(text: str) -> str:
    made = html.escape(text, quote=False)
    made = _LINK.sub(lambda m: f'<a href="{m[2]}">{m[1]}</a>' if m[2].startswith("http") else m[1], made)
    for mark, tag in _INLINE.items():
        made = re.sub(mark, tag, made)
    return made
