"""Judge the printed values of a run by the tables that it has made, before they are written."""

import html
import io
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from compendium.datasets import store
from compendium.datasets.errors import nearest
from compendium.paths import project_root
from compendium.run.runs import read_runs
from compendium.show import tables
from compendium.verdicts import cells, layout
from compendium.verdicts.printed import missing_words, printed_values


def judge_tables(run: str, profile: str, files: Mapping[str, bytes]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts of a run, and what it lacked for them.

    Parameters
    ----------
    run, profile : str
        The run's name and profile. A name that the map of printed values does not have gives no verdicts.
    files : mapping of str to bytes
        The run's files by name; its tables are CSV files.

    Returns
    -------
    tuple of two pandas.DataFrame
        As :func:`.verdicts.judge` returns them; and the table `cells.MISSING`.
    """
    lacking: dict[str, str] = {}

    def table(name: str) -> pd.DataFrame | None:
        content = files.get(f"{name}.csv") or files.get(f"drawn/{name}.csv")
        if content is None:
            return cells.tables_of(profile, run)(name) if "/" in name else None
        return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False)

    def missing(name: str) -> str:
        why = missing_words().get(name) or store.state(name)["why"]
        return lacking.setdefault(name, why) if why else ""

    judged = cells.judge_run(run, table, missing, unexplained=_unexplained(run, profile))
    return judged, pd.DataFrame({"needs": list(lacking), "why": list(lacking.values())})


def _unexplained(run: str, profile: str) -> str:
    """Return whether values may differ without a reason: only in a profile that shortens the run's settings."""
    if profile == "paper" or not (project_root() / "runs.yaml").is_file():
        return "error"
    listed = read_runs().get(run)
    return "allow" if listed is not None and listed.profiles else "error"


def check_ids(claims: Iterable[str]) -> None:
    """Raise LookupError if a claim id is of no printed value: its statement would be lost without a word."""
    known = list(printed_values()["claim_id"])
    for claim in claims:
        if claim not in known:
            raise LookupError(f"there is no printed value {claim!r}.{nearest(claim, known)}")


def statement_table(values: Mapping[str, Any], undecided: Mapping[str, str]) -> pd.DataFrame:
    """Return values by claim id as a table; one that is None is undecided, also without a reason in `undecided`."""
    known = {claim: "" if value is not None else "the test does not decide" for claim, value in values.items()}
    why = [undecided.get(claim, reason) for claim, reason in known.items()]
    return pd.DataFrame({"claim": list(values), "ours": list(values.values()), "undecided": why})


class JudgedClaims(pd.DataFrame):
    """The verdicts of some claims: a data frame that Jupyter shows as printed values beside ours."""

    def _repr_html_(self) -> str:
        caption = self.attrs.get("caption", "")
        if self.empty:
            return f"<p>{html.escape(caption)}</p>"
        closing = tables.closing_html(self.attrs.get("closing", ""))
        return f"<p><b>{html.escape(caption)}</b></p>{layout.paper_tables(self)}{closing}"

    def __repr__(self) -> str:
        return self.attrs.get("caption", "") if self.empty else super().__repr__()
