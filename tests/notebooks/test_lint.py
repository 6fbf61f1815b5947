"""Every notebook can be read, run in order, and run in batches."""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import nbformat
import pytest

from compendium.run.parameters import read_parameters
from compendium.run.runs import read_runs
from compendium.run.states import PROFILES

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_CODE_LINES = 86
WIDEST = 100


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem, scope="module")
def path(request):
    return request.param


@pytest.fixture(scope="module")
def notebook(path):
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


@pytest.fixture(scope="module")
def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def nodes(code, *kinds):
    return [node for cell in code for node in ast.walk(ast.parse(cell)) if isinstance(node, kinds)]


def test_there_are_notebooks_and_each_is_run():
    assert NOTEBOOKS
    assert {run.notebook.name for run in read_runs().values()} == {path.name for path in NOTEBOOKS}


def test_the_first_one_is_a_map_of_all_others():
    first = nbformat.read(NOTEBOOKS[0], as_version=nbformat.NO_CONVERT)
    told = set(re.findall(r"`(\d\d_\w+)`", first.cells[0].source))
    assert told == {path.stem for path in NOTEBOOKS[1:]}


def test_it_is_valid_and_stripped(path, notebook):
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    nbformat.validate(json.loads(path.read_text(encoding="utf-8")))
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        assert set(cell.metadata) <= {"tags"}, cell.metadata
    assert "widgets" not in notebook.metadata


def test_its_kernel_is_whatever_is_called_python3(notebook):
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.kernelspec.language == "python"


def test_its_parameters_are_typed_explained_and_know_the_profiles(path):
    parameters = read_parameters(path)
    assert [name for name, parameter in parameters.items() if not parameter.help] == []
    assert parameters["profile"].default == "quick"
    assert parameters["profile"].choices == PROFILES


def test_it_opens_with_what_it_shows_what_to_know_and_how_long_it_takes(notebook):
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    for words in ("What it shows", "What to know first", "Minutes"):
        assert words in first.source, words


def test_it_calls_the_library_and_defines_nothing(code):
    assert nodes(code, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef) == []
    named = [node for node in nodes(code, ast.Assign) if isinstance(node.value, ast.Lambda)]
    assert named == []
    assert len(nodes(code, ast.Lambda)) <= 2


def test_it_is_short(code):
    """Logical lines count, so that a statement may be wrapped where it reads best."""
    tokens = [token for cell in code for token in tokenize.generate_tokens(io.StringIO(f"{cell}\n").readline)]
    assert sum(token.type == tokenize.NEWLINE for token in tokens) <= MOST_CODE_LINES


def test_its_lines_fit_a_page(notebook):
    """A parameter has its help on its own line, however long it is."""
    cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", [])
    ]
    assert [line for cell in cells for line in cell.source.splitlines() if len(line) > WIDEST] == []


@pytest.fixture
def sections(notebook):
    """Return the cells of each level-2 section by its heading; the opening cell is the notebook's introduction."""
    found = {}
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            found[cell.source.splitlines()[0]] = []
        if found:
            found[list(found)[-1]].append(cell)
    return found


def test_each_section_starts_with_a_question(notebook, sections):
    headings = [line for cell in notebook.cells[1:] for line in cell.source.splitlines() if line.startswith("## ")]
    assert list(sections) == headings  # each has a cell of its own
    first = {heading: cells[0].source.split("\n\n")[1:2] for heading, cells in sections.items()}
    assert {heading: said for heading, said in first.items() if not is_question(said)} == {}
    assert [heading for heading in sections if heading.endswith("?")] == []  # the question is below


def is_question(paragraphs):
    """Return whether there is a paragraph of one sentence that asks something."""
    return len(paragraphs) == 1 and re.fullmatch(r"(?:[^.?!]|\.\w)+\?", paragraphs[0]) is not None


def test_each_section_ends_with_a_sentence_from_its_numbers(sections):
    """A section without code has no numbers."""
    ends = {heading: [cell for cell in cells if cell.cell_type == "code"][-1:] for heading, cells in sections.items()}
    assert [heading for heading, cells in ends.items() if cells and not concludes(cells[0].source)] == []


def test_every_table_and_figure_is_shown(code):
    """Jupyter shows the last expression of a cell; what stands before it needs ``display``."""
    hidden = []
    for cell in code:
        body = ast.parse(cell).body
        calls = [node.value for part in body for node in ast.walk(part) if isinstance(node, ast.Expr)]
        shown = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
        hidden += [ast.unparse(call)[:60] for call in calls if call is not shown and makes_output(call)]
    assert hidden == []


def makes_output(call: ast.expr) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in {"table", "figure", "conclude"}
        and is_name(call.func.value, "run")
    )


def concludes(source: str) -> bool:
    """Return whether a cell shows a computed sentence at its end.

    It shows ``run.conclude(...)``, a table or a figure with ``closing``, or the verdicts of ``run.verdicts``, which end
    with one. If the last statement is an ``if``, its first branch counts: the other one says that there is no data.
    """
    body = ast.parse(source).body
    last = body[-1]
    if isinstance(last, ast.If):
        last = last.body[-1]
    if not isinstance(last, ast.Expr):
        return False
    shown = last.value
    if isinstance(shown, ast.Call) and isinstance(shown.func, ast.Name) and shown.func.id == "display":
        shown = shown.args[0]
    assigned = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Assign)]
    values = {}
    for node in assigned:
        values.setdefault(getattr(node.targets[0], "id", ""), []).append(node.value)
    calls = values.get(shown.id, []) if isinstance(shown, ast.Name) else [shown]
    return bool(calls) and all(has_sentence(call, values) for call in calls)


def has_sentence(call: ast.expr, values: dict[str, list[ast.expr]]) -> bool:
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and is_name(call.func.value, "run")):
        return False
    if call.func.attr == "verdicts":
        return True
    given = call.args[:1] if call.func.attr == "conclude" else [k.value for k in call.keywords if k.arg == "closing"]
    given = [value for each in given for value in (values.get(each.id, []) if isinstance(each, ast.Name) else [each])]
    return bool(given) and isinstance(given[-1], ast.Call) and bool(given[-1].args)


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("run.table(a, 'n', 'c', closing=sentences.extremes(a, 'size'))", True),
        ("run.conclude(sentences.extremes(a, 'size'))", True),
        ("closing = sentences.extremes(a, 'size')\nrun.figure(a, 'n', 'c', closing=closing)", True),
        ("verdicts = run.verdicts(statements)\nrun.close()\nverdicts", True),
        ("if a:\n    display(run.table(a, 'n', 'c', closing=sentences.extremes(a, 'size')))", True),
        ("run.table(a, 'n', 'c', closing='The size is 3.')", False),  # typed, not computed
        ("run.conclude('All is well.')", False),
        ("run.table(a, 'n', 'c', closing=sentences.extremes(a, 'size'))\nrun.close()", False),  # not shown
        ("run.table(a, 'n', 'c')", False),
        ("print(a)", False),
    ],
)
def test_the_check_of_sentences_would_notice(source, found):
    assert concludes(source) == found


@pytest.mark.parametrize(
    ("text", "asks"), [("Is .01 a good threshold?", True), ("It is. Is it?", False), ("It is so.", False)]
)
def test_the_check_of_questions_would_notice(text, asks):
    assert is_question([text]) == asks


def test_it_depends_on_no_machine(code, notebook):
    text = "\n".join(code)
    assert not re.search(r"sys\.path|os\.chdir|getcwd|^\s*[%!]", text, re.MULTILINE)
    written = [node.value for node in nodes(code, ast.Constant) if isinstance(node.value, str)]
    assert [word for word in written if re.match(r"/\w|~/|[A-Za-z]:\\", word)] == []
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert not re.search(r"(?<![\w.:/])/(?:work|root|home|Users)/", prose)


def test_every_name_is_defined_in_a_cell_before(code, tmp_path):
    for number in range(1, len(code) + 1):
        (tmp_path / f"{number}.py").write_text("\n".join(code[:number]), encoding="utf-8")
    assert ruff("F821,E9", tmp_path) == ""
    assert ruff("F", tmp_path / f"{len(code)}.py") == ""


@pytest.mark.parametrize("code", ["print(late)", "print([late for _ in range(3)])\nlate = 1"])
def test_the_check_of_names_would_notice(code, tmp_path):
    (tmp_path / "1.py").write_text(code, encoding="utf-8")
    assert "undefined name `late`" in ruff("F821", tmp_path).lower()


def ruff(rules: str, path: Path) -> str:
    """Return what ruff finds in a file, or in all files of a folder, which takes one process."""
    words = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--no-cache", "--select", rules]
    words += ["--config", 'builtins = ["display"]', "--output-format", "concise", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout
