"""The sentence that ends a section of a notebook, written from the numbers of its tables.

No sentence is fixed: other numbers give another sentence, and missing numbers give one that says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from compendium.show import tables

CAME_OUT = ("exact", "within")  # the verdicts on values that came out as printed
_Row = Mapping[Any, Any] | pd.Series
_Number = float | None
_NAMED = 3  # so many things are named, more are counted
_NOT_DECIDED = {"undecided": "undecided", "no data": "without data"}


def extremes(values: pd.Series | None, what: str, beside: pd.DataFrame | None = None) -> str:
    """Return which entries have the highest and the lowest value.

    Parameters
    ----------
    values : pandas.Series or None
        Numbers by name. Missing and infinite values do not count.
    what : str
        What the numbers are, such as ``"accuracy"``. Accuracies and other shares become percentages.
    beside : pandas.DataFrame, optional
        Other numbers of the same entries, such as chance levels, by what they are. They stand beside a single entry.

    Examples
    --------
    >>> extremes(pd.Series({"age": 1.0, "work": 0.3, "sex": 0.0}), "evaluation")
    'The evaluation is highest for age (1) and lowest for sex (0).'
    """
    numbers = _numbers(values)
    if numbers.empty:
        return f"There are no numbers for the {what}."
    share = _share(what, numbers)
    texts = numbers.map(lambda value: _text(value, share))

    highest, lowest = (_text(end, share) for end in (numbers.max(), numbers.min()))
    if len(numbers) == 1:
        return f"The {what} of {_label(numbers.index[0])} is {_with(highest, numbers.index[0], beside)}."
    if highest == lowest:
        return f"{_several(texts.index)} have the same {what} ({highest})."
    ends = []
    for end in (highest, lowest):
        names = texts.index[texts == end]
        ends.append(f"{_several(names)} ({_with(end, names[0], beside) if len(names) == 1 else end})")
    return f"The {what} is highest for {ends[0]} and lowest for {ends[1]}."


def count(flags: Iterable[Any] | None, things: str, predicate: str) -> str:
    """Return how many of some things a predicate is true of.

    Parameters
    ----------
    flags : iterable of bool or None
        Whether it is true of each thing; a missing value is undecided. Up to three things of a series are named.
    things, predicate : str
        The things and the predicate, both in the plural.

    Examples
    --------
    >>> count([True, False, True], "data sets", "are on this machine")
    '2 of 3 data sets are on this machine.'
    >>> count([True, True], "attacks", "are above chance")
    'Both attacks are above chance.'
    """
    known = [] if flags is None else list(flags)
    if not known:
        return f"There are no {things} here to judge."
    undecided = sum(bool(pd.isna(flag)) for flag in known)
    true = sum(not pd.isna(flag) and bool(flag) for flag in known)
    aside = f"; {undecided} undecided" if undecided else ""
    if undecided == len(known):
        return f"For all {len(known)} {things} it is undecided whether they {predicate}."
    if true in (0, len(known)) and len(known) > 1:
        some = f"All {len(known)}" if len(known) > 2 else "Both"
        return f"{some if true else f'None of the {len(known)}'} {things} {predicate}{aside}."
    names = list(flags.index[flags.fillna(False).astype(bool)]) if isinstance(flags, pd.Series) else []
    named = f" ({_joined(names)})" if 0 < len(names) <= _NAMED and isinstance(names[0], str) else ""
    return f"{true} of {len(known)} {things}{named} {predicate}{aside}."


def most_frequent(values: Iterable[Any] | Mapping[Any, int] | None, what: str, things: str) -> str:
    """Return which value is the most frequent, and how often each occurs.

    Parameters
    ----------
    values : iterable, or mapping of value to int, or None
        The value of each thing, or how many things have each value. Missing values do not count.
    what, things : str

    >>> most_frequent(["a", "b", "a"], "best method", "data sets")
    'The most frequent best method is a (2 of 3 data sets), before b (1).'
    """
    if isinstance(values, Mapping):
        times: pd.Series = pd.Series({str(name).replace("_", "-"): n for name, n in values.items()}, dtype=int)
    else:
        times = pd.Series([] if values is None else list(values), dtype=object).dropna().value_counts()
    times = times[times > 0].sort_values(ascending=False, kind="stable")
    total = int(times.sum())
    if not total:
        return f"There are no {things} here to judge."
    first = times[times == times.iloc[0]]
    rest = [f"{_label(name)} ({n})" for name, n in times[len(first) :].items()]
    before = f", before {_joined(rest)}" if rest else ""
    if len(times) == 1:
        return f"The {what} is {_label(times.index[0])} for {total} of {total} {things}."
    if len(first) > 1:
        names = _joined([_label(name) for name in first.index])
        return f"The {what} is equally often {names} ({first.iloc[0]} of {total} {things} each){before}."
    return f"The most frequent {what} is {_label(first.index[0])} ({first.iloc[0]} of {total} {things}){before}."


def against(
    name: str, value: _Number, reference: _Number, reference_name: str, low: _Number = None, high: _Number = None
) -> str:
    """Return whether a value lies above or below a reference; with an interval, whether the interval shows it.

    Parameters
    ----------
    name, reference_name : str
        What the value and the reference are.
    value, reference : float or None
        The numbers; a missing one gives a sentence that says so.
    low, high : float or None
        The bounds of the value's interval.

    Examples
    --------
    >>> against("The attacker's accuracy", 0.62, 0.58, "chance", 0.55, 0.68)
    "The attacker's accuracy is 62.0 % [55.0 %, 68.0 %]; the interval contains chance (58.0 %), so it is undecided."
    """
    if value is None or reference is None or pd.isna(value) or pd.isna(reference):
        return f"{name} cannot be compared with {reference_name}: there are no numbers."
    share = _share(name, pd.Series([value, reference], dtype=float))
    shown, other = _text(value, share), _text(reference, share)
    if low is not None and high is not None and not (pd.isna(low) or pd.isna(high)):
        shown += f" [{_text(low, share)}, {_text(high, share)}]"
        if low <= reference <= high:
            return f"{name} is {shown}; the interval contains {reference_name} ({other}), so it is undecided."
    if value == reference:
        return f"{name} is {shown}, the same as {reference_name}."
    return f"{name} is {shown}, {'above' if value > reference else 'below'} {reference_name} ({other})."


def against_chance(row: _Row | None, names: Mapping[str, str]) -> str:
    """Return whether measures lie above their chance levels, each in a sentence.

    Parameters
    ----------
    row : mapping, series or None
        The measures, and their bounds and chance levels: ``accuracy_low`` or ``low``, and so on.
    names : mapping of str to str
        What each measure is, in words, by its name in the row.
    """
    found = {} if row is None else dict(row)

    def end(measure: str, word: str) -> Any:
        return found.get(f"{measure}_{word}", found.get(word))

    ends = {each: [end(each, word) for word in ("chance", "low", "high")] for each in names}
    said = [against(name, found.get(each), ends[each][0], "chance", *ends[each][1:]) for each, name in names.items()]
    return " ".join(said)


def change(before: _Row, after: _Row, names: Mapping[str, str]) -> str:
    """Return how measures changed, and where that leaves them beside chance.

    Parameters
    ----------
    before, after : mapping or series
        The measures. ``after`` may have a chance level, such as ``accuracy_chance``, and a number of classes, such as
        ``accuracy_classes``: of two classes, the opposite answer is right where an answer is wrong.
    names : mapping of str to str
        What each measure is, in words, by its name.

    Examples
    --------
    >>> change({"accuracy": 0.95}, {"accuracy": 0.93}, {"accuracy": "accuracy"})
    'The accuracy falls from 95.0 % to 93.0 %.'
    """
    parts = []
    for key, name in names.items():
        pair = _numbers(pd.Series([before.get(key), after.get(key)]))
        if len(pair) < 2:
            parts.append(f"the {name} has no numbers")
            continue
        share = _share(name, pair)
        first, last = (_text(value, share) for value in pair)
        moved = "rises" if pair.iloc[1] > pair.iloc[0] else "falls"
        said = f"the {name} stays at {first}" if first == last else f"the {name} {moved} from {first} to {last}"
        parts.append(said + _beside_chance(pair.iloc[1], after.get(f"{key}_chance"), after.get(f"{key}_classes")))
    text = _joined(parts)
    return f"{text[0].upper()}{text[1:]}."


def _beside_chance(value: float, chance: float | None, classes: int | None) -> str:
    """Return the chance level in brackets, and what a value below it means; nothing without one."""
    if chance is None or pd.isna(chance):
        return ""
    if value >= chance:
        return f" (chance {_text(chance, True)})"
    opposite = f"; the opposite answer is right in {_text(1 - value, True)}" if classes == 2 else ""
    return f" (below chance, {_text(chance, True)}{opposite})"


def first_to_last(values: pd.Series, what: str) -> str:
    """Return how a measure changed from the first number of a series to the last, such as over epochs."""
    known = _numbers(values)
    first, last = (known.iloc[at] if len(known) else None for at in (0, -1))
    return change({what: first}, {what: last}, {what: what})


def before_after(row: _Row, names: Mapping[str, str]) -> str:
    """Return how measures changed, from a row with columns such as ``public_before`` and ``public_after``."""
    before, after = ({key: row.get(f"{key}_{when}") for key in names} for when in ("before", "after"))
    return change(before, dict(row) | after, names)


def verdicts(judged: pd.DataFrame) -> str:
    """Return how many printed values came out.

    Parameters
    ----------
    judged : pandas.DataFrame
        Verdicts, as :func:`.verdicts.judge` returns them.
    """
    apart = judged["basis"] == "construction"
    counts = judged.loc[~apart, "verdict"].value_counts()
    decided = int(counts.drop(list(_NOT_DECIDED), errors="ignore").sum())
    came_out = int(sum(counts.get(name, 0) for name in CAME_OUT))
    rest = [f"{counts[name]} {words}" for name, words in _NOT_DECIDED.items() if name in counts]
    rest += [f"{apart.sum()} hold by construction"] if apart.any() else []
    aside = f" ({', '.join(rest)})" if rest else ""
    if not decided:
        return f"No value could be decided{aside}."
    if came_out == decided:
        return f"All {decided} decided values came out as printed{aside}."
    return f"{came_out} of {decided} decided values came out as printed{aside}."


def selection(kept: Mapping[str, Any], n_features: int) -> str:
    """Return which features `feature_minimize` kept, and what that changes.

    Parameters
    ----------
    kept : mapping
        ``kept`` (names), and ``accuracy`` and ``identifiability``, each also with ``all_``.
    n_features : int
        Number of all features.
    """
    names = list(kept["kept"])
    words = {key: key for key in ("accuracy", "identifiability") if not pd.isna(kept[key])}
    changed = change({key: kept[f"all_{key}"] for key in words}, kept, words)
    if len(words) == 1:
        changed += " Nobody is in training and in test rows, so there is no identifiability."
    which = f": {', '.join(map(str, names))}" if len(names) < n_features else ""
    return f"{len(names)} of {n_features} features are kept{which}. {changed}"


def stated(text: str) -> str:
    """Return a sentence that the library has computed, as it is."""
    return text


def classes(names: Mapping[str, Sequence[str]]) -> str:
    """Return how many classes each attribute has, and which."""
    parts = [f"{len(own)} classes of {name} ({', '.join(map(str, own))})" for name, own in names.items()]
    return f"There are {_joined(parts)}."


def groups(
    names: Mapping[str, Sequence[str]] | pd.Series | None, beside: pd.DataFrame | None = None, prefix: str = ""
) -> str:
    """Return the members of each group, or the word for each name, with the numbers `beside` it.

    Examples
    --------
    >>> groups({"non-sensitive": ["sex", "race"], "sensitive": ["age"], "ambiguous": []})
    'Non-sensitive: sex, race; sensitive: age; ambiguous: none.'
    """
    parts = []
    for name, own in () if names is None else names.items():
        text = own if isinstance(own, str) else ", ".join(map(str, own)) or "none"
        others = _with("", name, beside)
        label = _label(name).replace("_", "-")
        parts.append(f"{prefix}{label}: {text}{f' ({others})' if others else ''}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if parts else "There are no groups."


def changed_cells(original: pd.DataFrame, published: pd.DataFrame) -> str:
    """Return how many columns are published, and how many of their cells noise has changed."""
    common = [name for name in original.columns if name in published.columns]
    before, after = original[common].reset_index(drop=True), published[common].reset_index(drop=True)
    same = (before.astype(object) == after.astype(object)) | (before.isna() & after.isna())
    moved = int((~same).to_numpy().sum())
    left = original.shape[1] - len(common)
    out = "Every column is published" if not left else f"{left} of {original.shape[1]} columns are not published"
    noise = f"noise changes {moved:,} of {same.size:,} published cells" if moved else "no published cell is changed"
    return f"{out}, and {noise}."


def _numbers(values: pd.Series | None) -> pd.Series:
    if values is None:
        return pd.Series(dtype=float)
    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    return numbers[np.isfinite(numbers)]


def _share(what: str, numbers: pd.Series) -> bool:
    return tables.names_share(what) and "points" not in what and bool(numbers.abs().max() <= 1)


def _text(value: float, share: bool) -> str:
    if share:
        return f"{100 * value + 0.0:.1f} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else tables.number_text(float(value), 3)


def _with(text: str, name: Any, beside: pd.DataFrame | None) -> str:
    """Return a text and the numbers of an entry that stand beside it."""
    row = pd.DataFrame() if beside is None else beside.loc[[name]].dropna(axis=1)
    others = [f"{word} {_text(row[word].iloc[0], _share(str(word), row[word]))}" for word in row]
    return ", ".join([*([text] if text else []), *others])


def _label(name: Any) -> str:
    return f"({', '.join(map(_label, name))})" if isinstance(name, tuple) else tables.number_text(name, 3)


def _several(names: Sequence[Any] | pd.Index) -> str:
    """Return one or two names, or the first and how many others there are."""
    if len(names) <= 2:
        return _joined([_label(name) for name in names])
    return f"{_label(names[0])} and {len(names) - 1} others"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
