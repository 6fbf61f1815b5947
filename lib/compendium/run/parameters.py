"""Read the parameters that a notebook declares, and check values against them before anything runs.

A line of the cell tagged ``parameters`` reads ``name: type = default  # help {allowed}``. Those that rarely change may
stand in a cell before it, which is tagged ``settings`` and which JupyterLab and the book show folded; papermill adds
its values below both. A type is int, float, bool or str, a list of one of these, and either may be followed by
``| None``. The braces are optional. They hold choices, such as ``{tabu | grid}``, or a range: ``{0 to 1}``,
``{above 0 to 1}``, ``{0 to below 1}``, ``{above 0}``, ``{1 or more}``. The choice ``path`` allows any existing file.
For a list, the braces limit each item.
"""

# papermill.inspect_notebook is not used: it leaves out parameters of type `int | None` and lines with two equals signs,
# does not report malformed lines, and takes a second to import. The types themselves are pydantic's work.

import ast
import io
import json
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError

from compendium.datasets.errors import nearest

_TYPES: dict[str, Any] = {"int": int, "float": Annotated[float, Field(allow_inf_nan=False)], "bool": bool, "str": str}
_ANNOTATION = re.compile(r"(?P<many>list\[)?(?P<item>int|float|bool|str)(?(many)\])(?P<optional> \| None)?")
_NONE = ("none", "None", "null", "~")
_COMMENT = re.compile(r"(.*?)\s*(?:\{\s*([^{}]*?)\s*\}\s*)?")
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"(?=.*[a-z])(above )?{_NUMBER}(?: or more| to (below )?{_NUMBER})?")


class ParameterError(ValueError):
    """The notebook has no such parameter, or the parameter does not take the value."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook.

    Attributes
    ----------
    name : str
        Name of the variable.
    annotation : str
        Its type as the notebook writes it, such as ``"list[float] | None"``.
    default : object
        The value that the notebook uses by itself.
    help : str
        The comment, without its braces.
    allowed : str
        The text between the braces; empty if every value of the type is allowed.
    """

    name: str
    annotation: str
    default: Any
    help: str = ""
    allowed: str = ""

    def accept(self, value: Any) -> Any:
        """Return a value in this parameter's type.

        Text, as a shell gives it, is converted. Any other value must already have the type.

        Raises
        ------
        ValueError
            If the value has another type, is not among the choices, or is out of range.
        """
        try:
            return self._adapter.validate_python(value, strict=not isinstance(value, str))
        except ValidationError as error:
            wrong = error.errors()[0]["msg"].removeprefix("Value error, ")
            allowed = f"; allowed: {self.allowed}" if self._limits else ""
            raise ValueError(f"{wrong[0].lower()}{wrong[1:]}{allowed}") from None

    @cached_property
    def choices(self) -> tuple[Any, ...]:
        """The values to choose from; empty if there are none."""
        words = [] if self._limits or not self.allowed else [word.strip() for word in self.allowed.split("|")]
        item = TypeAdapter(_TYPES[self._parts["item"]])
        return tuple(item.validate_python(word) for word in words if word != "path")

    @cached_property
    def _parts(self) -> re.Match[str]:
        """The parts of the annotation: many, item, optional."""
        match = _ANNOTATION.fullmatch(self.annotation)
        if match is None:
            known = f"{', '.join(_TYPES)}, list[...] of them, with or without '| None'"
            raise ValueError(f"type {self.annotation!r} is none of {known}")
        return match

    @cached_property
    def _limits(self) -> Any:
        """A range such as ``above 0 to 1`` as pydantic's limits; None if the braces hold none."""
        found = _RANGE.fullmatch(self.allowed) if self._parts["item"] in ("int", "float") else None
        if found is None:
            return None
        above, low, below, high = found.groups()
        upper = float(high) if high else None
        limits: dict[str, Any] = {"gt" if above else "ge": float(low), "lt" if below else "le": upper}
        return Field(**limits)

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        item = _TYPES[self._parts["item"]]
        kind: Any = Annotated[item, self._limits or AfterValidator(self._choose)]
        if self._parts["many"]:
            kind = Annotated[list[kind], BeforeValidator(_items)]
        if self._parts["optional"]:
            kind = Annotated[kind | None, BeforeValidator(lambda value: None if value in _NONE else value)]
        return TypeAdapter(kind)

    def _choose(self, value: Any) -> Any:
        or_path = bool(re.search(r"\bpath\b", self.allowed))
        if not self.allowed or value in self.choices or (or_path and Path(str(value)).expanduser().is_file()):
            return value
        words, also = [str(choice) for choice in self.choices], " nor an existing file" * or_path
        raise ValueError(f"is not one of {', '.join(words)}{also}.{nearest(str(value), words)}")

    def __str__(self) -> str:
        allowed = f"{{{self.allowed}}}" if self.allowed else ""
        return f"{self.name}: {self.annotation} = {self.default!r}  {self.help} {allowed}".rstrip()


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Return the parameters of a notebook by name: those of its ``parameters`` cell, then those of its ``settings``.

    Raises
    ------
    FileNotFoundError
        If there is no such notebook.
    ParameterError
        If the file is no notebook, has not exactly one cell tagged ``parameters``, has settings below it, which would
        overwrite papermill's values, or a line is not of the form ``name: type = default  # help {allowed}``.
    """
    notebook = Path(notebook)
    cells = code_cells(notebook)
    places = {tag: [at for at, (_, tags) in enumerate(cells) if tag in tags] for tag in ("parameters", "settings")}
    if len(places["parameters"]) != 1:
        raise ParameterError(f"{notebook} has {len(places['parameters'])} cells tagged 'parameters': it needs one")
    if any(at > places["parameters"][0] for at in places["settings"]):
        raise ParameterError(f"{notebook}: move the settings above the parameters, or papermill cannot change them")
    try:
        return parse_parameters("\n".join(cells[at][0] for at in places["parameters"] + places["settings"]))
    except (ValueError, SyntaxError) as error:
        raise ParameterError(f"{notebook}, parameters cell: {error}") from error


def code_cells(notebook: Path) -> list[tuple[str, list[str]]]:
    """Return the source and the tags of each code cell.

    Raises
    ------
    FileNotFoundError
        If there is no such notebook.
    ParameterError
        If the file is no notebook.
    """
    if not notebook.is_file():
        names = sorted(path.name for path in notebook.parent.glob("*.ipynb"))
        there = f"; {notebook.parent} holds {', '.join(names)}" if names else ""
        raise FileNotFoundError(f"no notebook {notebook}{there}.{nearest(notebook.name, names)}")
    try:
        # JSON instead of nbformat, whose import takes longer than everything else here.
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        return [("".join(cell["source"]), cell["metadata"].get("tags", [])) for cell in code]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParameterError(f"{notebook} is no notebook of format 4: {str(error)[:200]}") from error


def parse_parameters(source: str) -> dict[str, Parameter]:
    """Return the parameters that the source of a ``parameters`` cell declares, by name.

    Raises
    ------
    ValueError
        If a line is not of the form ``name: type = default  # help {allowed}``; the message quotes it.
    SyntaxError
        If the source is not Python.
    """
    comments = {
        token.start[0]: token.string.lstrip("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    found: dict[str, Parameter] = {}
    for node in ast.parse(source).body:
        try:
            parameter = _declared(node, comments.get(node.end_lineno or 0, ""))
            if parameter.name in found:
                raise ValueError(f"parameter {parameter.name!r} is declared twice")
        except ValueError as error:
            raise ValueError(f"line {node.lineno}, {ast.get_source_segment(source, node)!r}: {error}") from error
        found[parameter.name] = parameter
    return found


def resolve(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values, each in its parameter's type.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        The parameters of the notebook.
    given : mapping of str to object
        Values by name; text is converted to the parameter's type.

    Returns
    -------
    dict
        The given names only, in the order given. All other parameters keep the notebook's defaults.

    Raises
    ------
    ParameterError
        If a name is unknown, or a value has the wrong type, is not among the choices or is out of range. The message
        lists every such value and all valid parameters.
    """
    values, problems = {}, []
    for name, value in given.items():
        if name not in parameters:
            problems.append(f"unknown parameter {name!r}.{nearest(name, list(parameters))}")
            continue
        try:
            values[name] = parameters[name].accept(value)
        except ValueError as error:
            problems.append(f"{name}={value!r}: {error}")
    if problems:
        raise ParameterError("\n".join([*problems, "valid parameters:", describe(parameters)]))
    return values


def complete(declared: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked value of every declared parameter: the given one, or else the default."""
    return resolve(declared, {**{name: parameter.default for name, parameter in declared.items()}, **given})


def describe(parameters: Mapping[str, Parameter]) -> str:
    """Return one indented line for each parameter: name, type, default, help, allowed values."""
    return "\n".join(f"  {parameter}" for parameter in parameters.values()) or "  (none)"


def _declared(node: ast.stmt, comment: str) -> Parameter:
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None):
        raise ValueError("write 'name: type = default  # help'")
    try:
        default = ast.literal_eval(node.value)
    except ValueError:
        raise ValueError("the default is not a plain value") from None
    text, allowed = _COMMENT.fullmatch(comment).groups(default="")  # type: ignore[union-attr]
    parameter = Parameter(node.target.id, ast.unparse(node.annotation), default, text, allowed)
    if isinstance(default, str) and parameter._parts["item"] != "str":
        raise ValueError(f"the default {default!r} is not of type {parameter.annotation}")
    parameter.accept(default)
    return parameter


def _items(text: Any) -> Any:
    """Return the items of ``[a, b]`` or ``a, b`` as text: the item's type reads them. A list stays as it is."""
    if not isinstance(text, str):
        return text
    try:
        return yaml.load(text if text.lstrip().startswith("[") else f"[{text}]", Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError:
        raise ValueError(f"{text!r} is no list: write '[a, b]'") from None
