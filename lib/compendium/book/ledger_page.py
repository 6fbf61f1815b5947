"""The ledger as a page of the book: one anchor for each entry, and a link to the printed values behind it."""

import re
from collections.abc import Iterable

import pandas as pd

from compendium.verdicts.ledger import Entry, page


def ledger_page(ledger: Iterable[Entry], verdicts: pd.DataFrame) -> str:
    """Return the ledger in MyST Markdown.

    It is the text of ``DEVIATIONS.md``. Anchors become targets (``ledger.html#d1``), and names of files are not links,
    because the book does not contain them.
    """
    ledger = tuple(ledger)
    known = {entry.id for entry in ledger}
    text = page(ledger, verdicts)
    text = re.sub(r"<!--.*?-->\n*", "", text, flags=re.DOTALL)
    text = re.sub(r"\[(`[^`]+`)\]\((?!#)[^)]+\)", r"\1", text)
    values = r'<a href="verdicts.html#find=\1">Show the printed values that quote \1</a>'
    text = re.sub(r'<a id="d\d+"></a>\n+### (D\d+)\. (.*)\n', rf"(\1)=\n### \1. \2\n\n{values}\n", text)
    text = re.sub(r"^\((D\d+)\)=", lambda match: f"({match[1].lower()})=", text, flags=re.MULTILINE)

    def link(match: re.Match[str]) -> str:
        return f"[{match[1]}](#{match[1].lower()})" if match[1] in known else match[1]

    return re.sub(r"(?<![\[\w.=(>/])(D\d+)\b(?![.\]<]|\))", link, text)
