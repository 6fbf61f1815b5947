"""Compare measured times with paper 3's Tables 4 to 7, and answer the statements of its section 6.

Seconds on different boards are not comparable, and a factor between them would be fitted. So the cells with seconds
have no data until there is a record of the paper's board. What other machines can show is the shape of a table: which
steps take longer than others. `compare_shapes` measures it against a null model in which all steps take equally long.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from compendium.papers.paper3.values import ROWS, decided
from compendium.verdicts.consistency import AGREE
from compendium.verdicts.printed import printed_values

_BUSY = 3.0  # slowest calls over the median; on a board that runs nothing else, they are about equal
_SLOWER = 1.1  # "without significant overhead": at most a tenth longer
_COLUMNS = {
    "Batch Sizes": "batch",
    "Type": "kind",
    "nb. Embeddings": "count",
    "Time (s)": "time",
    "Time / Embedding (s)": "printed",
}

_BUDGETS = {"4": 200.0, "5": 500.0, "6": 500.0, "7": 200.0}  # milliseconds, by table


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
    place = values["where"].str.extract(r"table=(?P<table>\d); row=(?P<name>[\w-]+)")  # of our row, see `step_table`
    cells = values["value"].astype(object).where(values["column"] != "Type", values["printed"])
    index = [values["table"], place["name"], values["row"].rename("title"), values["column"].map(_COLUMNS)]
    wide = cells.set_axis(pd.MultiIndex.from_arrays(index)).unstack(sort=False).infer_objects()  # noqa: PD010
    frame = wide[[*_COLUMNS.values()]].rename_axis(index=["table", "row", "title"], columns=None).reset_index()
    recomputed = frame["time"] / frame["count"]
    return frame.assign(recomputed=recomputed, agree=(recomputed / frame["printed"] - 1).abs() < AGREE)


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
    columns = {"printed": "printed", "recomputed": "recomputed", "ours": "cpu", "bound": "bound"}
    times = {f"{name}_ms": 1000 * both[column] for name, column in columns.items()}
    return both.assign(**times, times_bound=both["printed"] / both["bound"])


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
        beats = error < null * (1 - AGREE)
        correlation = float(np.corrcoef(theirs, ours)[0, 1]) if beats else np.nan
        row = {"table": table, "steps": len(part), "error": error, "null_error": null}
        rows.append(row | {"beats_null": beats, "correlation": correlation})
    return pd.DataFrame(rows)


def step_table(both: pd.DataFrame, counts: Mapping[tuple[str, str], int]) -> pd.DataFrame:
    """Return our values for the cells of Tables 4 to 7 that need no board.

    Parameters
    ----------
    both : pandas.DataFrame
        Result of `compare_steps` for all steps of all tables.
    counts : mapping of (table, row) to int
        Windows that each step processed here.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``row``, ``batch``, ``kind``, ``count`` (missing for steps on other windows), and ``recomputed``:
        printed time / count. Two printed times per window contradict their own row, so no measurement can decide them.
    """
    found = both[["table", "row", "batch_ours", "kind_ours", "recomputed"]]
    count = [counts.get(key) for key in zip(both["table"], both["row"], strict=True)]
    return found.rename(columns=lambda name: name.removesuffix("_ours")).assign(count=pd.array(count, dtype="Int64"))


def board_table(printed: pd.DataFrame, pi3: pd.DataFrame | None) -> pd.DataFrame:
    """Return the seconds of Tables 4 to 7 on a Raspberry Pi 3 Model B.

    A time is compared with the interval from the fastest to the slowest calls. On a busy board this interval is so wide
    that it contains printed times by chance.

    Parameters
    ----------
    printed : pandas.DataFrame
        Result of `printed_steps`.
    pi3 : pandas.DataFrame, optional
        Steps from a record of the board: ``table``, ``row``; ``median``, ``least`` and ``p99`` in seconds per window.
        Without it, the table has no rows, whatever other machines measure.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``row``; ``each`` and ``time``, in seconds for a window and for the printed number of windows, with
        the ends and the unit of the interval; ``undecided``: why the board cannot decide the row.
    """
    rows = []
    for row in [] if pi3 is None else printed.merge(pi3, on=["table", "row"]).to_dict("records"):
        found: dict[str, Any] = {"table": row["table"], "row": row["row"]}
        for name, times in (("each", 1), ("time", row["count"])):
            ends = {"": "median", "_low": "least", "_high": "p99"}
            found |= {f"{name}{end}": times * row[word] for end, word in ends.items()} | {f"{name}_unit": "windows"}
        slow = row["p99"] / row["median"]
        why = f"the board was busy: its slowest calls took {slow:.3g} times the median; "
        why += "measure again while nothing else runs"
        rows.append(found | {"undecided": why if slow > _BUSY else ""})
    return pd.DataFrame(rows, columns=None if rows else ["table", "row", "each", "time"])


def routed_counts(printed: pd.DataFrame, routed: pd.Series) -> dict[tuple[str, str], int]:
    """Return the number of windows that each step of Tables 4 and 7 processed here.

    Parameters
    ----------
    printed : pandas.DataFrame
        Result of `printed_steps`.
    routed : pandas.Series of int
        Windows of MotionSense by inferred activity. The encoders of Table 4 are in the order of the activities in
        Table 1. All other steps process all windows.
    """
    found, order = {}, list(ROWS["motionsense"])
    for row in printed[printed["table"].isin(["4", "7"])].to_dict("records"):
        name, _, code = row["row"].partition("-")
        one_class = name in ("encoder", "decoder")
        found[row["table"], row["row"]] = int(routed[order[int(code)]] if one_class else routed.sum())
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


def section_6_statements(
    *,
    weights: pd.DataFrame,
    transformation: float,
    networks: float,
    shares: Mapping[str, float],
    totals: Mapping[str, tuple[float, float]],
    offloading: pd.DataFrame,
    budget: float,
) -> dict[str, Any]:
    """Return our values for section 6's statements.

    Those on the transformation and on the rivals are not the final ones: `claims` decides them from one window and from
    printed times.

    Parameters
    ----------
    weights : pandas.DataFrame
        By data set: ``times``, weights of the general autoencoder over those of all specific ones.
    transformation, networks : float
        Seconds per window of the transformation and of all networks, at the paper's batch size.
    shares : mapping of str to float
        By data set: the 99th percentile of a whole window over its budget, on a Raspberry Pi 3. Empty without a record
        of one, because no other machine and no lower bound can show that it keeps up.
    totals : mapping of str to tuple of float
        By table: worst-case seconds per window, for the fastest calls and for the slowest (99th percentile).
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
        "3-text-comparable-to-rivals": _no_longer(totals["4"], totals["7"]),
        "3-text-decoder-in-cloud": bool((offloading["cloud_back"] > offloading["device"]).all()),
    }


def _no_longer(ours: tuple[float, float], theirs: tuple[float, float]) -> bool | None:
    """Return whether ours takes no longer, with a margin of `_SLOWER`: None if fastest and slowest calls disagree."""
    return decided(ours[1] <= _SLOWER * theirs[0], ours[0] > _SLOWER * theirs[1])
