"""The lessons: solutions pass, empty student versions fail, and typical mistakes get their hints."""

import ast
import copy
import io
import math
import re
import textwrap
import tomllib
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

from checks import chance, draws, entropy, noise, playing, replication, searching, shifting, splitting
from checks.hints import NO_RETURN, HintError
from compendium.datasets import DataUnavailableError
from compendium.verdicts import printed_values

FOLDER = Path(__file__).resolve().parents[3] / "notebooks" / "lessons"
LESSONS = sorted(path.stem for path in FOLDER.glob("6*.ipynb"))
WRONG = tomllib.loads((Path(__file__).parent / "wrong_answers.toml").read_text(encoding="utf-8"))
RIGHT = tomllib.loads((Path(__file__).parent / "right_answers.toml").read_text(encoding="utf-8"))
CASES = [(name, case["cell"], case["answer"], case["hint"]) for name in WRONG for case in WRONG[name]]
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (chance, entropy, noise, playing, replication, searching, shifting, splitting)
}
WIDEST = 100
OPENING = ("**Aims.**", "**Prerequisites.**", "**Duration.**", "**Data.**")


@dataclass
class Executed:
    """A lesson whose code cells were executed in order, each despite the errors of those before it."""

    errors: dict[str, Exception] = field(default_factory=dict)  # by cell
    names: dict[str, dict[str, Any]] = field(default_factory=dict)  # before each cell
    final: dict[str, Any] = field(default_factory=dict)
    printed: str = ""
    absent: str = ""  # why a data set is not available


@cache
def read(lesson):
    return nbformat.read(FOLDER / f"{lesson}.ipynb", as_version=4)


@cache
def student(lesson):
    """Return the student version as nbgrader's ``generate_assignment`` makes it, without a course folder."""
    pytest.importorskip("nbgrader", reason="needs nbgrader: install the extra teach")
    from nbgrader import preprocessors

    done = copy.deepcopy(read(lesson))
    for step in ("LockCells", "ClearSolutions", "ClearOutput", "ClearHiddenTests"):
        done, _ = getattr(preprocessors, step)().preprocess(done, {})
    return done


def role(cell):
    """Return nbgrader's metadata of a cell, empty for any other cell."""
    return cell.metadata.get("nbgrader", {})


def checks(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and role(cell).get("grade")]


def discussions(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown" and role(cell).get("grade")]


def run_cell(source, names):
    exec(compile(source, "<cell>", "exec"), names)


def executed(lesson, *, empty=False):
    """Return an executed lesson, with its solutions or as the empty student version."""
    done = _executed(lesson)
    if done.absent:
        pytest.skip(f"needs a data set that is not on this machine: {done.absent}")
    return _executed(lesson, empty=True) if empty else done


@cache
def _executed(lesson, *, empty=False):
    """Execute a lesson in this process. Of the empty version, only cells that decide on the score are executed."""
    done, names, printed = Executed(), {"__name__": "__main__"}, io.StringIO()
    with redirect_stdout(printed):
        for cell in (student(lesson) if empty else read(lesson)).cells:
            if cell.cell_type != "code" or (empty and not role(cell)) or (empty and cell.id.startswith("example")):
                continue
            done.names[cell.id] = dict(names)
            try:
                run_cell(cell.source, names)
            except DataUnavailableError as error:
                done.absent = str(error)
                break
            except Exception as error:
                done.errors[cell.id] = error
    plt.close("all")
    done.printed, done.final = printed.getvalue(), names
    return done


@pytest.fixture(params=LESSONS)
def lesson(request, monkeypatch):
    monkeypatch.setenv("TQDM_DISABLE", "1")
    return request.param


@pytest.mark.first(1)
def test_every_solution_passes(lesson):
    done = executed(lesson)
    assert done.errors == {}
    assert done.printed.count("Correct.") == len(checks(read(lesson)))


@pytest.mark.first(1)
def test_every_empty_student_version_fails_with_a_hint(lesson):
    errors = executed(lesson, empty=True).errors
    for cell in checks(read(lesson)):
        assert isinstance(errors[cell.id], HintError), cell.id
        assert "no answer yet" in str(errors[cell.id]), cell.id


def test_coins_of_another_generator_are_noticed_where_single_calls_agree():
    """With this seed, each pair of calls gives equal shares: the check compared two calls, and said *Correct*."""
    state = np.random.get_state()  # noqa: NPY002 - the mistake itself
    try:
        np.random.seed(78)  # noqa: NPY002
        with pytest.raises(HintError, match="gives other coins in a second call"):
            searching.coins(lambda number, rows, generator: np.random.binomial(rows, 0.5, number).max() / rows)  # noqa: NPY002
    finally:
        np.random.set_state(state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("lesson", "cell", "answer", "hint"),
    CASES,
    ids=[f"{case[0][:2]}-{case[1]}-{case[3][:30]}" for case in CASES],
)
def test_a_typical_mistake_gets_its_hint(lesson, cell, answer, hint):
    names = dict(executed(lesson).names[f"test-{cell}"])
    check = next(one.source for one in read(lesson).cells if one.id == f"test-{cell}")
    run_cell(answer, names)
    with redirect_stdout(io.StringIO()), pytest.raises(HintError) as caught:
        run_cell(check, names)
    assert hint in str(caught.value)
    (shown,) = caught.value._render_traceback_()  # what a notebook prints
    assert shown == f"HintError: {caught.value}"
    assert [part for part in solution_parts(lesson) if part in plain(shown)] == []


def test_every_exercise_names_a_forgotten_return_and_refuses_any_other_type(lesson):
    for cell in checks(read(lesson)):
        call = ast.parse(cell.source).body[0].value
        name = call.args[0].id
        if name == "exact_share":  # a value, not a function
            continue
        for result, hint in ((None, NO_RETURN), ("a word", ""), (object(), ""), (math.nan, ""), ([], "")):
            names = executed(lesson).names[cell.id] | {name: lambda *given, result=result: result}
            with pytest.raises(HintError) as caught:
                run_cell(ast.unparse(call), names)
            assert hint in str(caught.value), cell.id


def plain(text):
    """Return a text without spaces and with one kind of quotation marks."""
    return re.sub(r"\s", "", text).replace('"', "'")


@cache
def solution_parts(lesson):
    """Return the expressions of a lesson's solutions that no text or code of the student version shows."""
    cells = read(lesson).cells
    solutions = [re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL) for cell in cells]
    told = plain("\n".join(re.sub(r"### BEGIN.*?### END", "", cell.source, flags=re.DOTALL) for cell in cells))
    parts = set()
    for source in (textwrap.dedent(text) for cell, found in zip(cells, solutions, strict=True) for text in found):
        if "DISCUSSIONS.md" in source:
            continue
        code = ast.parse(
            re.sub(r"^return ", "answer = ", source, flags=re.MULTILINE).replace("    return ", "    answer = ")
        )
        kinds = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript)
        parts |= {plain(ast.unparse(node)) for node in ast.walk(code) if isinstance(node, kinds)}
    return sorted(part for part in parts if len(part) >= 15 and part not in told)


def test_no_hint_of_a_module_shows_a_part_of_a_solution(lesson):
    source = "\n".join(cell.source for cell in read(lesson).cells)
    (name,) = re.findall(r"from checks import (\w+) as check", source)
    modules = [MODULES[name], draws] if name == "noise" else [MODULES[name]]
    trees = [ast.parse(Path(module.__file__).read_text(encoding="utf-8")) for module in modules]
    texts = [
        plain(node.value)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert len(solution_parts(lesson)) > 3
    assert [(part, text) for part in solution_parts(lesson) for text in texts if part in text] == []


@pytest.mark.first(2)
@pytest.mark.parametrize(("lesson", "cell"), [(name, cell) for name in RIGHT for cell in RIGHT[name]])
def test_another_right_answer_passes(lesson, cell):
    names = dict(executed(lesson).names[f"test-{cell}"])
    run_cell(RIGHT[lesson][cell], names)
    with redirect_stdout(io.StringIO()):
        run_cell(next(one.source for one in read(lesson).cells if one.id == f"test-{cell}"), names)
    plt.close("all")


def test_each_lesson_has_three_mistakes_at_least(lesson):
    assert len({(case["cell"], case["hint"]) for case in WRONG[lesson]}) >= 3


def test_the_student_version_holds_no_solution(lesson):
    given, source = student(lesson), "\n".join(cell.source for cell in student(lesson).cells)
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN TESTS)", source)
    by_id = {cell.id: cell.source for cell in given.cells}
    for cell in read(lesson).cells:
        for solution in re.findall(r"### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", cell.source, re.DOTALL):
            for line in map(str.strip, solution.splitlines()):
                assert line not in by_id[cell.id], (cell.id, line)
        if role(cell).get("solution"):
            assert re.search(r"NotImplementedError|YOUR ANSWER HERE", by_id[cell.id]), cell.id


def test_its_metadata_are_nbgraders(lesson):
    pytest.importorskip("nbgrader", reason="needs nbgrader: install the extra teach")
    from nbgrader.nbgraderformat import MetadataValidator, ValidationError

    try:
        MetadataValidator().validate_nb(read(lesson))
    except ValidationError as error:
        pytest.fail(str(error))
    named = [role(cell)["grade_id"] for cell in read(lesson).cells if role(cell)]
    assert len(named) == len(set(named))


def test_its_form(lesson):
    notebook = read(lesson)
    assert notebook.nbformat == 4
    assert notebook.metadata.kernelspec.name == "python3"
    opening = notebook.cells[0].source
    assert opening.startswith(f"# Lesson {lesson[:2]}: ")
    assert [word for word in OPENING if word not in opening] == []
    assert 45 <= int(re.search(r"\*\*Duration\.\*\* (\d+) minutes", opening)[1]) <= 90
    assert 4 <= len(checks(notebook)) <= 8
    assert len(discussions(notebook)) == 1
    for cell in notebook.cells:
        assert len(cell.source.splitlines()) <= 45, cell.id
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            assert [line for line in cell.source.splitlines() if len(line) > WIDEST] == [], cell.id
        if role(cell):
            assert cell.id == role(cell)["grade_id"]


def test_each_exercise_has_text_solution_and_check(lesson):
    ids = [cell.id for cell in read(lesson).cells]
    for cell in checks(read(lesson)):
        name = cell.id.removeprefix("test-")
        at = ids.index(cell.id)
        assert ids[at - 2 : at] == [f"task-{name}", name]
        assert cell.source.startswith("check.")


def test_every_exercise_shows_what_its_answer_is_good_for(lesson):
    """*Correct.* alone teaches nothing: below the check, the answer is used, and the result is printed."""
    silent = [cell.source for cell in checks(read(lesson)) if "print(" not in cell.source.partition("\n")[2]]
    assert silent == []


def test_a_missing_answer_costs_no_other_exercise(lesson):
    """Except that playing the game needs the nearest centroid, as the teacher's page says."""
    sources = {cell.id: cell.source for cell in read(lesson).cells}
    graded = [cell.id.removeprefix("test-") for cell in checks(read(lesson))]
    needed = {"play": {"nearest"}}
    for name in graded:
        others = [ast.parse(sources[other]).body for other in graded if other not in {name} | needed.get(name, set())]
        functions = {node.name for body in others for node in body if isinstance(node, ast.FunctionDef)}
        names = {key: value for key, value in executed(lesson).names[name].items() if key not in functions}
        with redirect_stdout(io.StringIO()):
            run_cell(sources[name], names)
            run_cell(sources[f"test-{name}"], names)
    plt.close("all")


def test_graded_cells_end_without_a_value(lesson):
    """The autograder reads the value of a cell's last line as partial credit."""
    for cell in checks(read(lesson)):
        last = ast.parse(cell.source).body[-1]
        valueless = re.match(r"(check\.\w+|print|plt\.show)\(", ast.unparse(last))
        assert not isinstance(last, ast.Expr) or valueless, cell.id


def test_every_check_of_a_module_is_used(lesson):
    source = "\n".join(cell.source for cell in read(lesson).cells)
    (name,) = re.findall(r"from checks import (\w+) as check", source)
    offered = {key for key, value in vars(MODULES[name]).items() if hasattr(value, "__wrapped__")}
    assert offered == set(re.findall(r"^check\.(\w+)\(", source, re.MULTILINE))


def final(start):
    """Return the names that a lesson has at its end."""
    return executed(next(name for name in LESSONS if name.startswith(start))).final


def test_the_text_of_the_game_and_the_split_is_right():
    game, split = final("61"), final("62")
    forest = game["forest"].score(game["test"][game["columns"]], game["test"]["person"])
    weak = game["simple"].score(game["test"][game["columns"]].to_numpy(), game["test"]["person"])
    assert forest > weak + 0.4
    assert split["scores"]["random"] > 0.9 > 0.4 > split["scores"]["grouped"] > split["level"]
    assert split["rows"]["new people"]["attacker (person)"] == 0
    service = {name: row["service (exercise)"] for name, row in split["rows"].items()}
    assert service["new people"] > service["grouped"]
    assert split["right"][split["own"]].mean() < 0.2 < 0.7 < split["right"][~split["own"]].mean()


def test_the_text_of_the_search_is_right():
    names = final("63")
    assert names["best"] > 0.15 > names["again"]
    accuracy, identifiability = names["gaps"].mean(axis=0)
    assert accuracy > 0 > identifiability


def test_the_text_of_latent_anonymization_is_right():
    names = final("65")
    assert names["naive"]["deterministic"]["side"] < 0.5
    assert names["naive"]["probabilistic"]["exercise"] > 0.9 * names["naive"]["original"]["exercise"]
    assert names["found"] > names["level"] + 0.2  # from the residual alone
    assert names["hits"].mean() > names["naive"]["probabilistic"]["side"]


def test_the_text_of_chance_and_replication_is_right():
    chance, replication = final("66"), final("67")
    (low, high), (wide_low, wide_high) = chance["ends"]["rows"], chance["ends"]["recordings"]
    assert wide_high - wide_low > 2 * (high - low)
    printed = executed(next(name for name in LESSONS if name.startswith("66"))).printed
    assert "by rows: not prevented\nby recordings: undecided" in printed
    table = replication["table1"]
    before, after = (np.average(table[when], weights=table["windows"]) for when in ("before", "after"))
    assert before > after
    assert replication["start"] > 0.8 * replication["seconds"][2:].max()  # most of the time with few windows


def test_the_teachers_page_lists_the_lessons_as_they_are():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(6\d_\w+)`: ([^|]+?) \| (\d+) \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    found = []
    for lesson in LESSONS:
        notebook = read(lesson)
        title = notebook.cells[0].source.splitlines()[0].partition(": ")[2]
        minutes = re.search(r"\*\*Duration\.\*\* (\d+) minutes", notebook.cells[0].source)[1]
        points = sum(role(cell).get("points", 0) for cell in notebook.cells)
        found.append((lesson, title, minutes, str(len(checks(notebook))), str(points)))
    assert rows == found
    answers = (FOLDER / "DISCUSSIONS.md").read_text(encoding="utf-8")
    assert re.findall(r"^\*\*(6\d), ", answers, re.MULTILINE) == [lesson[:2] for lesson in LESSONS]
    students = (FOLDER / "STUDENTS.md").read_text(encoding="utf-8")
    assert [line for line in answers.splitlines() if line and line in page + students] == []
    parts = [
        re.search(r"minutes: (\d+) to read and run, (\d+) for (\w+) exercises, (\d+) for", read(one).cells[0].source)
        for one in LESSONS
    ]
    words = {"five": 5, "seven": 7, "eight": 8}
    for lesson, part, row in zip(LESSONS, parts, rows, strict=True):
        assert (sum(int(part[number]) for number in (1, 2, 4)), words[part[3]]) == (int(row[2]), int(row[3])), lesson


def test_the_numbers_in_the_text_are_right():
    watch, split, search = final("61")["problem"], final("62"), final("63")
    assert (watch.n_records, watch.n_features, watch.groups.nunique()) == (4677, 135, 140)
    assert (watch.users.nunique(), watch.task.nunique()) == (10, 7)
    assert len(search["chosen"]) == len(final("61")["games"]) == 63
    assert split["problem"].provenance["digest"] == watch.provenance["digest"]
    assert len(final("60")["adult"]) == len(final("64")["hours"]) == 1309
    assert len(final("67")["printed"]) == len(final("67")["verdicts"]) == len(printed_values())
    assert final("65")["watch"].values.shape[1:] == (6, 128)
    assert final("60")["order"][-1] == "fnlwgt"
