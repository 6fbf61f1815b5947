"""All verdicts together: ``figures/verdicts.csv``, counts, and the page ``REPLICATION.md``."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from compendium.paths import RUN_FILE, VERDICTS_FILE, digest_of, figures_dir, project_root, read_record
from compendium.show import tables
from compendium.show.tables import page
from compendium.verdicts import earlier_runs
from compendium.verdicts.cells import row_of, tables_of
from compendium.verdicts.layout import ours_text
from compendium.verdicts.ledger import any_matches, one_line
from compendium.verdicts.printed import claims_file, printed_values
from compendium.verdicts.verdicts import COLUMNS, in_paper_order, read_verdicts
from compendium.verdicts.words import BASES, HEADLINE, VERDICTS
from sensorprivacy.paths import write_atomically

OK, NO_DATA = "ok", "no data"


class CollectError(ValueError):
    """The runs' verdicts do not fit together."""


def collect(profile: str, runs: Mapping[str, Any], *, values: pd.DataFrame | None = None) -> pd.DataFrame:
    """Collect the verdicts of all runs, and write them to ``verdicts.csv`` beside the runs' folders.

    Claims that no run could compute get the verdict *no data*. Papers that none of the runs reproduces are left out.

    Parameters
    ----------
    profile : str
        Profile of the runs: ``"paper"`` reads ``figures/``, any other ``figures/<profile>/``.
    runs : mapping of str to object
        For each run of the profile, how it ended: ``status``, which is ``"ok"``, ``"no data"`` or another word for a
        run that did not finish, and ``reason``, why it is not ``"ok"``.
    values : pandas.DataFrame, optional
        Printed values; the default is those of ``data/paper/``.

    Returns
    -------
    pandas.DataFrame
        One row for each printed value in the papers' order, columns as in :func:`.verdicts.judge`.

    Raises
    ------
    CollectError
        If a run's verdicts were changed after it wrote them, or a successful run has no record or did not judge one of
        its claims.
    """
    values = printed_values() if values is None else values
    folder = figures_dir(profile)
    own = values[values["run"].isin(list(runs))]
    # a run without claims, such as an introduction, need not leave a record
    judges = {name: name in set(own["run"]) or (folder / name / RUN_FILE).is_file() for name in runs}
    read = [_read(profile, name) for name, state in runs.items() if state.status == OK and judges[name]]
    judged = pd.concat(read, ignore_index=True) if read else _frame([])
    missing = values[values["paper"].isin(own["paper"]) & ~values["claim_id"].isin(judged["claim_id"])]
    absent = _absent(missing, runs, profile)
    whole = in_paper_order(pd.concat([judged, absent], ignore_index=True), values)[list(COLUMNS)]
    write_atomically(folder / VERDICTS_FILE, lambda part: part.write_bytes(tables.csv_text(whole).encode()))
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
        order.sort(key=lambda key: (*key[:-1], list(BASES).index(key[-1])))
    index = order if len(by) > 1 else [key[0] for key in order]
    return counted.loc[index].rename_axis(columns=None)


def headline(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts that compare a paper with data, published logs or a test, not with itself."""
    return verdicts[verdicts["basis"].isin(HEADLINE)]


def replication_text(verdicts: pd.DataFrame, *, profile: str = "paper") -> str:
    """Return the text of ``REPLICATION.md``: counts by basis, headline claims, and what cannot be tested.

    Parameters
    ----------
    verdicts : pandas.DataFrame
        As :func:`collect` returns them. Every single value is in ``verdicts.csv``.
    profile : str, default "paper"
        Profile of the runs.
    """
    shown = {
        "counts": counts(verdicts, by=("paper", "basis")).reset_index(),
        "headlines": headline_table(verdicts, profile),
        "others": _other_people(profile),
        "decided": decisions(verdicts),
        "absent": _untested(verdicts),
    }
    texts = {name: tables.markdown_text(table) if len(table) else "" for name, table in shown.items()}
    texts |= {"profile": profile, "summary": summary_line(verdicts)}
    text = page("replication.md", **texts, texts=claims_file()["page"]) + "\n"
    return text if profile == "paper" else _moved(text, profile)


def _moved(text: str, profile: str) -> str:
    """Return a page of the checkout as one of ``figures/<profile>/``: its links start there, and lead to its files."""
    up = os.path.relpath(project_root(), figures_dir(profile))
    text = text.replace("[figures/", f"[figures/{profile}/")
    return re.sub(r"\]\((?![a-z]+:|#)(figures/)?", lambda link: "](" if link[1] else f"]({up}/", text)


def summary_line(verdicts: pd.DataFrame) -> str:
    """Return the headline counts in one sentence."""
    decisive = headline(verdicts)
    counted = f"{len(decisive)} of {len(verdicts):,} printed values"
    return f"{counted} need data, published logs or a test for a check: {tally(decisive['verdict'])}."


def headline_table(verdicts: pd.DataFrame, profile: str = "paper") -> pd.DataFrame:
    """Return the headline claims of ``data/paper/claims.toml``, each with its printed and our value.

    Returns
    -------
    pandas.DataFrame
        Columns paper, claim, printed, ours, verdict, results. A claim on several printed values has their number and
        the number of each verdict. Claims of papers without verdicts are left out.
    """
    rows = []
    for entry in claims_file()["headline"]:
        own = _matching(verdicts, entry["values"])
        if own.empty:
            continue
        runs = [name for name in dict.fromkeys(own["run"]) if (figures_dir(profile) / name / RUN_FILE).is_file()]
        links = ", ".join(f"[{name}](figures/{name}/)" for name in runs[:1]) + (" ..." if len(runs) > 1 else "")
        row = {"paper": entry["paper"], "claim": entry["claim"], "printed": f"{len(own)} values"}
        row |= {"ours": "", "verdict": tally_apart(own)}
        if len(own) == 1:
            row |= _single(own.iloc[0])
        if "shown" in entry and runs:
            row["ours"] = _measured(profile, **entry["shown"]) or row["ours"]
        rows.append(row | {"basis": ", ".join(dict.fromkeys(own["basis"])), "results": links})
    return pd.DataFrame(rows, columns=["paper", "claim", "printed", "ours", "verdict", "basis", "results"])


def decisions(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return how each group of claims in words is decided where chance plays a part, by ``data/paper/claims.toml``.

    Returns
    -------
    pandas.DataFrame
        Columns claims, test, unit, margin, verdicts (number of each). Groups without verdicts are left out.
    """
    rows = []
    for entry in claims_file()["decided"]:
        own = _matching(verdicts, entry["values"])
        if len(own) and not entry["unit"].startswith("none"):
            how = {name: entry[name] for name in ("test", "unit", "margin")}
            claims = ", ".join(f"`{name}`" for name in entry["values"])
            rows.append({"claims": claims} | how | {"verdicts": tally(own["verdict"])})
    return pd.DataFrame(rows)


def _matching(verdicts: pd.DataFrame, patterns: Iterable[str]) -> pd.DataFrame:
    return verdicts[[any_matches(patterns, name) for name in verdicts["claim_id"]]]


def _single(row: pd.Series) -> dict[str, str]:
    """Return a printed value and ours, with interval, unit, and the ledger's entry as a link."""
    ours = ours_text(row)
    ours += f" ({row['unit']})" if row["unit"] and ours else ""
    cited = re.findall(r"\bD(\d+): ", row["reason"])
    links = " ".join(f"[D{number}](DEVIATIONS.md#d{number})" for number in cited)
    return {"printed": str(row["printed"]), "ours": ours, "verdict": f"{row['verdict']} {links}".strip()}


def _measured(profile: str, table: str, row: Mapping[str, str]) -> str:
    """Return the attack behind a claim in words, from ``RUN/TABLE``, with interval and chance; empty without a row."""
    frame = tables_of(profile, "")(table)
    own = None if frame is None else row_of(frame, "; ".join(map("=".join, row.items())), table)
    if own is None:
        return ""
    score, low, high, chance = (tables.number_text(float(own[name]), 3) for name in ("score", "low", "high", "chance"))
    return f"accuracy on {row['level']}s {score} [{low}, {high}] ({own['n']}), chance {chance}"


def tally(verdicts: pd.Series) -> str:
    """Return the number of each verdict, such as ``3 exact, 1 differs``."""
    found = verdicts.value_counts()
    return ", ".join(f"{found[name]} {name}" for name in VERDICTS if name in found)


def tally_apart(verdicts: pd.DataFrame) -> str:
    """Return the number of each verdict, and apart from them the number of values that hold by construction."""
    apart = verdicts["basis"] == "construction"
    counted = f"{apart.sum()} by construction" if apart.any() else ""
    return "; ".join(filter(None, [tally(verdicts.loc[~apart, "verdict"]), counted]))


def _untested(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the reasons for *no data*, with the tables and the number of printed values that each concerns."""
    absent = verdicts[verdicts["verdict"] == NO_DATA]
    named = absent["paper"].astype(str) + ": " + ("Table " + absent["table"]).replace("Table text", "text")
    groups = named.groupby(absent["reason"], sort=False)
    rows = [(len(own), ", ".join(own.unique()), reason) for reason, own in groups]
    return pd.DataFrame(rows, columns=["values", "paper", "missing"])


def write_replication(verdicts: pd.DataFrame, *, profile: str = "paper") -> Path:
    """Write :func:`replication_text` to ``REPLICATION.md``, and return its path.

    The file is in the checkout for the profile ``"paper"``, and in ``figures/<profile>/`` for any other profile, so
    that a short run never replaces the full page.

    Parameters
    ----------
    verdicts, profile
        As for :func:`replication_text`.
    """
    path = (project_root() if profile == "paper" else figures_dir(profile)) / "REPLICATION.md"
    text = replication_text(verdicts, profile=profile)
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
    return path


def _other_people(profile: str) -> pd.DataFrame:
    """Return the printed values that a run compared with other people; no rows if no run did."""
    compared = earlier_runs.gather(profile, "*", "comparison")
    rows = []
    for (run, basis), own in compared.groupby(["run", "basis"], sort=False) if len(compared) else ():
        where = ", ".join(f"{own['paper'].iloc[0]}: Table {number}" for number in dict.fromkeys(own["table"]))
        found = {"paper": where, "values": len(own), "verdict": tally(own["verdict"]), "basis": basis}
        rows.append(found | {"results": f"[{run}](figures/{run}/)"})
    return pd.DataFrame(rows)


def _frame(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"low": float, "high": float})


def _read(profile: str, name: str) -> pd.DataFrame:
    """Return a run's verdicts, after checking that the run itself wrote them; no rows if it judged nothing."""
    folder = figures_dir(profile) / name
    if not (folder / RUN_FILE).is_file():
        raise CollectError(f"run {name} is ok but left no {RUN_FILE} in {folder}: run it again")
    digest, file = read_record(profile, name)["files"].get(VERDICTS_FILE), folder / VERDICTS_FILE
    if digest is None:
        return _frame([])
    if digest_of(file) != digest:
        raise CollectError(f"{file} is not what run {name} wrote: run it again")
    return read_verdicts(file)


def _absent(claims: pd.DataFrame, runs: Mapping[str, Any], profile: str) -> pd.DataFrame:
    """Return the verdict *no data* for claims that no run judged; refuse claims that should have been judged."""
    rows, open_ = [], []
    for claim in claims.to_dict("records"):
        name = claim["run"]
        state = runs.get(name)
        if state is None:
            reason = f"run {name} is not in the profile {profile}"
        elif state.status == NO_DATA:
            reason = state.reason or "a data set is not on this machine"
        elif state.status == OK:
            reason = f"run {name} did not judge it: run it again"
            open_.append(f"{claim['claim_id']} ({reason})")
        else:
            reason = f"run {name} {state.status}: {state.reason}".removesuffix(": ")
        made = {"ours": "", "unit": "", "verdict": NO_DATA, "basis": claim["basis"].partition(" | ")[0]}
        rows.append(claim | made | {"reason": one_line(reason)})
    if open_:
        raise CollectError(f"{len(open_)} printed values are not judged: {', '.join(open_[:8])}")
    return _frame(rows)
