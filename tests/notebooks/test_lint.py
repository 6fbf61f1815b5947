"""Every notebook can be read, run in order, and run in batches."""

import ast
import importlib
import inspect
import io
import json
import re
import runpy
import subprocess
import sys
import tokenize
import tomllib
from pathlib import Path

import nbformat
import pytest

from compendium.run.parameters import parse_parameters, read_parameters
from compendium.run.runs import PROFILES, read_runs

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_CODE_LINES = 80
SUBJECT, MEDIAN, LONGEST = 0.65, 5, 12
READ_ONLY = {"00_start_here", "90_replication_report"}  # they show what other runs left
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


@pytest.fixture(scope="module")
def computed(notebook):
    """Return the code cells but those of the parameters, which have a line for each."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if not {"parameters", "settings"} & set(cell.metadata.get("tags", []))]


def nodes(code, *kinds):
    return [node for cell in code for node in ast.walk(ast.parse(cell)) if isinstance(node, kinds)]


def test_there_are_notebooks_and_each_is_run():
    assert NOTEBOOKS
    assert {run.notebook.name for run in read_runs().values()} == {path.name for path in NOTEBOOKS}


def test_the_first_one_is_a_map_of_all_others():
    first = nbformat.read(NOTEBOOKS[0], as_version=nbformat.NO_CONVERT)
    text = "\n".join(cell.source for cell in first.cells if cell.cell_type == "markdown")
    told = re.findall(r"\[(\d\d_\w+)\]\((\d\d_\w+)\.ipynb\)", text)
    assert all(name == file for name, file in told)
    assert {name for name, _ in told} == {path.stem for path in NOTEBOOKS[1:]}


def test_it_is_valid_and_stripped(path, notebook):
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    nbformat.validate(json.loads(path.read_text(encoding="utf-8")))
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
        assert set(cell.metadata) <= {"tags", "jupyter"}, cell.metadata
    assert "widgets" not in notebook.metadata


def test_its_kernel_is_whatever_is_called_python3(notebook):
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.kernelspec.language == "python"


def test_its_parameters_are_typed_explained_and_know_the_profiles(path):
    parameters = read_parameters(path)
    assert [name for name, parameter in parameters.items() if not parameter.help] == []
    assert parameters["profile"].default == "quick"
    assert parameters["profile"].choices == PROFILES


def test_the_parameters_to_change_are_few_and_the_others_are_folded(notebook):
    """Papermill wants one cell of parameters; JupyterLab and the book fold the cell of settings above it."""
    few, rest = (
        [one for one in notebook.cells if tag in one.metadata.get("tags", [])] for tag in ("parameters", "settings")
    )
    assert len(parse_parameters(few[0].source)) <= (3 if rest else 12)
    assert [one.metadata for one in rest] in (
        [],
        [{"jupyter": {"source_hidden": True}, "tags": ["settings", "hide-input"]}],
    )


def test_each_parameter_is_read_where_it_can_be_seen(path, computed):
    read = {node.id for node in nodes(computed, ast.Name) if isinstance(node.ctx, ast.Load)}
    assert set(read_parameters(path)) - {"profile"} <= read


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


def test_it_is_short(path, computed):
    """Logical lines count, so that a statement may be wrapped where it reads best.

    Parameters, imports and the comparison with the printed values have the same form in every notebook and do not
    count. The other lines have room for a formula beside each call.
    """
    cells = [cell for cell in computed if not re.search(r"run\.(claims|verdicts)\(", cell)]
    tokens = [token for cell in cells for token in tokenize.generate_tokens(io.StringIO(f"{cell}\n").readline)]
    lines = sum(token.type == tokenize.NEWLINE for token in tokens)
    assert lines - len(nodes(cells, ast.Import, ast.ImportFrom)) <= MOST_CODE_LINES


def test_it_is_about_its_subject(path):
    found = runpy.run_path(str(FOLDER.parent / "bench" / "tools" / "subject_lines.py"))["measure"](path)
    assert (found["median"] <= MEDIAN, found["longest"] <= LONGEST) == (True, True), found
    assert found["share"] >= SUBJECT or path.stem in READ_ONLY


def test_its_lines_fit_a_page(computed):
    """A parameter has its help on its own line, however long it is."""
    assert [line for cell in computed for line in cell.splitlines() if len(line) > WIDEST] == []


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


@pytest.fixture(scope="module")
def captions(path):
    """Return the notebook's captions by kind and name; a figure without an ``about`` has that of the file."""
    file = tomllib.loads((FOLDER / "captions" / f"{path.stem}.toml").read_text(encoding="utf-8"))
    about = {"about": file.pop("about", "")}
    return file | {"figure": {name: about | entry for name, entry in file.get("figure", {}).items()}}


def test_each_section_ends_with_a_sentence_from_its_numbers(sections, captions):
    """A section without code has no numbers."""
    ends = {heading: [cell for cell in cells if cell.cell_type == "code"][-1:] for heading, cells in sections.items()}
    assert [heading for heading, cells in ends.items() if cells and not concludes(cells[0].source, captions)] == []


SHOWS = {"table": "table", "figure": "figure", "conclude": "sentence"}


def names_of(node, entries, code=()):
    """Return the name of a result, those with words that fit an f-string, or those that a loop goes over."""
    if isinstance(node, ast.Name):
        (loop,) = [each for each in nodes(code, ast.For) if is_name(each.target, node.id)]
        named = loop.iter.body if isinstance(loop.iter, ast.IfExp) else loop.iter
        return list(ast.literal_eval(named))
    if isinstance(node, ast.JoinedStr):
        parts = [re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in node.values]
        return [name for name in entries if re.fullmatch("".join(parts), name)]
    assert isinstance(node, ast.Constant), ast.unparse(node)
    return [node.value]


def results(code, captions):
    """Return kind, name and placeholders' own values of each result that a notebook shows."""
    found = []
    for call in nodes(code, ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in SHOWS and is_name(call.func.value, "run"):
            kind = SHOWS[call.func.attr]
            given = {keyword.arg for keyword in call.keywords} - {"about"}
            assert call.func.attr == "conclude" or len(call.args) == 2, f"a caption in a cell: {ast.unparse(call)}"
            name = call.args[call.func.attr != "conclude"]
            found += [(kind, one, given) for one in names_of(name, captions.get(kind, {}), code)]
    return found


def test_each_result_has_its_words_and_no_words_are_left_over(code, captions):
    shown = sorted({(kind, name) for kind, name, _ in results(code, captions)})  # two f-strings can fit one name
    assert shown == sorted((kind, name) for kind, entries in captions.items() for name in entries)
    assert all(entry["caption"] for kind in ("table", "figure") for entry in captions.get(kind, {}).values())


def test_captions_name_what_the_notebook_has(code, captions):
    stored = {node.id for node in nodes(code, ast.Name) if isinstance(node.ctx, ast.Store)}
    for kind, name, given in results(code, captions):
        entry = dict(captions[kind][name])
        numbers = entry.pop("numbers", {})
        named = set(re.findall(r"\{([a-z]\w*)", json.dumps(entry))) - {"about"}
        steps = [re.findall(r"(?:^|@)([a-zA-Z]\w*)", text) for text in numbers.values()]
        for used, before in zip(steps, range(len(numbers)), strict=True):
            assert set(used) <= stored | set([*numbers][:before]), (kind, name, used)
        wanted = named | set().union(*steps) - set(numbers)
        assert set(numbers) <= wanted | set().union(*steps), (kind, name)
        assert wanted <= stored | given | set(numbers) | {"data_set"}, (kind, name)  # the data set in words
        assert given <= wanted, (kind, name)


def test_nothing_is_shown_twice(code):
    """``run.table``, ``run.figure`` and ``run.conclude`` show themselves."""
    shown = [call for call in nodes(code, ast.Call) if is_name(call.func, "display")]
    assert [ast.unparse(call) for call in shown if call.args and makes_output(call.args[0])] == []


def makes_output(call: ast.expr) -> bool:
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in SHOWS
        and is_name(call.func.value, "run")
    )


def concludes(source: str, captions: dict[str, dict[str, dict[str, object]]]) -> bool:
    """Return whether the last thing that a cell shows is a sentence.

    It is ``run.conclude(...)``, a table or a figure with a ``closing`` in the captions, or the verdicts, which end with
    one. If the last statement is an ``if``, its first branch counts: the other one says that there is no data.
    """
    body = [part for part in ast.parse(source).body if ast.unparse(part) != "run.close()"]
    last = body[-1].body[-1] if isinstance(body[-1], ast.If | ast.For) else body[-1]
    shown = last.value if isinstance(last, ast.Expr) else None
    if isinstance(shown, ast.Name):
        assigned = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Assign)]
        made = [node.value for node in assigned if is_name(node.targets[0], shown.id)]
        shown = made[-1] if made else None
    if not (isinstance(shown, ast.Call) and isinstance(shown.func, ast.Attribute) and is_name(shown.func.value, "run")):
        return False
    if shown.func.attr in {"table", "figure"}:
        entries = captions.get(shown.func.attr, {})
        found = names_of(shown.args[1], entries)
        return bool(found) and all("closing" in entries.get(name, {}) for name in found)
    return shown.func.attr in {"conclude", "verdicts"}


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("run.table(a, 'said')", True),
        ("run.table(a, 'silent')", False),
        ("run.figure(a, 'said')", False),  # the words of a table of the same name
        ("run.conclude('end', a)", True),
        ("verdicts = run.verdicts(ours)\nrun.close()\nverdicts", True),
        ("if a:\n    run.table(a, 'said')", True),
        ("run.table(a, 'said')\nrun.close()", True),
        ("run.table(a, 'said')\nb = 1", False),
        ("for b in a:\n    run.table(b, f'sa{b}')", True),
        ("for b in a:\n    run.table(b, f's{b}')", False),  # one of the names is silent
        ("print(a)", False),
    ],
)
def test_the_check_of_sentences_would_notice(source, found):
    said = {"caption": "c", "closing": "Compare."}
    assert concludes(source, {"table": {"said": said, "silent": {"caption": "c"}}}) == found


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


def test_every_name_of_ours_that_it_uses_exists(code):
    """A notebook breaks late, perhaps after an hour, if a module that it imports has lost a function."""
    tree = ast.parse("\n".join(code))
    modules, missing = {}, []
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)):
        if node.module.split(".")[0] not in {"compendium", "sensorprivacy"}:
            continue
        for name in node.names:
            full = f"{node.module}.{name.name}"
            try:
                modules[name.asname or name.name] = importlib.import_module(full)
            except ModuleNotFoundError:
                missing += [] if hasattr(importlib.import_module(node.module), name.name) else [full]
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.Attribute)):
        module = modules.get(node.value.id) if isinstance(node.value, ast.Name) else None
        missing += [] if module is None or hasattr(module, node.attr) else [f"{module.__name__}.{node.attr}"]
    assert missing == []


def test_it_follows_what_can_be_followed(code):
    """A function that reports its progress to a callable is given one; most others show a bar of their own."""
    names: dict[str, object] = {}
    exec("\n".join(ast.unparse(node) for node in nodes(code, ast.Import, ast.ImportFrom)), names)
    followed: dict[str, bool] = {}
    for call in nodes(code, ast.Call):
        name = ast.unparse(call.func)
        module, _, function = name.rpartition(".")
        if callable(known := getattr(names.get(module), function, None)) and inspect.isfunction(known):
            wanted = inspect.signature(known).parameters.get("progress")
            if wanted is not None and callable(wanted.default):
                given = any(word.arg in ("progress", None) for word in call.keywords)
                followed[name] = followed.get(name, False) or given
    assert [name for name, given in followed.items() if not given] == []
