"""Captions and closing sentences of a notebook's results, which lie beside the notebook and not in its cells.

``notebooks/captions/<notebook>.toml`` has an entry for each table, figure and sentence that the notebook shows::

    [table.scores]
    caption = "SHAP scores of {name}"
    closing = { rule = "extremes", of = "ratio", by = "feature", what = "ratio of cost to value" }

Braces hold names of the notebook, as in an f-string. `Captions.words` explains the keys of an entry.
"""

import inspect
import string
import tomllib
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.show import sentences

_DATA = {"rule", "of", "by", "row"}  # keys of a closing that choose the rule and its numbers; the others are words


class CaptionError(LookupError):
    """An entry is missing, or names something that the notebook does not have."""


@dataclass(frozen=True)
class Words:
    """The caption and the closing sentence of one result, and whether every repetition draws it anew."""

    caption: str = ""
    closing: str = ""
    drawn: bool = False


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
            - ``drawn = true`` if the result differs in every repetition, such as fresh noise or measured times;
            - ``closing``: ``rule`` is a function of `sentences`. Its numbers are the column or expression ``of`` of the
              table `about`, named by the column ``by``; or the ``row`` of that name or number; or all of `about`.
              Other keys are the rule's words.
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
            caption, note = (_filled(entry.get(key, ""), self._values(given)) for key in ("caption", "note"))
            closing = self._closing(entry["closing"], about, given) if "closing" in entry else ""
        except (KeyError, AttributeError, IndexError) as error:
            raise CaptionError(f"{self.path}, [{kind}.{name}]: the notebook has no {error}") from error
        return Words("; ".join(filter(None, [caption, note])), closing, bool(entry.get("drawn")))

    def _values(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return ChainMap(dict(given), dict(self.names))

    def _closing(self, closing: Mapping[str, Any], about: Any, given: Mapping[str, Any]) -> str:
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
        return table.eval(closing["of"], local_dict=dict(self._values(given)))


def _filled(text: Any, values: Mapping[str, Any]) -> Any:
    """Return a text, or the texts of a mapping, with the placeholders replaced."""
    if isinstance(text, Mapping):
        return {key: _filled(each, values) for key, each in text.items()}
    return string.Formatter().vformat(text, (), values) if isinstance(text, str) else text
