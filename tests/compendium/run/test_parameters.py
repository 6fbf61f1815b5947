"""The grammar of a parameters cell, and what is refused."""

from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.run.parameters import ParameterError, describe, parse_parameters, read_parameters, resolve

CELL = """\
# Choose the data and the search.
dataset: str = "titanic"  # which data set {titanic | adult | path}
step: float = 0.05  # how far a threshold moves {above 0 to 1}
rounds: int = 3  # how many times
search: str = "alternate"  # the rule {alternate | tabu | grid}
sizes: list[int] = [5, 7]  # features kept {5 | 7 | 10}
names: list[str] = []  # columns
draft: bool = False  # stop early
seed: int | None = None  # random numbers; None draws fresh ones
label: str = "# no comment"
weights: list[float] = [1]  # of each loss {0 or more}
level: float | None = 0.5  # to reach {0 to below 1}
"""


@pytest.fixture
def parameters():
    return parse_parameters(CELL)


def write(path: Path, *sources: str, tags: tuple[str, ...] = ("parameters",)) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    for cell in notebook.cells:
        cell.metadata["tags"] = list(tags)
    nbformat.write(notebook, path)
    return path


def test_a_cell_is_read_line_by_line(parameters):
    assert " ".join(parameters) == "dataset step rounds search sizes names draft seed label weights level"
    assert parameters["seed"].annotation == "int | None"
    assert parameters["step"].default == 0.05
    assert parameters["step"].help == "how far a threshold moves"
    assert parameters["step"].allowed == "above 0 to 1"
    assert parameters["step"].choices == ()
    assert parameters["dataset"].choices == ("titanic", "adult")
    assert parameters["sizes"].choices == (5, 7, 10)
    assert parameters["label"].help == ""


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("step", "0.1", 0.1),
        ("step", "1", 1.0),
        ("step", "1e-3", 0.001),
        ("rounds", "7", 7),
        ("draft", "true", True),
        ("draft", "No", False),
        ("draft", "1", True),
        ("label", "1", "1"),
        ("label", "no", "no"),
        ("sizes", "[5, 10]", [5, 10]),
        ("sizes", "5,10", [5, 10]),
        ("sizes", "5", [5]),
        ("names", "[1, no, a b]", ["1", "no", "a b"]),
        ("names", "[]", []),
        ("seed", "None", None),
        ("seed", "4", 4),
    ],
)
def test_text_is_read_as_the_annotated_type(parameters, name, text, value):
    found = resolve(parameters, {name: text})[name]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", "fast"),
        ("step", "nan"),
        ("step", "inf"),
        ("step", True),
        ("step", None),
        ("rounds", "2.5"),
        ("rounds", 2.0),
        ("rounds", True),
        ("draft", 1),
        ("label", 1),
        ("sizes", "[5, x]"),
        ("sizes", [5, "x"]),
        ("sizes", {"a": 1}),
        ("sizes", "[5"),
        ("sizes", "6"),
        ("search", "grids"),
        ("dataset", "no/such/file.csv"),
    ],
)
def test_an_ill_typed_or_foreign_value_is_refused_by_name(parameters, name, value):
    with pytest.raises(ParameterError) as refused:
        resolve(parameters, {name: value})
    assert f"{name}={value!r}" in str(refused.value)
    assert describe(parameters) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "inside", "outside", "allowed"),
    [
        ("step", ["1", "1e-9", 0.5], ["0", "1.01", -0.1, 2], "above 0 to 1"),
        ("weights", [[0.0, 3.5], "0, 100"], ["-1", "[1, -0.1]", [-2.0]], "0 or more"),
        ("level", ["0", "0.999", None, "none"], ["1", "-0.1", 1.0], "0 to below 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_allowed_range(parameters, name, inside, outside, allowed):
    for value in inside:
        resolve(parameters, {name: value})
    for value in outside:
        with pytest.raises(ParameterError) as refused:
            resolve(parameters, {name: value})
        assert str(refused.value).startswith(f"{name}={value!r}: input should be ")
        assert f"; allowed: {allowed}\n" in str(refused.value)


def test_a_single_number_in_braces_is_a_choice():
    assert parse_parameters("k: int = 10  # features {10}")["k"].choices == (10,)
    with pytest.raises(ValueError, match="is not one of 10"):
        parse_parameters("k: int = 9  # features {10}")


def test_an_unknown_name_is_refused_with_the_nearest_and_the_list(parameters):
    with pytest.raises(ParameterError, match=r"unknown parameter 'setp'. Did you mean 'step'\?") as refused:
        resolve(parameters, {"setp": "1", "search": "tabou"})
    message = str(refused.value)
    assert "Did you mean 'tabu'?" in message
    assert "step: float = 0.05  how far a threshold moves {above 0 to 1}" in message
    assert "dataset: str = 'titanic'  which data set {titanic | adult | path}" in message


def test_a_path_is_taken_where_the_choices_say_so(parameters, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("a\n1\n")
    assert resolve(parameters, {"dataset": str(table)}) == {"dataset": str(table)}
    with pytest.raises(ParameterError, match="nor an existing file"):
        resolve(parameters, {"dataset": str(tmp_path)})
    with pytest.raises(ParameterError):
        resolve(parameters, {"search": str(table)})


def test_only_what_is_given_is_returned(parameters):
    assert resolve(parameters, {}) == {}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("step = 1", "write 'name: type = default"),
        ("step: float", "write 'name: type = default"),
        ("step: complex = 1", "type 'complex' is none of"),
        ("step: dict[str, int] = {}", "is none of"),
        ("step: float = 2 * 3", "not a plain value"),
        ("step: float = 2.0  # {0 to 1}", "less than or equal to 1; allowed: 0 to 1"),
        ("step: int = 'a'", "not of type int"),
        ("step: int = '1'", "not of type int"),
        ("rule: str = 'c'  # {a | b}", "is not one of a, b"),
        ("a: int = 1\na: int = 2", "declared twice"),
        ("import os", "write 'name: type = default"),
    ],
)
def test_a_line_of_another_form_is_quoted(line, why):
    with pytest.raises(ValueError, match="line") as refused:
        parse_parameters(line)
    assert why in str(refused.value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_survives_its_own_text(value):
    assert resolve(parse_parameters("x: float = 0.0"), {"x": repr(value)}) == {"x": value}


@given(st.text())
def test_text_stays_as_it_is(value):
    assert resolve(parse_parameters("x: str = ''"), {"x": value}) == {"x": value}


def test_a_notebook_needs_exactly_one_parameters_cell(tmp_path):
    assert list(read_parameters(write(tmp_path / "a.ipynb", "x: int = 1"))) == ["x"]
    with pytest.raises(ParameterError, match="has 2 cells tagged"):
        read_parameters(write(tmp_path / "b.ipynb", "x: int = 1", "y: int = 1"))
    with pytest.raises(ParameterError, match="has 0 cells tagged"):
        read_parameters(write(tmp_path / "c.ipynb", "x: int = 1", tags=()))
    with pytest.raises(ParameterError, match=r"d\.ipynb, parameters cell: line 1"):
        read_parameters(write(tmp_path / "d.ipynb", "x = 1"))


def test_settings_stand_above_the_parameters_and_are_read_after_them(tmp_path):
    """Papermill adds its values below the parameters: settings below these would overwrite them."""
    cells = ["y: int = 2  # rarely", "# settings: above\nx: int = 1  # often"]
    path = write(tmp_path / "a.ipynb", *cells)
    tag(path, ["settings"], ["parameters"])
    assert {name: one.help for name, one in read_parameters(path).items()} == {"x": "often", "y": "rarely"}
    tag(path, ["parameters"], ["settings"])
    with pytest.raises(ParameterError, match="move the settings above the parameters"):
        read_parameters(path)
    path = write(tmp_path / "b.ipynb", "x: int = 2", cells[1])
    tag(path, ["settings"], ["parameters"])
    with pytest.raises(ParameterError, match="'x' is declared twice"):
        read_parameters(path)


def tag(path: Path, *tags: list[str]) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell, own in zip(notebook.cells, tags, strict=True):
        cell.metadata["tags"] = own
    nbformat.write(notebook, path)


def test_what_is_no_notebook_is_named(tmp_path):
    (tmp_path / "20_example.ipynb").write_text("not JSON")
    with pytest.raises(FileNotFoundError, match=r"Did you mean '20_example\.ipynb'"):
        read_parameters(tmp_path / "20_exampel.ipynb")
    with pytest.raises(ParameterError, match="is no notebook"):
        read_parameters(tmp_path / "20_example.ipynb")
    (tmp_path / "20_example.ipynb").write_text("[1]")
    with pytest.raises(ParameterError, match="is no notebook"):
        read_parameters(tmp_path / "20_example.ipynb")
