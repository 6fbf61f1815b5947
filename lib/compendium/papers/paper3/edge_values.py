"""Compare measured times with paper 3's Tables 4 to 7, and answer the statements of its section 6.

Seconds on different boards are not comparable, and a factor between them would be fitted. So the cells with seconds
have no data until there is a record of the paper's board. What other machines can show is the shape of a table: which
steps take longer than others. `compare_shapes` measures it against a null model in which all steps take equally long.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import Ours

_AGREE = 1e-3  # relative difference
_BUSY = 3.0  # slowest calls over the median; on a board that runs nothing else, they are about equal
_COLUMNS = ("batch", "type", "embeddings", "time", "per-embedding")
_BUDGETS = {"4": 200.0, "5": 500.0, "6": 500.0, "7": 200.0}  # milliseconds, by table
# these two are reasons in verdicts
NO_PI3 = "seconds of a Raspberry Pi 3: run `edge.pyz measure` on one and name its file in `records`"
NO_MOBIACT = "windows of MobiAct, which is given on request only (data/README.md)"


def printed_steps() -> pd.DataFrame:
    """Return Tables 4 to 7, one row per step, with time / count next to the printed column.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``row`` (as in claim ids), ``title``, ``batch``, ``kind``, ``count``, ``time``, ``printed`` (seconds
        per window), ``recomputed``, ``agree`` (whether they differ by less than a thousandth).
    """
    values = printed_values(3)
    values = values[values["table"].isin(_BUDGETS)]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    claim: Any
    for claim in values.itertuples(index=False):
        column = next(name for name in _COLUMNS if claim.claim_id.endswith(f"-{name}"))
        row = claim.claim_id.removeprefix(f"3-T{claim.table}-").removesuffix(f"-{column}")
        cell = rows.setdefault((claim.table, row), {"table": claim.table, "row": row, "title": claim.row})
        cell[column] = claim.printed if column == "type" else claim.value
    frame = pd.DataFrame(list(rows.values()))[["table", "row", "title", *_COLUMNS]]
    recomputed = frame["time"] / frame["embeddings"]
    agree = (recomputed / frame["per-embedding"] - 1).abs() < _AGREE
    names = {"type": "kind", "embeddings": "count", "per-embedding": "printed"}
    return frame.rename(columns=names).assign(recomputed=recomputed, agree=agree)


def compared_columns(both: pd.DataFrame, boards: Mapping[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    """Return the columns of `compare_steps` that a reader compares.

    Parameters
    ----------
    both : pandas.DataFrame
        Result of `compare_steps`.
    boards : mapping of str to pandas.DataFrame, optional
        Steps of other machines by name: ``table``, ``row`` and ``median`` in seconds per window. Each machine adds a
        column in milliseconds, ``NAME_ms``, without a value for a step that it did not measure.
    """
    times = ["printed_ms", "recomputed_ms", "agree", "ours_ms", "bound_ms", "times_bound"]
    shown = both[["table", "title", "count", "time", *times]]
    for name, steps in (boards or {}).items():
        medians = {(row["table"], row["row"]): 1000 * row["median"] for row in steps.to_dict("records")}
        column = [medians.get(step) for step in zip(both["table"], both["row"], strict=True)]
        shown = shown.assign(**{f"{name}_ms": pd.Series(column, index=shown.index, dtype=float)})
    return shown


def compare_steps(printed: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Return printed steps with our measurements of the same steps.

    Parameters
    ----------
    printed : pandas.DataFrame
        Result of `printed_steps`.
    ours : pandas.DataFrame
        ``table``, ``row``, ``kind``, ``batch``; ``median``, ``cpu`` and ``bound`` in seconds per window.

    Returns
    -------
    pandas.DataFrame
        By table and row: ``printed_ms``, ``recomputed_ms``, ``ours_ms`` (processor time, which excludes other programs
        on the machine), ``bound_ms`` and ``times_bound``: printed over bound.
    """
    both = printed.merge(ours, on=["table", "row"], how="inner", suffixes=("", "_ours"))
    return both.assign(
        printed_ms=1000 * both["printed"],
        recomputed_ms=1000 * both["recomputed"],
        ours_ms=1000 * both["cpu"],
        bound_ms=1000 * both["bound"],
        times_bound=both["printed"] / both["bound"],
    )


def compare_shapes(both: pd.DataFrame) -> pd.DataFrame:
    """Return whether our times have the shape of each printed table, better than equally long steps would.

    The logarithms of the times of a table are compared after their mean is removed, so a faster machine makes no
    difference. If all steps took equally long, all these logarithms would be 0: that is the null model.

    Parameters
    ----------
    both : pandas.DataFrame
        Result of `compare_steps`.

    Returns
    -------
    pandas.DataFrame
        By table: ``steps``; ``error``, the mean absolute error of our logarithms; ``null_error``, that of the null
        model; ``beats_null``; ``correlation`` of the logarithms. A table that does not beat the null model shows
        nothing about the printed times, so its correlation is missing.
    """
    rows = []
    for table, part in both.groupby("table", sort=False):
        theirs, ours = (np.log(part[f"{name}_ms"].to_numpy(float)) for name in ("printed", "ours"))
        theirs, ours = theirs - theirs.mean(), ours - ours.mean()
        error, null = (float(np.abs(guess - theirs).mean()) for guess in (ours, np.zeros_like(ours)))
        beats = error < null * (1 - _AGREE)
        correlation = float(np.corrcoef(theirs, ours)[0, 1]) if beats else np.nan
        row = {"table": table, "steps": len(part), "error": error, "null_error": null}
        rows.append(row | {"beats_null": beats, "correlation": correlation})
    return pd.DataFrame(rows)


def contradictions(printed: pd.DataFrame) -> dict[str, str]:
    """Return the printed times per window that their own row contradicts, with the calculation that shows it."""
    reasons = {}
    for row in printed[~printed["agree"]].to_dict("records"):
        shown = f"the row's own {row['time']:g} s / {row['count']:,.0f} is {row['recomputed']:.7f}"
        reasons[_claim(row, "per-embedding")] = shown
    return reasons


def table_claims(
    both: pd.DataFrame, counts: Mapping[tuple[str, str], int], pi3: pd.DataFrame | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return our values for the cells of Tables 4 to 7, and the reasons for cells without data.

    Parameters
    ----------
    both : pandas.DataFrame
        Result of `compare_steps` for all steps of all tables.
    counts : mapping of (table, row) to int
        Windows that each step processed here.
    pi3 : pandas.DataFrame, optional
        Steps from a record of a Raspberry Pi 3 Model B: ``table``, ``row``; ``median``, ``least`` and ``p99`` in
        seconds per window. Without it, cells with seconds have no data, whatever other machines measure.

    Returns
    -------
    tuple of two dict
        Arguments `ours` and `no_data` of `Run.claims`. A time per window that its own row contradicts is compared with
        that row's time / count, because no measurement can decide it.
    """
    ours: dict[str, Any] = {}
    absent: dict[str, str] = {}
    board = {} if pi3 is None else {(row["table"], row["row"]): row for row in pi3.to_dict("records")}
    for row in both.to_dict("records"):
        key, each, total = (row["table"], row["row"]), _claim(row, "per-embedding"), _claim(row, "time")
        ours[_claim(row, "batch")] = int(row["batch_ours"])
        ours[_claim(row, "type")] = row["kind_ours"]
        if key in counts:
            ours[_claim(row, "embeddings")] = counts[key]
        else:
            absent[_claim(row, "embeddings")] = NO_MOBIACT
        if key in board:
            for claim, times in ((each, 1), (total, row["count"])):
                median, least, p99 = (float(board[key][name]) * times for name in ("median", "least", "p99"))
                ours[claim] = Ours(median, least, p99, over="windows")
        else:
            absent |= {each: NO_PI3, total: NO_PI3}
        if not row["agree"]:
            ours[each] = row["recomputed"]
            absent.pop(each, None)
    return ours, absent


def noisy_claims(printed: pd.DataFrame, pi3: pd.DataFrame | None) -> dict[str, str]:
    """Return the seconds that a record of a Raspberry Pi 3 cannot decide, because other programs ran meanwhile.

    A time is compared with the interval from the fastest to the slowest calls. On a busy board this interval is so wide
    that it contains printed times by chance.

    Parameters
    ----------
    printed : pandas.DataFrame
        Result of `printed_steps`.
    pi3 : pandas.DataFrame, optional
        As for `table_claims`.

    Returns
    -------
    dict of str to str
        Reason by claim id, for the argument `undecided` of `Run.claims`. Cells that their own row contradicts are left
        out, because they are arithmetic.
    """
    found: dict[str, str] = {}
    steps = [] if pi3 is None else printed.merge(pi3, on=["table", "row"]).to_dict("records")
    for row in steps:
        times = row["p99"] / row["median"]
        if times > _BUSY:
            remedy = "measure again while nothing else runs"
            reason = f"the board was busy: its slowest calls took {times:.3g} times the median; {remedy}"
            found |= {_claim(row, column): reason for column in ("time", "per-embedding")[: 1 + bool(row["agree"])]}
    return found


def routed_counts(printed: pd.DataFrame, routed: pd.Series) -> dict[tuple[str, str], int]:
    """Return the number of windows that each step of Tables 4 and 7 processed here.

    Parameters
    ----------
    printed : pandas.DataFrame
        Result of `printed_steps`.
    routed : pandas.Series of int
        Windows by inferred public class, in the order of the encoders' codes. All other steps process all windows.
    """
    found = {}
    for row in printed[printed["table"].isin(["4", "7"])].to_dict("records"):
        name, _, code = row["row"].partition("-")
        one_class = name in ("encoder", "decoder")
        found[row["table"], row["row"]] = int(routed.iloc[int(code)] if one_class else routed.sum())
    return found


def printed_totals(worst: pd.Series) -> pd.DataFrame:
    """Return the printed worst cases (seconds, by table) as rows for the figure of time budgets."""
    return pd.DataFrame(
        {"label": f"Pi 3 as printed, Table {table}", "median_ms": 1000 * took, "budget_ms": _BUDGETS[str(table)]}
        for table, took in worst.items()
    )


def startup(printed: pd.DataFrame) -> pd.DataFrame:
    """Fit the line time = start + each x count to the printed times of equal networks of a table.

    Returns
    -------
    pandas.DataFrame
        One row per table and kind of network (encoders, decoders): ``start`` in seconds, ``each_ms``,
        ``worst_printed_ms`` (the greatest printed time per window) and ``largest_miss`` (the line's greatest error, as
        a share of the printed time).
    """
    rows = []
    parts = printed[printed["row"].str.match(r"(en|de)coder-\d$")]
    for (table, name), part in parts.groupby(["table", parts["row"].str[:7]]):
        count, time = (part[column].to_numpy(dtype=float) for column in ("count", "time"))
        (each, start), *_ = np.polyfit(count, time, 1, full=True)
        miss = np.abs(start + each * count - time) / time
        worst = 1000 * float(part["printed"].max())
        rows.append(
            {"table": table, "networks": f"{name}s", "start": start, "each_ms": 1000 * each}
            | {"worst_printed_ms": worst, "largest_miss": float(miss.max())}
        )
    return pd.DataFrame(rows)


def text_claims(
    *,
    weights: pd.DataFrame,
    transformation: float,
    networks: float,
    shares: Mapping[str, float],
    totals: Mapping[str, float],
    offloading: pd.DataFrame,
    budget: float,
) -> dict[str, Any]:
    """Return our values for section 6's statements.

    Parameters
    ----------
    weights : pandas.DataFrame
        By data set: ``times``, weights of the general autoencoder over those of all specific ones.
    transformation, networks : float
        Seconds per window of the transformation and of all networks, at the paper's batch size.
    shares : mapping of str to float
        By data set: the 99th percentile of a whole window over its budget, on a Raspberry Pi 3. Empty without a record
        of one, because no other machine and no lower bound can show that it keeps up.
    totals : mapping of str to float
        By table: worst-case seconds per window.
    offloading : pandas.DataFrame
        By link: ``device`` and ``cloud_back``, in seconds.
    budget : float
        Seconds from one window of MotionSense to the next.
    """
    return {
        "3-text-budget-motionsense": 1000 * budget,
        "3-text-weights-reduced": bool((weights["times"] > 1).all()),
        "3-text-general-vae-weights": float(weights["times"]["motionsense"]),
        # "several orders of magnitude": at least two
        "3-text-transformation-negligible": bool(transformation * 100 <= networks),
        **{f"3-text-pi3-realtime-{name}": bool(share < 1) for name, share in shares.items()},
        "3-text-comparable-to-rivals": bool(totals["4"] <= totals["7"]),
        "3-text-decoder-in-cloud": bool((offloading["cloud_back"] > offloading["device"]).all()),
    }


def realtime_without_record(shares: Mapping[str, float]) -> dict[str, str]:
    """Return the statements on real time that need a record of a Raspberry Pi 3, with how to get one."""
    return {f"3-text-pi3-realtime-{name}": NO_PI3 for name in ("motionsense", "mobiact") if name not in shares}


def _claim(row: Mapping[Any, Any], column: str) -> str:
    return f"3-T{row['table']}-{row['row']}-{column}"
