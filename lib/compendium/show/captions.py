"""Captions and closing sentences of a notebook's results, which lie beside the notebook and not in its cells.

``notebooks/captions/<notebook>.toml`` has an entry for each table, figure and sentence that the notebook shows::

    [table.scores]
    caption = "SHAP scores of {name}"
    closing = { rule = "extremes", of = "ratio", by = "feature", what = "ratio of cost to value" }

Braces hold names of the notebook, as in an f-string; ``{data_set}`` is its data set in words. `Captions.words` explains
the keys of an entry. Above the entries, ``about`` says of which data the figures are: their second line.
"""

import inspect
import re
import string
import tomllib
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.show import sentences

_HEADLINE = re.compile(r"(?:Figs?\. (?:[\w, ()-]+[.:] )?)?.+?(?=[;:.] |$)")  # the first clause of a caption
# keys of a closing that choose the rule and its numbers; the others are words
_DATA = {"rule", "of", "by", "row", "beside"}


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

    def words(self, kind: str, name: str, about: Any, given: Mapping[str, Any]) -> Words:
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
            - ``closing``: a sentence, in whose braces ``{about}`` is what the notebook passes, and ``{flag:Yes|No}`` is
              a word for true and one for false. Or a ``rule``, a function of `sentences`. Its numbers are the column or
              expression ``of`` of the table `about`, named by the column ``by``; or the ``row`` of that name or number;
              or all of `about`.
              ``beside`` has expressions for other numbers, by what they are. Other keys are the rule's words.
        about : object
            What the closing sentence is about: a table, or the values that the rule takes, in a tuple.
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
        try:
            texts = {key: _filled(entry.get(key, ""), self._values(given)) for key in ("caption", "note")}
            closing = self._closing(entry["closing"], about, given) if "closing" in entry else ""
            found = Words("; ".join(filter(None, texts.values())), closing, bool(entry.get("drawn")))
            if kind != "figure":
                return found
            title, of = entry.get("title", headline(texts["caption"])), entry.get("about", entries.get("about", ""))
            return replace(found, title=_filled(title, self._values(given)), about=_filled(of, self._values(given)))
        except (KeyError, AttributeError, IndexError) as error:
            raise CaptionError(f"{self.path}, [{kind}.{name}]: the notebook has no {error}") from error

    def _values(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return ChainMap(dict(given), dict(self.names))

    def _closing(self, closing: str | Mapping[str, Any], about: Any, given: Mapping[str, Any]) -> str:
        if isinstance(closing, str):
            return str(_filled(closing, self._values({"about": about} | dict(given))))
        rule = getattr(sentences, closing["rule"])
        words = {key: _filled(value, self._values(given)) for key, value in closing.items() if key not in _DATA}
        data = self._numbers(closing, about, given)
        free = [name for name in inspect.signature(rule).parameters if name not in words]
        return str(rule(**words, **dict(zip(free, data if isinstance(data, tuple) else (data,), strict=False))))

    def _numbers(self, closing: Mapping[str, Any], about: Any, given: Mapping[str, Any]) -> Any:
        """Return the numbers of a closing sentence; None for a table without rows, about which a rule says so."""
        if not isinstance(about, pd.DataFrame) or not closing.keys() & {"of", "row"}:
            return about
        if about.empty:
            return None
        if "row" in closing:
            row = closing["row"]
            return about.loc[row] if isinstance(row, str) else about.iloc[row]
        table = about.set_index(closing["by"]) if "by" in closing else about
        names = dict(self._values(given))
        found, beside = table.eval(closing["of"], local_dict=names), closing.get("beside", {})
        filled = {_filled(word, names): _filled(each, names) for word, each in beside.items()}
        others = {word: table.eval(each, local_dict=names) for word, each in filled.items()}
        return (found, pd.DataFrame(others)) if others else found


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


def _filled(text: Any, values: Mapping[str, Any]) -> Any:
    """Return a text, or the texts of a mapping, with the placeholders replaced."""
    if isinstance(text, Mapping):
        return {key: _filled(each, values) for key, each in text.items()}
    return _Lists().vformat(text, (), values) if isinstance(text, str) else text


class _Lists(string.Formatter):
    """Write a list with commas, what is true, false or missing in words, and a space before the sign of percent."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            yes, no, *unknown = format_spec.split("|")
            return unknown[0] if unknown and (value is None or value != value) else yes if value else no
        if value is None or (isinstance(value, float) and value != value):
            return "no number"
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        return re.sub(r"(?<=\d)%$", " %", str(super().format_field(text, format_spec)))
