"""Link the terms of the glossary where a page uses them first."""

import re
from collections.abc import Iterable

_ENTRY = re.compile(r"^(\w[^\n]*)\n: ", re.MULTILINE)
_VERBS = {"run", "split"}
# code, links, formulas, directives, headings, tables, bold words and blocks of HTML keep their text
_KEPT = re.compile(
    r"^(`{3,}|:{3,})(?s:.*?)^\1\s*$|^(?:#|\||!\[|\(.*\)=$).*$|`[^`]+`|!?\[[^\]]*\]\([^)]*\)|\*\*(?s:.+?)\*\*"
    r"|\$[^$]+\$|^<[a-z](?s:.+?)(?=\n\n|\Z)|<[^>]+>",
    re.MULTILINE,
)


def terms(glossary: str) -> list[str]:
    r"""Return the terms of ``book/glossary.md``, without those that pages mostly use as verbs.

    Examples
    --------
    >>> terms("# Glossary\n\nepsilon\n: A parameter.\n\nchance level\n: An accuracy.\n")
    ['epsilon', 'chance level']
    """
    return [name for name in _ENTRY.findall(glossary) if name not in _VERBS]


def linked(text: str, names: Iterable[str]) -> str:
    r"""Return a page in which the first use of each term leads to its entry.

    Parameters
    ----------
    text : str
        A page in Markdown.
    names : iterable of str
        Terms; a plural in -s counts as a use.

    Examples
    --------
    >>> linked("# Release\n\nA release, and `release`. Releases.", ["release"])
    '# Release\n\nA {term}`release <release>`, and `release`. Releases.'
    """
    left = {name.lower(): name for name in names}
    word = re.compile(rf"\b({'|'.join(sorted(map(re.escape, left), key=len, reverse=True))})s?\b", re.IGNORECASE)

    def link(match: re.Match[str]) -> str:
        name = left.pop(match[1].lower(), None)
        return f"{{term}}`{match[0]} <{name}>`" if name else match[0]

    parts, at = [], 0
    for kept in _KEPT.finditer(text):
        parts += [word.sub(link, text[at : kept.start()]), kept[0]]
        at = kept.end()
    return "".join([*parts, word.sub(link, text[at:])])
