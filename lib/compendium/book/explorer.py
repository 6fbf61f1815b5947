"""The data of the verdict explorer: every printed value, ours, the reason, and where to look further."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from compendium.verdicts.layout import ours_text, title
from compendium.verdicts.printed import number_in
from compendium.verdicts.words import COLOURS, PAPERS, SIGNS


def data(verdicts: pd.DataFrame, places: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the data of the explorer.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        ``figures/verdicts.csv``.
    places : mapping of str to mapping
        The addresses of each run's page (``page``), section of verdicts (``section``) and results (``results``).

    Returns
    -------
    dict
        ``claims``: one mapping for each printed value; ``tables``, ``papers``: titles; ``runs``: addresses; ``signs``
        and ``colours`` of the verdicts.
    """
    tables = verdicts[["paper", "table"]].drop_duplicates().itertuples(index=False)
    return {
        "claims": [_claim(row) for _, row in verdicts.iterrows()],
        "papers": PAPERS,
        "tables": {f"{paper}-{table}": title(paper, table) for paper, table in tables},
        "runs": {name: dict(place) for name, place in places.items()},
        "signs": SIGNS,
        "colours": COLOURS,
    }


def script(content: Mapping[str, Any], name: str) -> str:
    """Return data as a script that sets one global name: a page opened as a file may not fetch other files."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return f"window.{name} = {text};\n"


def _claim(row: pd.Series) -> dict[str, Any]:
    ours, _, interval = ours_text(row).partition(" [") if number_in(row["printed"]) else (row["ours"], "", "")
    claim = {
        "id": row["claim_id"],
        "paper": int(row["paper"]),
        "table": row["table"],
        "row": row["row"],
        "column": row["column"],
        "printed": row["printed"],
        "ours": ours,
        "interval": f"[{interval}" if interval else "",
        "unit": row["unit"],
        "verdict": row["verdict"],
        "basis": row["basis"],
        "reason": row["reason"],
        "entries": sorted(set(re.findall(r"\bD\d+\b", row["reason"]))),
        "run": row["run"],
    }
    return {key: value for key, value in claim.items() if value not in ("", [])}
