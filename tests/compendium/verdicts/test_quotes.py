"""Numbers of ours in texts are quoted from tables: a typed one would be out of date after the next run."""

import json
import re

import pytest

from compendium.verdicts import entries
from compendium.verdicts.quotes import REFERENCE, QuoteError, quoted
from compendium.verdicts.verdicts import VerdictError

LEDGER = {entry.id: entry for entry in entries()}
_WORD = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_ALLOWED = (  # sections, and values of settings
    r"[Ss]ections? [\d.]*\d(?:(?:,| and) [\d.]*\d)*",
    r"(?i:\b(?:alpha|beta|lambda|epsilon|thresholds?|chance \+)(?: =)?) \.?\d[\d.]*",
    r"\((?:0|1|0?\.\d+), *\s*(?:0|1|0?\.\d+)\)",  # a pair of thresholds
)
_TYPED = re.compile(
    rf"(?<![\w.])\d*\.\d+|\d+(?= %)|\d+ points|(?i:\b(?:\d[\d,]*|{_WORD})) of (?:the )?(?:\d[\d,]*|{_WORD})\b"
)


def typed(text):
    """Return the numbers in a text that look like results and are neither quoted nor marked."""
    left = REFERENCE.sub("", text)
    for pattern in _ALLOWED:
        left = re.sub(pattern, "", left)
    return _TYPED.findall(left)


@pytest.mark.parametrize("name", LEDGER)
def test_an_entry_of_the_ledger_types_no_result(name):
    entry = LEDGER[name]
    found = {field: typed(getattr(entry, field)) for field in ("evidence", "effect", "choice")}
    assert not any(found.values()), f"quote them as {{RUN/TABLE | ROW | COLUMN}}, or mark printed ones {{=.5}}: {found}"


@pytest.mark.parametrize("name", LEDGER)
def test_what_an_entry_quotes_is_in_the_committed_tables(name):
    text = " ".join((LEDGER[name].evidence, LEDGER[name].effect))
    assert not REFERENCE.search(quoted(text))


#: Numbers that pages and notebooks may type: printed by a paper, a setting, a margin, or a fact of statistics.
STATED = {
    "notebooks/README.md": ["60"],  # a rule of the notebooks
    "notebooks/lessons/DISCUSSIONS.md": ["3 points", "2 points", "10 points"],  # statistics by hand
    "notebooks/lessons/README.md": ["Four of seven"],  # trial of the exercises by readers
    "notebooks/20_threeway_example.ipynb": ["0.8", "0.5", "0.5", "0.17", "0.05"],  # printed
    "notebooks/22_threeway_summary.ipynb": ["0.05"],  # printed
    "notebooks/30_vae_anonymization.ipynb": ["92", "2 points"],  # stride of a window, margin of a test
    "notebooks/31_reidentification_attack.ipynb": ["0.5"],  # chance
    "notebooks/12_game_summary.ipynb": [".01", "901 of 2,667", ".01"],  # printed, published
    "notebooks/40_edge_timing.ipynb": ["0.0001", "38.4", "3.6"],  # tolerance, the board's data sheet
    "notebooks/50_one_game.ipynb": ["10 points"],  # tolerated loss
    "notebooks/captions/20_threeway_example.toml": ["0.8"],  # printed
    "notebooks/captions/31_reidentification_attack.toml": ["0.1"],  # margin
    "notebooks/captions/12_game_summary.toml": ["0.5", "3 points"],  # limit of what counts, name of a column
    "notebooks/captions/30_vae_anonymization.toml": ["1.05"],  # limit of what counts as alike
    "notebooks/captions/40_edge_timing.toml": ["0.0001"],  # tolerance
    "notebooks/captions/50_one_game.toml": ["10 points"],  # tolerated loss
    "book/howto/install.md": ["0.6", "2.5", "0.2", "3.1", "6.8"],  # measured sizes in GB
    "book/promises.md": ["94", "8"],  # simulations in bench/results/interval_coverage.md
    "book/papers/paper-1.md": [".5"],  # least loss that counts
    "book/glossary.md": ["2.5"],  # length of a window
    "book/thresholds.md": ["0.01"],  # a threshold
}
_QUIET = (  # code, links, versions, levels of intervals, and what the report writes
    r"<!-- findings.*?<!-- end of findings -->",
    r"(?s)```.*?```",
    r"`[^`]*`",
    r"\]\([^)]*\)",
    r"\{[^{}]*\}",
    r"\$[^$]*\$",
    r"(?:Python|BY|onnxruntime|nbgrader) [\d.]+|\band \d+\.\d+\.\d+",
    r"95 %",
)
_PAGES = (
    "README.md",
    "book/**/*.md",
    "notebooks/*.md",
    "notebooks/lessons/*.md",
    "notebooks/*.ipynb",
    "notebooks/captions/*",
)


def prose(path):
    """Return the text of a page, of a notebook's Markdown cells, or of a file of captions."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for pattern in _QUIET:
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    return text


def test_pages_notebooks_and_captions_type_no_result(root):
    found = {}
    for path in sorted({path for pattern in _PAGES for path in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        rest = [number for number in typed(prose(path)) if number not in STATED.get(name, [])]
        found |= {name: rest} if rest else {}
    assert found == {}, "quote them from a table, remove them, or state why they may be typed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("re-identifies .744 of windows, chance .570", [".744", ".570"]),
        ("it loses 5.9 points", ["5.9"]),
        ("it keeps 55 %, and 62 of 84 cells", ["55", "62 of 84"]),
        ("on four of the five sets", ["four of the five"]),
        ("section 5.3.1 and sections 5.2, 5.4.2 and 5.6 with beta = .1, chance + .1, at (.95, .05)", []),
        ("with utility = .54", [".54"]),
        ("the printed {=.57} and {a/b | c=d | e | .3f}", []),
    ],
)
def test_the_rule_finds_results_and_no_settings(text, found):
    assert typed(text) == found


def test_a_number_is_written_in_the_form_that_is_asked_for():
    cell = "22_threeway_summary/table-4 | data set=adult | records"
    assert quoted(f"{{{cell}}} {{{cell} | ,}}") == "48842 48,842"
    assert quoted("{22_threeway_summary/table-15 | data set=heart; thresholds=extreme | utility | .4f}") == ".9036"
    assert quoted("{22_threeway_summary/table-15 | data set=heart; thresholds=extreme | utility | %}") == "90 %"
    assert quoted("{22_threeway_summary/table-4 | | max(records) | ,}") == "48,842"
    assert quoted("{22_threeway_summary/table-4 | records>=30000; data set!=a* | count()}") == "1"
    assert quoted("{22_threeway_summary/table-4 | records<=1309; data set=h* or tit?nic | count()}") == "2"
    assert quoted("{= 12 of 14} and {braces, kept}") == " 12 of 14 and {braces, kept}"


@pytest.mark.parametrize(
    "reference",
    [
        "22_threeway_summary/table-4 | data set=adlut | records",
        "22_threeway_summary/none | a=b | c",
        "no_*/x | | max(a)",
        "22_threeway_summary/table-4 | | max(none)",
        "22_threeway_summary/table-4 | none=1 | count()",
        "22_threeway_summary/table-4 | records | count()",
        "22_threeway_summary/table-4 | | max(records.sum())",
        "22_threeway_summary/table-4 | | __import__('os').system('touch /tmp/ran')",
    ],
)
def test_a_reference_to_nothing_is_an_error_and_runs_no_code(reference):
    with pytest.raises((QuoteError, VerdictError), match=r"figures|no committed run|has no"):
        quoted(f"{{{reference}}}")
