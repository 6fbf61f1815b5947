"""The words of the command line that name defences for tables, and the bounds of noise."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from sensorprivacy.game.play import seeded
from sensorprivacy.mechanisms import LARGEST_EPSILON, SeededNoise
from sensorprivacy.minimize.baselines import METHODS
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorprivacy.minimize.select import THRESHOLDS
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorrelease.defences import Defence
from sensorrelease.transformers import MinimizedTable, Rewritten, Rounded, TaskPrediction, TopColumns

RAW = "none"
PRINTED_EPSILON = 8.0  # of each ambiguous column, where paper 2's loop starts in notebook 21
Bounds = Mapping[str, tuple[float, float]]
_SEARCHED = 0.003  # time of one model of the search, in units of a judge's forest
_METHODS = {name: method for name, method in METHODS.items() if not name.startswith("dp")}


def parse(text: str) -> Defence:
    """Return the defence that a word of the command line names.

    Parameters
    ----------
    text : str
        ``none``; ``prediction``; ``minimize:threshold=.01``; ``minimize+noise:threshold=.01,epsilon=4``;
        ``noise:epsilon=4`` (epsilon of a row); ``round:digits=2`` (significant digits); ``threeway:printed`` or
        ``threeway:epsilon=1`` (epsilon of each noisy column); ``method:shap_ratio,columns=5`` (a method of paper 1,
        see `sensorprivacy.minimize.METHODS`). Every setting may be left out.

    Returns
    -------
    Defence
        Its name writes all settings out that differ between defences of one family.

    Raises
    ------
    ValueError
        If the word, a setting or a value is unknown; the message lists the choices.

    Examples
    --------
    >>> parse("minimize").name
    'minimize:threshold=0.01'
    """
    family, _ = split_word(text)
    if family in ("latent", "guaranteed"):
        raise ValueError(f"defence {text!r} is for recordings; for tables, choose from {', '.join(_FAMILIES)}")
    if family not in _FAMILIES:
        raise ValueError(f"unknown defence {text!r}: choose from {', '.join(_FAMILIES)}; {EXAMPLES}")
    build, allowed, bare = _FAMILIES[family]
    return build(**read_settings(text, {name: _SETTINGS[name] for name in allowed}, bare))


def read_settings(text: str, allowed: Mapping[str, Sequence[Any]], bare: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of a word of the command line.

    Parameters
    ----------
    text : str
        The word, such as ``noise:epsilon=4``.
    allowed : mapping
        For each setting its choices, or its type (int or float) with the lowest and the highest number.
    bare : sequence of str
        Values of the setting ``which``, written without its name.

    Raises
    ------
    ValueError
        If a setting or a value is unknown; the message lists the choices.
    """
    family, items = split_word(text)
    given: dict[str, Any] = {}
    for item in items:
        name, _, value = map(str.strip, item.partition("="))
        if not value and (chosen := name.replace("-", "_")) in bare:
            given["which"] = chosen
        elif value and name in allowed:
            given[name] = _value(text, name, value, allowed[name])
        else:
            choices = ", ".join([*bare, *(f"{setting}=..." for setting in allowed)])
            raise ValueError(
                f"defence {text!r}: {item!r} is no setting of {family}: "
                + (f"choose from {choices}" if choices else "it has none")
            )
    return given


def _value(text: str, name: str, value: str, allowed: Sequence[Any]) -> Any:
    if isinstance(allowed[0], str):
        if value not in allowed:
            raise ValueError(f"defence {text!r}: {name}={value} must be one of {', '.join(allowed)}")
        return value
    kind, low, high = allowed
    try:
        number = kind(value)
    except ValueError:
        number = math.nan
    if not low <= number <= high:  # false for NaN too
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"defence {text!r}: {name}={value} must be {what} from {low:g} to {high:g}")
    return number


def split_word(text: str) -> tuple[str, list[str]]:
    """Return the family that a word names, and its settings.

    Examples
    --------
    >>> split_word("threeway: printed, epsilon=1")
    ('threeway', ['printed', 'epsilon=1'])
    """
    family, _, rest = text.strip().partition(":")
    return family, [item for item in map(str.strip, rest.split(",")) if item]


EXAMPLES = "for example minimize:threshold=.01, noise:epsilon=4, threeway:epsilon=1 or method:shap_ratio,columns=5"
_SETTINGS: Mapping[str, tuple[type, float, float]] = {
    "threshold": (float, 0, 1),
    "epsilon": (float, 1e-6, LARGEST_EPSILON),
    "preselect": (int, 1, 15),
    "columns": (int, 1, 10**6),
    "digits": (int, 1, 15),
}


def _defence(name: str, make: Callable[[int | None], Any], cost: Any, about: str, **more: Any) -> Defence:
    """Return a defence of the family that its name begins with; a number is its cost on any table."""
    costs = cost if callable(cost) else lambda d: cost
    return Defence(name, split_word(name)[0], make, costs, about, word=name, **more)


def _none() -> Defence:
    return _defence("none", lambda seed: FunctionTransformer(), 0, "Every column, unchanged.", trivial=True)


def _predicted() -> Defence:
    about = "The predicted task label alone."
    return _defence("prediction", lambda seed: TaskPrediction(seed=_fixed(seed)), 4, about, trivial=True)


def _minimized(threshold: float = 0.01, epsilon: float | None = None, preselect: int = 10) -> Defence:
    family, noise, about = "minimize", "", ""
    if epsilon is not None:
        family, noise = "minimize+noise", f",epsilon={epsilon:g}"
        about = f", with noise of epsilon {epsilon:g} for each row"
    wide = "" if preselect == 10 else f",preselect={preselect}"
    how: dict[str, Any] = {"preselect": preselect, "epsilon": epsilon}
    return _defence(
        f"{family}:threshold={threshold:g}{noise}{wide}",
        lambda seed: MinimizedTable(threshold, seed=_fixed(seed), noise_seed=seed, **how),
        lambda d: 2 + _SEARCHED * (2 ** (min(d, preselect) + 1) + 2 * preselect * d * (d > preselect)),
        f"The columns that paper 1's search keeps at a tolerated loss of {threshold:g}{about}.",
        shares=f"search of {preselect}",
    )


def _noise(epsilon: float = 4.0) -> Defence:
    def make(seed: int | None) -> Any:
        return LaplaceNoise(epsilon, sound=True, seed=seed).set_output(transform="pandas")

    about = f"Noise on every column, of epsilon {epsilon:g} for each row."
    return _defence(f"noise:epsilon={epsilon:g}", make, 0, about)


def _threeway(which: str = "sound", epsilon: float | None = None) -> Defence:
    if which == "printed" and epsilon is not None:
        given = f"leave epsilon={epsilon:g} out, or leave printed out"
        raise ValueError(f"threeway:printed has the paper's epsilon: {given}")
    level = PRINTED_EPSILON if which == "printed" else 1.0 if epsilon is None else epsilon

    def make(seed: int | None) -> Any:
        noise = None if seed is None else SeededNoise(seed)
        return ThreeWayDivider(epsilon=level, unknown="redraw", noise_source=noise)

    about = f"Paper 2's three-way division, with noise of epsilon {level:g} for each ambiguous column."
    return _defence("threeway:printed" if which == "printed" else f"threeway:epsilon={level:g}", make, 0.5, about)


def _method(which: str = "shap_ratio", columns: int | None = None) -> Defence:
    method, size = METHODS[which], "half of the columns" if columns is None else f"{columns} columns"
    kind = TopColumns if method.score else Rewritten
    cost = {"shap": 12, "gini": 2}.get(method.score, 0.2)
    name, about = f"method:{which}", f"Method {method.number} of paper 1: {method.title}, {size}."
    name += "" if columns is None else f",columns={columns}"
    return _defence(name, lambda seed: kind(which, columns, _fixed(seed)), cost, about)


def _round(digits: int = 2) -> Defence:
    about = f"Every number rounded to {digits} significant digit{'s' if digits > 1 else ''}."
    return _defence(f"round:digits={digits}", lambda seed: Rounded(digits), 0, about)


def _fixed(seed: int | None) -> int:
    """Return the seed of models: without a seed, only noise is random."""
    return 42 if seed is None else seed


_FAMILIES: Mapping[str, tuple[Callable[..., Defence], tuple[str, ...], tuple[str, ...]]] = {
    "none": (_none, (), ()),
    "prediction": (_predicted, (), ()),
    "minimize": (_minimized, ("threshold", "preselect"), ()),
    "minimize+noise": (partial(_minimized, epsilon=4.0), ("threshold", "epsilon", "preselect"), ()),
    "noise": (_noise, ("epsilon",), ()),
    "round": (_round, ("digits",), ()),
    "threeway": (_threeway, ("epsilon",), ("printed", "sound")),
    "method": (_method, ("columns",), tuple(_METHODS)),
}


TABLE_FAMILIES = tuple(_FAMILIES)


def table_defences() -> list[Defence]:
    """Return the defences that `compare` tries on a table by default, in the order of the design."""
    words = ["none", "prediction", "method:pca", "method:shap_ratio", "method:gini_utility"]
    words += [f"noise:epsilon={level}" for level in (1, 4, 16)]
    words += ["threeway:printed", *(f"threeway:epsilon={level}" for level in (0.5, 1, 4))]
    words += ["minimize", *(f"minimize:threshold={level}" for level in THRESHOLDS if level != 0.01)]
    words += [f"minimize+noise:threshold=.01,epsilon={level}" for level in (4, 16)]
    return [parse(word) for word in words]


def with_bounds(defence: Defence, bounds: Bounds, features: Sequence[str]) -> Defence:
    """Return a defence whose noise takes its scale from declared bounds.

    Parameters
    ----------
    defence : Defence
        A word of the command line, or a transformer of this library.
    bounds : mapping
        Lowest and highest value by column. Cells outside are moved to the nearest end. Columns that are not named get
        their bounds from the data, and the guarantees say so.
    features : sequence of str
        Columns that the defence gets.
    """

    def make(seed: int | None) -> Any:
        step = defence.make(seed)
        if isinstance(step, LaplaceNoise):
            return step.set_params(bounds=[bounds.get(name, (np.nan, np.nan)) for name in features])
        return step.set_params(bounds=dict(bounds))

    return replace(defence, make=make)


def takes_bounds(defence: Defence) -> bool:
    """Return whether a defence has noise whose scale depends on the range of a column."""
    step = defence.make(None)
    sound = isinstance(step, LaplaceNoise) and step.sound
    return sound or isinstance(step, ThreeWayDivider) or (isinstance(step, MinimizedTable) and step.epsilon is not None)


def chosen_defences(given: Mapping[str, Any] | Iterable[Any] | None) -> list[Defence]:
    """Return defences from words, transformers and defences, with the raw table among them."""
    if isinstance(given, str):
        raise ValueError(f"defences={given!r}: give a list of words")
    if isinstance(given, Mapping):
        chosen = [as_defence(step, str(name)) for name, step in given.items()]
    else:
        chosen = table_defences() if given is None else [parse(one) if isinstance(one, str) else one for one in given]
    chosen = list({one.name: one for one in chosen if one.name != RAW}.values())
    return [parse(RAW), *chosen]


def as_defence(step: Any, name: str = "") -> Defence:
    """Return a defence from a word, a defence or a scikit-learn transformer, which is cloned for every use."""
    if isinstance(step, str | Defence):
        known = parse(step) if isinstance(step, str) else step
        return replace(known, name=name or known.name)
    name = name or type(step).__name__
    if not (hasattr(step, "fit") and hasattr(step, "transform")):
        raise ValueError(f"defence {name!r} is a {type(step).__name__}: give a transformer with fit and transform")

    def make(seed: int | None) -> Any:
        return seeded(step, seed) if hasattr(step, "get_params") else clone(step, safe=False)

    return Defence(name, name, make, about=f"Your transformer {type(step).__name__}.")
