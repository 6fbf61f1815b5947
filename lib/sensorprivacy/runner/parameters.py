"""The typed parameters of a notebook: read from its ``parameters`` cell, checked before anything runs.

A line of that cell reads ``name: type = default  # help {choice | choice}``. Types are int, float, bool, str, lists
of them, each with ``| None`` where nothing is a value too. Braces at the end of the help close the list of choices;
``path`` among them stands for any existing file.
"""

import ast
import difflib
import io
import math
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import yaml

_ITEMS = ("int", "float", "bool", "str")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NOTHING = {"none", "null", "~"}
_TYPE = re.compile(r"(?:list\[(?P<many>int|float|bool|str)\]|(?P<one>int|float|bool|str))(?P<optional> \| None)?")
_CHOICES = re.compile(r"\{([^{}]*)\}\s*$")


class ParameterError(ValueError):
    """A parameter that the notebook does not have, or a value that it does not take."""


@dataclass(frozen=True)
class Kind:
    """The type of a parameter: an item, many of it or one, perhaps nothing."""

    item: str
    many: bool = False
    optional: bool = False

    @classmethod
    def parse(cls, annotation: str) -> "Kind":
        """Return the kind that an annotation such as ``list[float] | None`` names; ValueError for any other type."""
        found = _TYPE.fullmatch(annotation)
        if found is None:
            valid = ", ".join(_ITEMS)
            raise ValueError(f"type {annotation!r} is none of {valid}, list[...] of them, with or without '| None'")
        return cls(found["many"] or found["one"], bool(found["many"]), bool(found["optional"]))

    def __str__(self) -> str:
        name = f"list[{self.item}]" if self.many else self.item
        return f"{name} | None" if self.optional else name

    def convert(self, value: Any) -> Any:
        """Return `value` as this kind; text, as a shell gives it, is read; anything else must already be of the type.

        Raises
        ------
        ValueError
            If it is not of this kind.
        """
        if self.optional and (value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)):
            return None
        if not self.many:
            return _item(value, self.item)
        if isinstance(value, str):
            value = _listed(value)
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is no list")
        return [_item(each, self.item) for each in value]


@dataclass(frozen=True)
class Parameter:
    """One line of a ``parameters`` cell."""

    name: str
    kind: Kind
    default: Any
    help: str = ""
    choices: tuple[Any, ...] = ()
    or_path: bool = False

    def accept(self, value: Any) -> Any:
        """Return `value` in this parameter's type, one of its choices; ValueError says what is wrong with it."""
        converted = self.kind.convert(value)
        for each in converted if isinstance(converted, list) else [converted]:
            self._choose(each)
        return converted

    def _choose(self, value: Any) -> None:
        if not (self.choices or self.or_path) or value is None or value in self.choices:
            return
        if self.or_path and Path(str(value)).expanduser().is_file():
            return
        words = [str(choice) for choice in self.choices]
        also = " nor an existing file" if self.or_path else ""
        raise ValueError(f"is not one of {', '.join(words)}{also}{_nearest(str(value), words)}")

    def __str__(self) -> str:
        words = [str(choice) for choice in self.choices] + ["path of a file"] * self.or_path
        closed = f" {{{' | '.join(words)}}}" if words else ""
        return f"{self.name}: {self.kind} = {self.default!r}  {self.help}{closed}".rstrip()


def read_parameters(notebook: Path) -> dict[str, Parameter]:
    """Return the parameters of a notebook by name, in the order of its ``parameters`` cell.

    Raises
    ------
    FileNotFoundError
        If there is no such notebook.
    ParameterError
        If the file is no notebook, has not exactly one cell tagged ``parameters``, or a line there is not of the form
        ``name: type = default  # help {choice | choice}``.
    """
    notebook = Path(notebook)
    if not notebook.is_file():
        raise FileNotFoundError(f"no notebook {notebook}{_siblings(notebook)}")
    try:
        cells = nbformat.read(notebook, as_version=4).cells
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, UnicodeDecodeError, AttributeError) as error:
        raise ParameterError(f"{notebook} is no notebook: {str(error).splitlines()[0][:200]}") from error
    tagged = [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise ParameterError(f"{notebook} has {len(tagged)} cells tagged 'parameters': it needs exactly one")
    try:
        return parse_parameters(tagged[0])
    except (ValueError, SyntaxError) as error:
        raise ParameterError(f"{notebook}, parameters cell: {error}") from error


def parse_parameters(source: str) -> dict[str, Parameter]:
    """Return the parameters that the source of a ``parameters`` cell declares, by name.

    Raises
    ------
    ValueError
        If a line is not of the form ``name: type = default  # help {choice | choice}``; it is quoted.
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
        line = ast.get_source_segment(source, node) or ""
        try:
            parameter = _declared(node, comments.get(node.end_lineno or 0, ""))
        except ValueError as error:
            raise ValueError(f"line {node.lineno}, {line!r}: {error}") from error
        if parameter.name in found:
            raise ValueError(f"line {node.lineno}: parameter {parameter.name!r} is declared twice")
        found[parameter.name] = parameter
    return found


def resolve(parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values, each in its parameter's type.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        What the notebook takes.
    given : mapping of str to object
        Values by name; text is read as the parameter's type, so a shell's words do.

    Returns
    -------
    dict
        The given names only, in the order given; what is left out keeps the notebook's default.

    Raises
    ------
    ParameterError
        Naming every unknown parameter and every value that is ill-typed or not a choice; it lists the valid ones.
    """
    values, problems = {}, []
    for name, value in given.items():
        if name not in parameters:
            problems.append(f"unknown parameter {name!r}{_nearest(name, list(parameters))}")
            continue
        try:
            values[name] = parameters[name].accept(value)
        except ValueError as error:
            problems.append(f"{name}={value!r}: {error}")
    if problems:
        raise ParameterError("\n".join([*problems, "valid parameters:", describe(parameters)]))
    return values


def describe(parameters: Mapping[str, Parameter]) -> str:
    """Return one indented line a parameter: name, type, default, help, choices."""
    return "\n".join(f"  {parameter}" for parameter in parameters.values()) or "  (none)"


def _declared(node: ast.stmt, comment: str) -> Parameter:
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None):
        raise ValueError("write 'name: type = default  # help'")
    kind = Kind.parse(ast.unparse(node.annotation))
    try:
        default = ast.literal_eval(node.value)
    except ValueError:
        raise ValueError("the default is not a plain value") from None
    closed = _CHOICES.search(comment)
    words = [word.strip() for word in closed[1].split("|")] if closed else []
    choices = tuple(_item(word, kind.item) for word in words if word != "path")
    parameter = Parameter(node.target.id, kind, default, _CHOICES.sub("", comment).strip(), choices, "path" in words)
    if isinstance(default, str) and kind.item != "str":
        raise ValueError(f"the default {default!r} is not of type {kind}")
    parameter.accept(default)
    return parameter


def _item(value: Any, item: str) -> Any:
    if isinstance(value, str):
        return value if item == "str" else _read(value.strip(), item)
    if item == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value).__name__ != item or value != value:
        raise ValueError(f"{value!r} is not of type {item}")
    return value


def _read(text: str, item: str) -> int | float | bool:
    try:
        if item == "bool":
            return _TRUTH[text.lower()]
        number = int(text) if item == "int" else float(text)
    except (KeyError, ValueError):
        raise ValueError(f"{text!r} is not of type {item}") from None
    if math.isnan(number):
        raise ValueError(f"{text!r} is not a number")
    return number


def _listed(text: str) -> Any:
    """Return the words of ``[a, b]`` or ``a, b``, unread: the list's item type reads them."""
    try:
        return yaml.load(text if text.lstrip().startswith("[") else f"[{text}]", Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError:
        raise ValueError(f"{text!r} is no list: write '[a, b]'") from None


def _nearest(word: str, words: list[str]) -> str:
    near = difflib.get_close_matches(word, words, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _siblings(notebook: Path) -> str:
    names = sorted(path.name for path in notebook.parent.glob("*.ipynb"))
    return _nearest(notebook.name, names) or (f"; {notebook.parent} holds {', '.join(names)}" if names else "")
