"""All verdicts together: `figures/verdicts.csv`, counts, and the page `REPLICATION.md`."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

import pandas as pd

from sensorprivacy.paths import figures_dir, project_root
from sensorprivacy.report import tables
from sensorprivacy.report.printed import printed_values
from sensorprivacy.report.provenance import RUN_FILE, VERDICTS_FILE, in_paper_order, write_atomically
from sensorprivacy.report.verdicts import COLUMNS, VERDICTS

OK, NO_DATA = "ok", "no data"


class RunStatus(Protocol):
    """How a run ended and which claims it answers for; any object with these attributes will do."""

    @property
    def status(self) -> str:
        """``"ok"``, ``"no data"``, or another word for a run that did not end."""

    @property
    def reason(self) -> str:
        """Why it is not ok."""

    @property
    def claims(self) -> Iterable[str]:
        """Ids of the claims that the run judges, ``*`` allowed."""


class CollectError(ValueError):
    """The runs' verdicts do not fit together."""


def collect(
    profile: str,
    runs: Mapping[str, RunStatus],
    *,
    papers: Iterable[int] | None = None,
    unjudged: str = "error",
    values: pd.DataFrame | None = None,
    write: bool = True,
) -> pd.DataFrame:
    """Gather the verdicts of every run, and give those that no run could compute the verdict *no data*.

    Parameters
    ----------
    profile : str
        Whose results to read: ``figures/`` for ``"paper"``, else ``figures/<profile>/``.
    runs : mapping of str to RunStatus
        Each run's end and the claims it answers for, by its name.
    papers : iterable of int, optional
        Only these papers' claims; by default the papers of which a run answers for a claim.
    unjudged : {"error", "no data"}
        What to do with a claim that a run which ended well answers for but did not judge, or no run answers for.
    values : pandas.DataFrame, optional
        Printed values; those of ``data/paper/`` when left out.
    write : bool, default True
        Whether to write ``verdicts.csv`` beside the runs' folders.

    Returns
    -------
    pandas.DataFrame
        One row for every printed value, columns as :func:`.verdicts.judge` gives them, in the papers' order.

    Raises
    ------
    CollectError
        If two runs judge one claim, a run's verdicts are not those it wrote, a run that answers for claims is ok but
        wrote no record, or a claim is unjudged and `unjudged` is ``"error"``.
    """
    if unjudged not in ("error", NO_DATA):
        raise ValueError(f"unjudged={unjudged!r}: choose error or no data")
    values = printed_values() if values is None else values
    folder = figures_dir(profile)
    ended = {name: state for name, state in runs.items() if state.status == OK}
    # a run that answers for no claim, such as an introduction, need not leave a record
    read = [_read(folder / n, n) for n, s in ended.items() if s.claims or (folder / n / RUN_FILE).is_file()]
    judged = pd.concat(read, ignore_index=True) if read else _empty()
    _check_once(judged)
    missing = [claim for claim in _wanted(values, papers, runs, judged) if claim not in set(judged["claim_id"])]
    absent = _absent(values.set_index("claim_id").loc[missing].reset_index(), runs, unjudged)
    whole = in_paper_order(pd.concat([judged, absent], ignore_index=True), values)[list(COLUMNS)]
    if write:
        write_atomically(folder / VERDICTS_FILE, tables.csv_text(whole).encode())
    return whole


def counts(verdicts: pd.DataFrame, by: tuple[str, ...] = ("paper", "table")) -> pd.DataFrame:
    """Count verdicts.

    Returns
    -------
    pandas.DataFrame
        One row for each value of `by` in the papers' order: how many are printed, and of each verdict.
    """
    keys = [verdicts[name] for name in by]
    counted = pd.crosstab(keys, verdicts["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    counted.insert(0, "printed", counted.sum(axis=1))
    order = list(dict.fromkeys(verdicts[list(by)].itertuples(index=False, name=None)))
    index = order if len(by) > 1 else [key[0] for key in order]
    return counted.loc[index].rename_axis(columns=None)


def replication_text(verdicts: pd.DataFrame, *, profile: str = "paper") -> str:
    """Return the text of ``REPLICATION.md``: counts, then every claim that is not exact, with its reason."""
    lines = [
        "# Replication: every printed value and what became of it",
        "",
        "<!-- Written by the notebook 90_replication_report from figures/verdicts.csv. -->",
        "",
        *([f"**Profile {profile}: not the papers' own settings.**", ""] if profile != "paper" else []),
        *_legend(),
        _whole(counts(verdicts, by=("paper",)).reset_index()),
    ]
    for paper in verdicts["paper"].unique():
        own = verdicts[verdicts["paper"] == paper]
        lines += [f"## Paper {paper}", "", _whole(counts(own).reset_index().drop(columns="paper"))]
        lines += _not_exact(own)
    return "\n".join(lines).rstrip() + "\n"


def write_replication(verdicts: pd.DataFrame, path: Path | None = None, *, profile: str = "paper") -> Path:
    """Write :func:`replication_text` to a file, and return its path.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`collect` returns them.
    path : pathlib.Path, optional
        The file; when left out ``REPLICATION.md`` of the checkout for the profile ``"paper"``, and one in
        ``figures/<profile>/`` for any other, so that a short run never replaces the full one's.
    profile : str, default "paper"
        Whose results they are.
    """
    if path is None:
        path = (project_root() if profile == "paper" else figures_dir(profile)) / "REPLICATION.md"
    write_atomically(Path(path), replication_text(verdicts, profile=profile).encode())
    return Path(path)


def _legend() -> list[str]:
    return [
        "| verdict | |",
        "|---|---|",
        "| exact | equal at printed precision; a misprinted name that is mended is named below |",
        "| within | the printed value lies in our interval or the stated tolerance |",
        "| differs | it does not, and the entry of [DEVIATIONS.md](DEVIATIONS.md) says why |",
        "| no data | the data set is not on this machine, or the paper's own data are not published |",
        "| not reproducible | the paper's own printed values exclude it |",
        "",
    ]


def _whole(frame: pd.DataFrame) -> str:
    return tables.markdown_text(frame)


def _not_exact(own: pd.DataFrame) -> list[str]:
    lines = []
    for verdict in VERDICTS:
        rows = own[(own["verdict"] == verdict) & ((verdict != "exact") | (own["reason"] != ""))]
        if rows.empty:
            continue
        title = "exact, with a name mended" if verdict == "exact" else verdict
        lines += [f"### {title[0].upper()}{title[1:]} ({len(rows)})", ""]
        lines += [_missing(rows) if verdict == NO_DATA else _claims(rows)]
    return lines


def _claims(rows: pd.DataFrame) -> str:
    shown = tables.compare(rows)
    shown.insert(0, "claim", rows["claim_id"].to_numpy())
    shown["reason"] = [_linked(reason) for reason in rows["reason"]]
    return tables.markdown_text(shown.drop(columns="verdict"))


def _missing(rows: pd.DataFrame) -> str:
    """Return the claims without data by their reason: one line each would hide the reason in hundreds of lines."""
    found = [
        (table, len(group), _span(group["claim_id"].tolist()), _linked(str(reason)))
        for (table, reason), group in rows.groupby(["table", "reason"], sort=False)
    ]
    return tables.markdown_text(pd.DataFrame(found, columns=["table", "claims", "which", "reason"]))


def _span(ids: list[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{ids[0]} … {ids[-1]}"


def _linked(reason: str) -> str:
    """Return a reason with its ledger numbers as links into DEVIATIONS.md."""
    return re.sub(r"\bD(\d+):", r"[D\1](DEVIATIONS.md#d\1):", reason)


def _empty() -> pd.DataFrame:
    return pd.DataFrame(columns=list(COLUMNS)).astype({"low": float, "high": float})


def _read(folder: Path, name: str) -> pd.DataFrame:
    """Return a run's verdicts, made sure to be those that the run itself wrote; none if it judged nothing."""
    record = folder / RUN_FILE
    if not record.is_file():
        raise CollectError(f"run {name} is ok but left no {RUN_FILE} in {folder}: run it again")
    digest = json.loads(record.read_text(encoding="utf-8"))["files"].get(VERDICTS_FILE)
    if digest is None:
        return _empty()
    content = (folder / VERDICTS_FILE).read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise CollectError(f"{folder / VERDICTS_FILE} is not what run {name} wrote: run it again")
    return read_verdicts(folder / VERDICTS_FILE)


def read_verdicts(path: Path) -> pd.DataFrame:
    """Return verdicts from a file, with the types that :func:`.verdicts.judge` gives them."""
    text = dict.fromkeys((name for name in COLUMNS if name not in ("paper", "low", "high")), str)
    number = {name: [""] for name in ("low", "high")}
    frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=number)
    return frame.astype({"low": float, "high": float})


def _check_once(judged: pd.DataFrame) -> None:
    again = judged[judged["claim_id"].duplicated(keep=False)]
    if not again.empty:
        who = "; ".join(f"{claim} by {', '.join(group['run'])}" for claim, group in again.groupby("claim_id"))
        raise CollectError(f"claims judged by more than one run: {who}")


def _wanted(
    values: pd.DataFrame, papers: Iterable[int] | None, runs: Mapping[str, RunStatus], judged: pd.DataFrame
) -> list[str]:
    if papers is None:
        named = {str(pattern)[0] for state in runs.values() for pattern in state.claims}
        papers = {int(first) for first in named if first.isdigit()} | set(judged["paper"].astype(int))
    return values.loc[values["paper"].isin(set(papers)), "claim_id"].tolist()


def _absent(claims: pd.DataFrame, runs: Mapping[str, RunStatus], unjudged: str) -> pd.DataFrame:
    """Return the verdicts of claims that no run judged; refuse those that should have been judged."""
    rows, open_ = [], []
    # A summary may judge a claim of another run: that claim is open only if the summary ran.
    all_ran = all(run.status in (OK, NO_DATA) for run in runs.values())
    for claim in claims.to_dict("records"):
        owner = _owner(claim["claim_id"], runs)
        if owner is None:
            reason = "no run answers for it"
        elif runs[owner].status == NO_DATA:
            reason = runs[owner].reason or "a data set is not on this machine"
        elif runs[owner].status == OK:
            reason = f"run {owner} does not compute it in this profile"
        else:
            reason = f"run {owner} {runs[owner].status}: {runs[owner].reason}".removesuffix(": ")
        if owner is None or (runs[owner].status == OK and all_ran):
            open_.append(f"{claim['claim_id']} ({reason})")
        given = {name: claim[name] for name in COLUMNS[:6]}
        line = " ".join(reason.split())
        rows.append(given | {"ours": "", "verdict": NO_DATA, "reason": line, "run": owner or ""})
    if open_ and unjudged == "error":
        raise CollectError(f"{len(open_)} printed values are not judged: {', '.join(open_[:8])}")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})


def _owner(claim_id: str, runs: Mapping[str, RunStatus]) -> str | None:
    """Return the run that answers for a claim; where patterns overlap, the longest one that fits."""
    fits = [
        (len(pattern), name) for name, run in runs.items() for pattern in run.claims if fnmatchcase(claim_id, pattern)
    ]
    return max(fits)[1] if fits else None
