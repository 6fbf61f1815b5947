"""Bounds of columns that the publisher states, so that noise does not depend on private extremes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorprivacy.own.defences import Defence
from sensorprivacy.own.transformers import MinimizedTable
from sensorprivacy.threeway.divider import ThreeWayDivider

Bounds = Mapping[str, tuple[float, float]]


def parse_bounds(words: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return bounds by column from words such as ``lux=0:1000``.

    Raises
    ------
    ValueError
        If a word is no column with two numbers, or a column is named twice.

    Examples
    --------
    >>> parse_bounds(["lux=0:1000", "hour=0:23"])
    {'lux': (0.0, 1000.0), 'hour': (0.0, 23.0)}
    """
    found: dict[str, tuple[float, float]] = {}
    for word in words:
        name, _, ends = word.rpartition("=")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            low = high = math.nan
        if not (name and math.isfinite(low) and math.isfinite(high) and low <= high):
            raise ValueError(f"bounds {word!r}: write the column, its lowest and its highest value, such as lux=0:1000")
        if name in found:
            raise ValueError(f"bounds {word!r}: column {name!r} has bounds already")
        found[name] = low, high
    return found


def check_bounds(bounds: Bounds, defence: Defence) -> None:
    """Raise ValueError if a defence has no noise that needs bounds."""
    if bounds and not _takes(defence.make(None)):
        raise ValueError(f"bounds are for defences with noise (noise, minimize+noise, threeway), not {defence.name}")


def with_bounds(
    defence: Defence, bounds: Bounds, features: Sequence[str], texts: Sequence[str], roles: Sequence[str]
) -> Defence:
    """Return a defence whose noise takes its scale from stated bounds.

    Parameters
    ----------
    defence : Defence
        A word of the command line, or a transformer of this library.
    bounds : mapping
        Lowest and highest value by column. Cells outside are moved to the nearest end. Columns that are not named get
        their bounds from the data, and the guarantees say so.
    features, texts, roles : sequence of str
        Columns that the defence gets, those of them with texts, and the columns with task, user and groups.

    Raises
    ------
    ValueError
        If bounds are for a column that the defence does not get.
    """
    if not bounds:
        return defence
    for name in bounds:
        if name in texts:
            raise ValueError(f"column {name!r} holds texts: bounds are for numbers")
        if name in roles or name not in features:
            why = "task, user or groups" if name in roles else "no published feature"
            raise ValueError(f"bounds for column {name!r}, which is {why}: choose from {', '.join(features)}")

    def make(seed: int | None) -> Any:
        step = defence.make(seed)
        if isinstance(step, LaplaceNoise):
            return step.set_params(bounds=[bounds.get(name, (np.nan, np.nan)) for name in features])
        return step.set_params(bounds=dict(bounds))

    return replace(defence, make=make)


def _takes(step: Any) -> bool:
    sound = isinstance(step, LaplaceNoise) and step.sound
    return sound or isinstance(step, ThreeWayDivider) or (isinstance(step, MinimizedTable) and step.epsilon is not None)
