"""All verdicts together: ``figures/verdicts.csv``, counts, and the page ``REPLICATION.md``."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from sensorprivacy.paths import data_dir, figures_dir, project_root
from sensorprivacy.report import tables
from sensorprivacy.report.basis import BASES, HEADLINE, basis_of
from sensorprivacy.report.printed import printed_values
from sensorprivacy.report.provenance import RUN_FILE, VERDICTS_FILE, in_paper_order, write_atomically
from sensorprivacy.report.verdicts import COLUMNS, VERDICTS

OK, NO_DATA = "ok", "no data"
_TEXTS = ("claim_id", "table", "row", "column", "printed", "ours", "unit", "verdict", "basis", "reason", "run")


class RunStatus(Protocol):
    """How a run ended and which claims it judges; any object with these attributes will do."""

    @property
    def status(self) -> str:
        """``"ok"``, ``"no data"``, or another word for a run that did not finish."""

    @property
    def reason(self) -> str:
        """Why the status is not ``"ok"``."""

    @property
    def claims(self) -> Iterable[str]:
        """Ids of the claims that the run judges; ``*`` matches any text."""


class CollectError(ValueError):
    """The runs' verdicts do not fit together."""


def collect(
    profile: str,
    runs: Mapping[str, RunStatus],
    *,
    unjudged: str = "error",
    values: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Collect the verdicts of all runs, and write them to ``verdicts.csv`` beside the runs' folders.

    Claims that no run could compute get the verdict *no data*. Papers without any claim that a run judges are left out.

    Parameters
    ----------
    profile : str
        Profile of the runs: ``"paper"`` reads ``figures/``, any other ``figures/<profile>/``.
    runs : mapping of str to RunStatus
        For each run's name, how it ended and which claims it judges.
    unjudged : {"error", "no data"}
        Treatment of a claim that a successful run should have judged but did not, or that belongs to no run.
    values : pandas.DataFrame, optional
        Printed values; the default is those of ``data/paper/``.

    Returns
    -------
    pandas.DataFrame
        One row for each printed value in the papers' order, columns as in :func:`.verdicts.judge`.

    Raises
    ------
    CollectError
        If two runs judge one claim, a run's verdicts were changed after it wrote them, a successful run with claims has
        no record, or a claim is unjudged and `unjudged` is ``"error"``.
    """
    if unjudged not in ("error", NO_DATA):
        raise ValueError(f"unjudged={unjudged!r}: choose error or no data")
    values = printed_values() if values is None else values
    folder = figures_dir(profile)
    ended = {name: state for name, state in runs.items() if state.status == OK}
    # a run without claims, such as an introduction, need not leave a record
    read = [_read(folder / n, n) for n, s in ended.items() if s.claims or (folder / n / RUN_FILE).is_file()]
    judged = pd.concat(read, ignore_index=True) if read else _frame([])
    _check_once(judged)
    named = {str(pattern)[0] for state in runs.values() for pattern in state.claims}
    papers = named | set(judged["paper"].astype(str))
    missing = values[values["paper"].astype(str).isin(papers) & ~values["claim_id"].isin(judged["claim_id"])]
    absent = _absent(missing, runs, unjudged)
    whole = in_paper_order(pd.concat([judged, absent], ignore_index=True), values)[list(COLUMNS)]
    write_atomically(folder / VERDICTS_FILE, tables.csv_text(whole).encode())
    return whole


def counts(verdicts: pd.DataFrame, by: tuple[str, ...] = ("paper", "table")) -> pd.DataFrame:
    """Count the verdicts.

    Returns
    -------
    pandas.DataFrame
        One row for each value of `by` in the papers' order (bases in the order of `basis.BASES`): number of printed
        values and of each verdict.
    """
    keys = [verdicts[name] for name in by]
    counted = pd.crosstab(keys, verdicts["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    counted.insert(0, "printed", counted.sum(axis=1))
    order = list(dict.fromkeys(verdicts[list(by)].itertuples(index=False, name=None)))
    if by[-1] == "basis":
        order.sort(key=lambda key: (*key[:-1], BASES.index(key[-1])))
    index = order if len(by) > 1 else [key[0] for key in order]
    return counted.loc[index].rename_axis(columns=None)


def headline(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts that compare a paper with data, published logs or a test, not with itself."""
    return verdicts[verdicts["basis"].isin(HEADLINE)]


def replication_text(verdicts: pd.DataFrame, *, profile: str = "paper", engines: pd.DataFrame | None = None) -> str:
    """Return the text of ``REPLICATION.md``: counts, claims, and every value that is not exact, with its reason.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`collect` returns them.
    profile : str, default "paper"
        Profile of the runs.
    engines : pandas.DataFrame, optional
        As :func:`.earlier_runs.engines` returns them.
    """
    page = _claims_file()["page"]
    lines = [
        "# Replication: every printed value and our result",
        "",
        "<!-- Written by the notebook 90_replication_report from figures/verdicts.csv. -->",
        "",
        *([f"**Profile {profile}: not the papers' own settings.**", ""] if profile != "paper" else []),
        page["legend"],
        tables.markdown_text(counts(verdicts, by=("paper",)).reset_index()),
        page["claims"],
        tables.markdown_text(claims_table()),
    ]
    for paper, own in verdicts.groupby("paper", sort=False):
        counted = counts(own).reset_index().drop(columns="paper")
        lines += [f"## Paper {paper}", "", tables.markdown_text(counted), *_not_exact(own)]
    if engines is not None and len(engines):
        lines += [page["engines"], tables.markdown_text(engines)]
    return "\n".join(lines).rstrip() + "\n"


def write_replication(
    verdicts: pd.DataFrame,
    path: Path | None = None,
    *,
    profile: str = "paper",
    engines: pd.DataFrame | None = None,
) -> Path:
    """Write :func:`replication_text` to a file, and return its path.

    Parameters
    ----------
    verdicts, profile, engines
        As for :func:`replication_text`.
    path : pathlib.Path, optional
        The file. The default is ``REPLICATION.md`` of the checkout for the profile ``"paper"``, and in
        ``figures/<profile>/`` for any other profile, so that a short run never replaces the full page.
    """
    if path is None:
        path = (project_root() if profile == "paper" else figures_dir(profile)) / "REPLICATION.md"
    write_atomically(Path(path), replication_text(verdicts, profile=profile, engines=engines).encode())
    return Path(path)


def claims_table() -> pd.DataFrame:
    """Return the papers' main claims from ``data/paper/claims.toml``, each with the command that tests it."""
    claims = pd.DataFrame(_claims_file()["claim"])
    claims.insert(1, "command", "`make reproduce ONLY=" + claims["run"] + "`")
    claims["run"] = "`figures/quick/" + claims["run"] + "/`"
    return claims.rename(columns={"claim": "claim of the paper", "run": "results"})


def _claims_file() -> dict[str, Any]:
    return tomllib.loads((data_dir() / "paper" / "claims.toml").read_text(encoding="utf-8"))


def _not_exact(own: pd.DataFrame) -> list[str]:
    lines = []
    for verdict in VERDICTS:
        rows = own[(own["verdict"] == verdict) & ((verdict != "exact") | (own["reason"] != ""))]
        if rows.empty:
            continue
        title = "exact, with a corrected misprint" if verdict == "exact" else verdict
        lines += [f"### {title[0].upper()}{title[1:]} ({len(rows)})", ""]
        lines += [_missing(rows) if verdict == NO_DATA else _differing(rows)]
    return lines


def _differing(rows: pd.DataFrame) -> str:
    shown = tables.compare(rows)
    shown.insert(0, "claim", rows["claim_id"].to_numpy())
    shown["reason"] = [_linked(reason) for reason in rows["reason"]]
    return tables.markdown_text(shown.drop(columns="verdict"))


def _missing(rows: pd.DataFrame) -> str:
    """Return the claims without data, grouped by reason, because hundreds of claims may share one."""
    found = []
    for (table, reason), group in rows.groupby(["table", "reason"], sort=False):
        ids = group["claim_id"].tolist()
        span = ids[0] if len(ids) == 1 else f"{ids[0]} … {ids[-1]}"
        found.append((table, len(ids), span, _linked(str(reason))))
    return tables.markdown_text(pd.DataFrame(found, columns=["table", "claims", "which", "reason"]))


def _linked(reason: str) -> str:
    """Return a reason with its ledger numbers as links to DEVIATIONS.md."""
    return re.sub(r"\bD(\d+):", r"[D\1](DEVIATIONS.md#d\1):", reason)


def _frame(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})


def _read(folder: Path, name: str) -> pd.DataFrame:
    """Return a run's verdicts, after checking that the run itself wrote them; no rows if it judged nothing."""
    record = folder / RUN_FILE
    if not record.is_file():
        raise CollectError(f"run {name} is ok but left no {RUN_FILE} in {folder}: run it again")
    digest = json.loads(record.read_text(encoding="utf-8"))["files"].get(VERDICTS_FILE)
    if digest is None:
        return _frame([])
    content = (folder / VERDICTS_FILE).read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise CollectError(f"{folder / VERDICTS_FILE} is not what run {name} wrote: run it again")
    return read_verdicts(folder / VERDICTS_FILE)


def read_verdicts(path: Path) -> pd.DataFrame:
    """Return verdicts from a file, with the types that :func:`.verdicts.judge` gives them."""
    number = {name: [""] for name in ("low", "high")}
    frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, str), keep_default_na=False, na_values=number)
    return frame.astype({"low": float, "high": float})


def _check_once(judged: pd.DataFrame) -> None:
    again = judged[judged["claim_id"].duplicated(keep=False)]
    if not again.empty:
        who = "; ".join(f"{claim} by {', '.join(group['run'])}" for claim, group in again.groupby("claim_id"))
        raise CollectError(f"claims judged by more than one run: {who}")


def _absent(claims: pd.DataFrame, runs: Mapping[str, RunStatus], unjudged: str) -> pd.DataFrame:
    """Return the verdict *no data* for claims that no run judged; refuse claims that should have been judged."""
    rows, open_ = [], []
    # A summary may judge a claim of another run: that claim is open only if the summary ran.
    all_ran = all(run.status in (OK, NO_DATA) for run in runs.values())
    for claim in claims.to_dict("records"):
        owner = _owner(claim["claim_id"], runs)
        if owner is None:
            reason = "no run judges it"
        elif runs[owner].status == NO_DATA:
            reason = runs[owner].reason or "a data set is not on this machine"
        elif runs[owner].status == OK:
            reason = f"run {owner} does not compute it in this profile"
        else:
            reason = f"run {owner} {runs[owner].status}: {runs[owner].reason}".removesuffix(": ")
        if owner is None or (runs[owner].status == OK and all_ran):
            open_.append(f"{claim['claim_id']} ({reason})")
        made = {"ours": "", "unit": "", "verdict": NO_DATA, "basis": basis_of(claim["claim_id"]), "run": owner or ""}
        rows.append(claim | made | {"reason": " ".join(reason.split())})
    if open_ and unjudged == "error":
        raise CollectError(f"{len(open_)} printed values are not judged: {', '.join(open_[:8])}")
    return _frame(rows)


def _owner(claim_id: str, runs: Mapping[str, RunStatus]) -> str | None:
    """Return the run that judges a claim; if several patterns match, the longest one decides."""
    fits = [(len(p), name) for name, run in runs.items() for p in run.claims if fnmatchcase(claim_id, p)]
    return max(fits)[1] if fits else None
