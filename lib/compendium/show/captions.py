"""Captions and closing sentences of a notebook's results, which lie beside the notebook and not in its cells.

``notebooks/captions/<notebook>.toml`` has an entry for each table, figure and sentence that the notebook shows::

    [table.scores]
    caption = "SHAP scores of {name}"
    closing = "A ratio below 1 means that a feature costs less than it adds."

Braces hold names of the notebook, as in an f-string; ``{data_set}`` is its data set in words, ``{about}`` what the
notebook passes beside the result. `Captions.words` explains the keys of an entry. Above the entries, ``about`` says of
which data the figures are: their second line. A caption is data: it computes nothing, and runs no code.
"""

import re
import string
import tomllib
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HEADLINE = re.compile(r"(?:Figs?\. (?:[\w, ()-]+[.:] )?)?.+?(?=[;:.] |$)")  # the first clause of a caption


class CaptionError(LookupError):
    """An entry is missing, or names something that the notebook does not have."""


@dataclass(frozen=True)
class Words:
    """The caption and the closing sentence of one result, and whether every repetition draws it anew.

    The title and the data that it is about stand above a figure.
    """

    caption: str = ""
    closing: str = ""
    drawn: bool = False
    title: str = ""
    about: str = ""


@dataclass(frozen=True)
class Captions:
    """The captions of one notebook.

    Parameters
    ----------
    path : pathlib.Path
        The file of captions; it need not exist for a notebook that gives its captions itself.
    names : mapping of str to object
        The notebook's variables, which captions may refer to.
    """

    path: Path
    names: Mapping[str, Any]

    def words(self, kind: str, name: str, given: Mapping[str, Any]) -> Words:
        """Return the words that belong to a result.

        Parameters
        ----------
        kind : {"table", "figure", "sentence"}
            What the result is.
        name : str
            Its name. The entry ``[kind.name]`` may have these keys:

            - ``caption``, and ``note``, which follows it unless it is empty;
            - ``title`` and ``about`` of a figure: by default the first clause of the caption, and the file's ``about``;
            - ``drawn = true`` if the result differs in every repetition, such as fresh noise or measured times;
            - ``closing``, the sentence below the result.
        given : mapping of str to object
            Values for placeholders that are no names of the notebook.

        Raises
        ------
        CaptionError
            If there is no such entry, or a placeholder stands for nothing.
        """
        entries = tomllib.loads(self.path.read_text(encoding="utf-8")) if self.path.is_file() else {}
        entry = entries.get(kind, {}).get(name)
        if entry is None:
            raise CaptionError(f"{self.path} has no entry [{kind}.{name}]: add one with its caption")
        values = ChainMap(dict(given), dict(self.names))
        keys = ({"about": entries.get("about", "")} if kind == "figure" else {}) | entry
        try:
            texts = {name: filled(str(text), values) for name, text in keys.items()}
        except (KeyError, AttributeError, IndexError) as error:
            raise CaptionError(f"{self.path}, [{kind}.{name}]: the notebook has no {error}") from error
        caption, note, closing, about = (texts.get(key, "") for key in ("caption", "note", "closing", "about"))
        title = texts.get("title", headline(caption))
        return Words("; ".join(filter(None, [caption, note])), closing, "drawn" in entry, title, about)


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with the placeholders in braces replaced, as in an f-string.

    A placeholder names a value, and may name public attributes and members of it. The format ``Yes|No`` gives words for
    true and false, and ``Yes|No|Unknown`` for a missing value, too.

    Raises
    ------
    CaptionError
        If a placeholder names a private attribute, or asks for a number of thousands of characters.
    KeyError, AttributeError, IndexError
        If it stands for nothing.
    """
    return _Filler().vformat(text, (), values)


class _Filler(string.Formatter):
    """Write a list with commas, a missing number in words, and a space before the sign of a percentage."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        if re.search(r"(^|[.\[])_", field_name):
            raise CaptionError(f"{field_name!r} is private: a text may not name it")
        return super().get_field(field_name, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            yes, no, *unknown = format_spec.split("|")
            return unknown[0] if unknown and (value is None or value != value) else yes if value else no
        if len(re.sub(r"\D", "", format_spec)) > 3:
            raise CaptionError(f"{format_spec!r} is no form of a number")
        if value is None or (isinstance(value, float) and value != value):
            return "no number"
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        return re.sub(r"(?<=\d)%$", " %", str(super().format_field(text, format_spec)))


def headline(caption: str) -> str:
    """Return the first clause of a caption, the title of a figure without another one.

    Examples
    --------
    >>> headline("Fig. 4. Share of attributes in each group; diamonds: printed")
    'Fig. 4. Share of attributes in each group'
    >>> headline("Fig. 2 (a) on Opportunity; printed: the authors' curves")
    'Fig. 2 (a) on Opportunity'
    """
    found = _HEADLINE.match(caption)
    return found[0] if found else ""


def titles(path: Path, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the titles of a notebook's figures without running it, by name.

    A placeholder that is none of the values, such as one of a computed name, becomes its name.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    given = {name: entry.get("title", headline(entry["caption"])) for name, entry in entries.get("figure", {}).items()}
    return {
        name: re.sub(r"\{(\w+)[^}]*\}", lambda found: str(values.get(found[1], f"one {found[1]}")), text)
        for name, text in given.items()
    }
