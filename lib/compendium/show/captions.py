"""Captions and closing sentences of a notebook's results, which lie beside the notebook and not in its cells.

``notebooks/captions/<notebook>.toml`` has an entry for each table, figure and sentence that the notebook shows::

    [table.scores]
    caption = "SHAP scores of {name}"
    closing = "{cheap} of the features cost less than they add."
    numbers.cheap = "scores; count(ratio < 1)"

Braces hold names of the notebook, as in an f-string; ``{data_set}`` is its data set in words. ``numbers`` are taken
from tables of the notebook, see `expressions.taken`. `Captions.words` explains the keys of an entry. Above the entries,
``about`` says of which data the figures are: their second line.
"""

import re
import tomllib
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendium.show.expressions import ExpressionError, filled, taken

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
            - ``closing``, the sentence below the result;
            - ``numbers``, more names for these texts; each may name those above it.
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
        numbers: dict[str, Any] = {}
        values = ChainMap(numbers, dict(given), dict(self.names))
        keys = ({"about": entries.get("about", "")} if kind == "figure" else {}) | entry
        try:
            for number, steps in keys.pop("numbers", {}).items():
                numbers[number] = taken(steps, values)
            texts = {name: filled(str(text), values) for name, text in keys.items()}
        except ExpressionError as error:
            raise CaptionError(f"{self.path}, [{kind}.{name}]: {error}") from error
        except (KeyError, AttributeError, IndexError) as error:
            raise CaptionError(f"{self.path}, [{kind}.{name}]: the notebook has no {error}") from error
        caption, note, closing, about = (texts.get(key, "") for key in ("caption", "note", "closing", "about"))
        title = texts.get("title", headline(caption))
        return Words("; ".join(filter(None, [caption, note])), closing, "drawn" in entry, title, about)


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
