"""Match the rows of a release with their originals and with earlier releases, and say it on the card."""

import inspect
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from sensorprivacy.data import Problem
from sensorprivacy.game.joins import Match, in_words, match_rows, unchanged_columns
from sensorprivacy.paths import read_json
from sensorrelease.defences import Published, as_frame

FORMAT, CARD = "sensorprivacy-data-card", "card.json"
_MOST_BYTES = 32 * 2**20  # of an earlier release
_MOST_FOLDERS = 1000  # beside the new one
_JOINED = 0.05  # share of rows that tells two releases of the same rows from two of similar rows


def refitted(
    step: Any, numbers: pd.DataFrame, labels: Sequence[Any] | np.ndarray | None, texts: Sequence[str] = ()
) -> pd.DataFrame | None:
    """Return the values of an attacker who fits a deterministic transformer again, to the original rows.

    None with noise, of which this attacker learns nothing, and if the transformer cannot be fitted to these rows.
    """
    if getattr(step, "epsilon_total_", None) is not None:
        return None
    try:
        again = clone(step, safe=False)
        given = (numbers,) if labels is None else (numbers, labels)
        known = {"texts": texts} if "texts" in inspect.signature(again.fit).parameters else {}
        both = hasattr(again, "fit_transform") and not known
        values = again.fit_transform(*given) if both else again.fit(*given, **known).transform(numbers)
        return as_frame(values, again, np.asarray(numbers.index))
    except Exception:  # a user's transformer may raise anything, and one that was saved may need more labels
        return None


def compared(problem: Problem, published: Published, *, with_task: bool, seed: int, rows: int) -> tuple[Match, ...]:
    """Match the rows of a release that a comparison judges with their originals."""
    raw, shown, step = problem.features, published.values, published.step  # noqa: PD011 (released values)
    labels = problem.task.to_numpy()
    kept = len(unchanged_columns(raw, shown)) == shown.shape[1]  # nothing to learn from another fit
    refit = None if kept or step is None else refitted(step, raw, labels, problem.provenance.get("coded", []))
    known = labels if with_task and published.with_task else None
    units = {"user": problem.users} if problem.groups is None else {"group": problem.groups, "user": problem.users}
    return tuple(match_rows(raw, shown, known, refit=refit, units=units, rows=rows, seed=seed))


def matched(found: Sequence[Match], earlier: Sequence[str], *, noisy: bool) -> dict[str, Any]:
    """Return the part of the card about attackers who match rows; `noisy`: two releases of the same rows differ."""
    attacks = [asdict(one) for one in found]
    return {"in_words": in_words(found), "attacks": attacks, "earlier": list(earlier), "noisy": noisy}


def earlier_releases(out: Path, digest: str, rows: pd.DataFrame | None = None) -> list[str]:
    """Warn about releases beside a new one that are of the same rows, and return a statement of each for the card.

    Parameters
    ----------
    out : pathlib.Path
        The folder of the new release.
    digest : str
        SHA-256 of its input.
    rows : pandas.DataFrame, optional
        Some of its rows. Then releases of another input are found, too, if they share rows: the next month of a table.
    """
    said = []
    for folder, facts in _releases(out.absolute().parent):
        same, joined = facts["input"]["digest"] == digest, None if rows is None else _joined(folder, rows)
        if not same and (joined is None or joined < _JOINED):
            continue
        of = "the same input" if same else "some of these rows"
        shown = "" if not joined else f", and equal values alone join {joined:.1%} of the rows with it"
        said.append(f"An earlier release of {of} exists (defence {facts['defence']['name']}){shown}.")
        warnings.warn(
            f"{folder.name} beside {out.name} is an earlier release of {of}{shown}. Whoever has both sees the columns "
            "of both: give only one of them away",
            stacklevel=3,
        )
    return said


def _releases(parent: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folders of releases in a folder with the facts of their cards; broken cards are passed over."""
    for folder in sorted(parent.iterdir())[:_MOST_FOLDERS]:
        try:
            facts = read_json(folder / CARD) if (folder / CARD).is_file() else {}
            if facts.get("format") == FORMAT and isinstance(facts["input"]["digest"], str):
                yield folder, {"input": facts["input"], "defence": {"name": str(facts["defence"]["name"])[:100]}}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue


def _joined(folder: Path, rows: pd.DataFrame) -> float | None:
    """Return the share of rows that equal exactly one row of an earlier release, in all common columns."""
    files = [one for one in folder.iterdir() if one.suffix in (".csv", ".parquet")]
    if len(files) != 1 or files[0].stat().st_size > _MOST_BYTES:
        return None
    try:
        other = pd.read_csv(files[0]) if files[0].suffix == ".csv" else pd.read_parquet(files[0])
        common = [name for name in rows if name in other]
        if not common:
            return 0.0
        counts = other.groupby(common, dropna=False, observed=True).size().rename("rows").reset_index()
        return float((rows[common].merge(counts, on=common, how="left")["rows"] == 1).mean())
    except (OSError, ValueError, TypeError):  # columns of other types have no equal values
        return None
