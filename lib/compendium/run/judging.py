"""Judge the printed values of a run by the tables that it has made, before they are written."""

import html
import io
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from compendium.datasets import store
from compendium.datasets.errors import nearest
from compendium.paths import VERDICTS_FILE, figures_dir, project_root
from compendium.run.runs import before, read_runs
from compendium.show import tables
from compendium.verdicts import cells, layout
from compendium.verdicts.printed import missing_words, printed_values
from compendium.verdicts.verdicts import read_verdicts


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

    short = profile != "paper" and _is_shortened(run)
    judged = cells.judge_run(run, table, missing, unexplained="allow" if short else "error")
    if short and (committed := figures_dir("paper") / VERDICTS_FILE).is_file():
        judged = undecided_if_short(judged, read_verdicts(committed))
    return judged, pd.DataFrame({"needs": list(lacking), "why": list(lacking.values())})


def _is_shortened(run: str) -> bool:
    """Return whether a profile shortens the settings of the run, or of runs that it reads.

    Only then may a value differ without a reason.
    """
    runs = read_runs() if (project_root() / "runs.yaml").is_file() else {}
    return run in runs and any(runs[name].profiles for name in (run, *before(runs[run], runs)))


def undecided_if_short(judged: pd.DataFrame, committed: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts of short settings, undecided where the committed verdict is another one.

    Small models on few rows show neither that a printed value comes out nor that it does not.

    Parameters
    ----------
    judged, committed : pandas.DataFrame
        As :func:`.verdicts.judge` returns them; those of the paper profile. A value without data stays without.
    """
    full = committed.set_index("claim_id").reindex(judged["claim_id"]).set_index(judged.index)
    other = full["verdict"].notna() & (judged["verdict"] != "no data") & (judged["verdict"] != full["verdict"])
    ours = full["ours"].fillna("").radd(", ours ").where(full["ours"].fillna("") != "", "")
    reason = "undecided (short settings); the paper profile has: " + full["verdict"] + ours
    verdict = judged["verdict"].mask(other, "undecided")
    return judged.assign(verdict=verdict, reason=judged["reason"].mask(other, reason))


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
