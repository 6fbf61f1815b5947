"""Measure what releases keep: the activity, and cadence and intensity, which a label alone does not keep."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sensorprivacy.data import Windows
from sensorprivacy.game.units import share
from sensorprivacy.latent.adversaries import Release, publish
from sensorprivacy.latent.inference import PublicModel
from sensorprivacy.latent.windows import recording_of
from sensorprivacy.progress import tqdm

_SLOWEST, _FASTEST = 45.0, 220.0  # steps per minute
_CLEAR = 0.3  # autocorrelation of a rhythm
_FAILURES = (ValueError, ArithmeticError, RuntimeError)  # of one release; the others go on
_HARMONIC = 0.85  # a peak at a multiple of the period is seldom this much higher than the first


def acceleration(windows: Windows) -> np.ndarray:
    """Return the magnitude of the acceleration, n x samples.

    The channels whose name begins with "acc" are used; without such names, all channels.
    """
    names = [str(name).lower() for name in windows.provenance.get("channels", [])]
    chosen = [at for at, name in enumerate(names) if name.startswith("acc")] or list(range(windows.n_channels))
    signal = windows.values[:, chosen].astype(float)  # noqa: PD011 (windows)
    return np.asarray(np.sqrt((signal**2).sum(axis=1)))


def intensity(windows: Windows) -> np.ndarray:
    """Return the root mean square of each window's acceleration around its mean, in the channel's unit."""
    return np.asarray(acceleration(windows).std(axis=1))


def cadence(windows: Windows) -> np.ndarray:
    """Return the steps per minute of each window, by the first high peak of the acceleration's autocorrelation.

    Parameters
    ----------
    windows : Windows
        Windows. Their ``provenance["rate"]`` (Hz) is needed; at least one and a half steps must fit in a window.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        From 45 to 220; 0 for a window without a rhythm.
    """
    rate, signal = float(windows.provenance.get("rate", 50)), acceleration(windows)
    signal = signal - signal.mean(axis=1, keepdims=True)
    length = signal.shape[1]
    power = np.abs(np.fft.rfft(signal, 2 * length, axis=1)) ** 2
    # unbiased: a lag has fewer pairs of samples, the longer it is
    correlation = np.fft.irfft(power, axis=1)[:, :length] / np.arange(length, 0, -1)
    correlation /= np.maximum(correlation[:, :1], 1e-12)
    first = max(2, int(np.floor(60 * rate / _FASTEST)))
    last = min(int(np.ceil(60 * rate / _SLOWEST)), int(0.7 * length))
    if last <= first + 1:
        return np.zeros(len(signal))
    inside = correlation[:, first : last + 1]
    peak = (inside >= correlation[:, first - 1 : last]) & (inside > correlation[:, first + 1 : last + 2])
    heights = np.where(peak, inside, -1.0)
    highest = heights.max(axis=1)
    lag = first + (heights >= _HARMONIC * highest[:, None]).argmax(axis=1)
    rows = np.arange(len(signal))
    left, middle, right = (correlation[rows, lag + by] for by in (-1, 0, 1))
    bend = left - 2 * middle + right
    lag = lag + np.where(np.abs(bend) > 1e-12, 0.5 * (left - right) / np.where(bend == 0, 1, bend), 0)
    return np.where(highest > _CLEAR, 60 * rate / lag, 0.0)


def measured(windows: Windows) -> pd.DataFrame:
    """Return ``cadence`` (steps per minute) and ``intensity`` (unit of the acceleration) of each window."""
    return pd.DataFrame({"cadence": cadence(windows), "intensity": intensity(windows)})


def rows_of(releases: Mapping[str, Any], row: Callable[[Any], Mapping[str, object]]) -> pd.DataFrame:
    """Return a row for each release. One that fails has only a ``reason``, the last column, and the others go on."""
    rows: dict[str, Mapping[str, object]] = {}
    for name, release in tqdm(releases.items(), "releases", leave=False):
        try:
            rows[name] = {"reason": "", **row(release)}
        except _FAILURES as error:
            warnings.warn(f"{name}: {error}", stacklevel=3)
            rows[name] = {"reason": str(error)}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("release")
    return table[[*table.columns.drop("reason"), "reason"]]


def utility_table(releases: Mapping[str, Release], test: Windows) -> pd.DataFrame:
    """Return the error of cadence and intensity that are measured on published windows.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name. A release that estimates both itself (``estimated``) is taken at that.
    test : Windows
        Raw test windows. Those without a rhythm are left out of the errors of cadence.

    Returns
    -------
    pandas.DataFrame
        By release: ``cadence_error`` (steps per minute) and ``intensity_error`` (unit of the acceleration), medians of
        the absolute errors over windows; the same over recordings with the ending ``_recording``, where the median of a
        recording's windows is compared. A published window without a rhythm has cadence 0.
    """
    raw, recordings = measured(test), recording_of(test)

    def errors(release: Release) -> dict[str, float]:
        estimated, row = getattr(release, "estimated", None), {}
        found = estimated(test) if estimated is not None else measured(release(test))
        for column in ("cadence", "intensity"):
            known = (raw["cadence"] > 0).to_numpy() if column == "cadence" else np.ones(len(raw), dtype=bool)
            pairs = pd.DataFrame({"raw": raw[column], "found": found[column].to_numpy()})[known]
            by_recording = pairs.groupby(recordings[known]).median()
            for ending, both in (("", pairs), ("_recording", by_recording)):
                row[f"{column}_error{ending}"] = float((both["raw"] - both["found"]).abs().median())
        return row

    return rows_of(releases, errors).drop(columns="reason").dropna(how="all")


def activity_kept(releases: Mapping[str, Release], models: Sequence[PublicModel], test: Windows) -> pd.DataFrame:
    """Return how accurately independent classifiers, used by no release, predict the public class.

    Parameters
    ----------
    releases : mapping of str to callable
        Functions that publish windows, by name. A release that states an activity itself (``stated``) is read as it
        states.
    models : sequence of PublicModel
        Independent models, if possible with several kinds of network: smoothed windows that one kind recognizes,
        another may not.
    test : Windows
        Raw test windows.

    Returns
    -------
    pandas.DataFrame
        By release: ``activity`` (mean accuracy of the models) with ``low`` and ``high`` and their unit ``n``, ``worst``
        (the least accuracy among public classes), a column ``by <kind>`` for each model's kind of network,
        ``distortion`` (mean squared change, in units of each channel's deviation), ``reason`` (why a release failed, or
        which judge has the network of a reader that chose what to publish).
    """
    return rows_of(releases, lambda release: _kept(release, models, test))


def _kept(release: Release, models: Sequence[PublicModel], test: Windows) -> dict[str, object]:
    truth, raw = models[0].public.codes(test.public), models[0].scaled(test)
    published, stated = publish(release, test, 0), getattr(release, "stated", None)
    if stated is not None:
        each = [stated(test) == test.public.astype(str).to_numpy()] * len(models)
    else:
        each = [model.public_model.predict(model.scaled(published)) == truth for model in models]
    right = np.mean(each, axis=0)
    found = share(right, test.subject.to_numpy(), unit="people")
    chosen = getattr(release, "anonymizer", None)
    readers = set()
    if chosen is not None and chosen.redraw:
        seconds = [chosen.second_reader] if chosen.second_reader is not None else []
        readers = {model.kind for model in (chosen.models_.public_model, *seconds)}
    alike = sorted(readers & {model.public_model.kind for model in models})
    return {
        "activity": found.score,
        "low": found.low,
        "high": found.high,
        "worst": min(right[truth == code].mean() for code in np.unique(truth)),
        **{f"by {model.public_model.kind}": one.mean() for model, one in zip(models, each, strict=True)},
        "distortion": float(np.mean((models[0].scaled(published) - raw) ** 2, dtype=np.float64)),
        "n": f"{found.n} {found.unit}",
        "reason": f"redraws used a network like this judge: {', '.join(alike)}" if alike else "",
    }


def side_by_side(strongest: pd.DataFrame, attribute: str) -> pd.DataFrame:
    """Return one row per release: the strongest attacker's scores at all levels, for the attribute and identity.

    Parameters
    ----------
    strongest : pandas.DataFrame
        `sensorprivacy.game.Attacks.strongest`.
    attribute : str
        The private attribute, whose columns come first.

    Returns
    -------
    pandas.DataFrame
        By release, columns such as ``gender, recording``. The last row, ``chance``, has the chance levels.
    """
    levels = dict.fromkeys(strongest["level"])
    columns = [(about, level) for about in dict.fromkeys([attribute, "subject"]) for level in levels]
    names = {"subject": "identity"}
    scores, chances = (
        strongest.pivot_table(index="release", columns=["about", "level"], values=name) for name in ("score", "chance")
    )
    order = list(dict.fromkeys(strongest["release"]))
    kept = [pair for pair in columns if pair in scores.columns]
    table = scores.loc[order, kept]
    table.loc["chance"] = chances[kept].iloc[0]
    table.columns = [f"{names.get(about, about)}, {level}" for about, level in kept]
    return table.rename_axis("release")


def points(kept: pd.DataFrame, strongest: pd.DataFrame, releases: Mapping[str, Release], about: str) -> pd.DataFrame:
    """Return the activity that each release keeps beside the strongest attacker on a recording, for a figure.

    Parameters
    ----------
    kept, strongest : pandas.DataFrame
        As returned by `activity_kept`, and `sensorprivacy.game.Attacks.strongest`.
    releases : mapping of str to callable
        The releases.
    about : str
        The private attribute.

    Returns
    -------
    pandas.DataFrame
        ``release``, ``activity``, ``strongest``, ``chance``, ``trivial``; releases that failed are left out.
    """
    asked = strongest[(strongest["about"] == about) & (strongest["level"] == "recording")].set_index("release")
    attacks = pd.DataFrame({"strongest": asked["score"], "chance": asked["chance"]})
    table = kept[["activity"]].join(attacks).dropna()
    trivial = [bool(getattr(releases[str(name)], "trivial", False)) for name in table.index]
    return table.assign(trivial=trivial).reset_index()
