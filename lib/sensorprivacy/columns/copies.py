"""Find columns that hold the user under another name: copies, names in texts, numbers of which each user has few."""

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

from sensorprivacy.columns.cells import as_text, is_text
from sensorprivacy.columns.identifiers import present_texts

COPY = 0.95  # mean recall of a lookup table from which a column stands for the user
NEAR = 0.5  # mean recall from which a label that follows from the user names most users: at most two share a value
_FEWEST_NAMED = 0.01  # share of filled cells whose text names their user
_FEWEST_NAMES = 5  # labels that several users share; fewer are a category, such as a sex or a room
_CODES = 4  # numbers of each user, such as cards; a measurement has more
_WORD = re.compile(r"[^\W_]+")
_NOBODY = {"other", "others", "unknown", "none", "null", "nan", "n/a", "na", "missing", "guest", "user", "all", "yes"}
_NOBODY |= {"off", "true", "false"}  # labels that name nobody
_FIVE_DIGITS = 10_000  # from which a whole number of each user is no age and no size


def stands_for(column: pd.Series, labels: pd.Series) -> bool:
    """Return whether a lookup table from a column's cells to labels is right for nearly all rows of each label.

    The table is made from all other rows, so that a value which occurs once tells nothing. Numbers must also follow
    from the label: a number that differs between people is a measurement, but a number for each person is a name. If
    most labels occur once, this says nothing, and whole numbers stand for labels if each has one number and vice versa.
    """
    codes, of = (pd.factorize(some, use_na_sentinel=False)[0] for some in (column, labels))
    if 2 * of.max() > len(of) and not is_text(column) and (column.dropna() % 1 == 0).all():
        return len(np.unique(codes)) == len(np.unique(of)) == len(np.unique(np.stack([codes, of]), axis=1).T)
    if _recall(codes, of) < COPY:
        return False
    return is_text(column) or _recall(of, codes) >= COPY


def _recall(seen: np.ndarray, wanted: np.ndarray) -> float:
    """Return the mean recall of looking up the most frequent `wanted` of the other rows with the same `seen`."""
    pairs, rows = np.unique(seen * (wanted.max() + 1) + wanted, return_counts=True)
    cells, labels = np.divmod(pairs, wanted.max() + 1)
    order = np.lexsort((-rows, cells))
    cells, labels, rows = cells[order], labels[order], rows[order]
    begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
    sizes = np.diff(begins, append=len(cells))
    # the strongest other label of the same cell: the second one for the first, the first one for all others
    second = np.where(sizes > 1, rows[np.minimum(begins + 1, len(rows) - 1)], 0)
    rival = np.repeat(rows[begins], sizes)
    rival[begins] = second
    right = np.bincount(labels, np.where(rows - 1 > rival, rows, 0), minlength=labels.max() + 1)
    return float(np.mean(right / np.maximum(np.bincount(labels, rows), 1)))


def nearly_holds_user(column: pd.Series, user: pd.Series) -> str:
    """Return how the filled cells of a column tell the label of most rows although some labels share a value.

    Such are the names of people of whom two have the same one, and numbers of which each person has a few, such as
    cards. Each must occur in several rows: a value that occurs once tells nothing. A measurement that differs between
    people has more values, and near values are of the same person. So it stays. So do ages and sizes: people share
    them, and they have fewer than five digits.
    """
    filled = column[column.notna()]
    filled = present_texts(filled) if is_text(column) else filled
    of = user[filled.index]
    if len(filled) < 2 or 2 * of.nunique() < user.nunique():
        return ""
    codes, who = pd.factorize(filled)[0], pd.factorize(of)[0]
    n_codes, n_labels = codes.max() + 1, who.max() + 1
    found, nearly = _recall(codes, who), f"nearly {user.name!r} under another name: "
    if found >= COPY and (is_text(column) or n_codes <= _CODES * n_labels or _is_scattered(filled, of)):
        return f"{nearly}each of its values belongs to one of them"
    long = is_text(column) or bool((filled % 1 == 0).all() and filled.abs().max() >= _FIVE_DIGITS)
    if long and n_codes >= _FEWEST_NAMES and found >= NEAR and _recall(who, codes) >= COPY:
        return f"{nearly}its {n_codes:,} values name most of them"
    return ""


def _is_scattered(values: pd.Series, labels: pd.Series) -> bool:
    """Return whether near numbers mostly have different labels, as codes have, and measurements have not."""
    pairs = pd.DataFrame({"value": values, "label": pd.factorize(labels)[0]}).drop_duplicates("value")
    owners = pairs.sort_values("value")["label"].to_numpy()
    by_chance = 1 - np.sum((np.bincount(owners) / len(owners)) ** 2)
    return bool(np.mean(np.diff(owners) != 0) >= 0.5 * by_chance) if len(owners) > 1 else False


def holds_user(column: pd.Series, user: pd.Series, groups: pd.Series | None = None) -> str:
    """Return how a column stands for the user or the recording of each row, or an empty text."""
    if stands_for(column, user):
        return f"{user.name!r} under another name: its value alone identifies the user"
    if groups is not None and stands_for(column, groups) and stands_for(groups, column):
        return f"{groups.name!r} under another name: its value alone identifies the recording"
    if is_text(column) and not pd.api.types.is_bool_dtype(column):
        pairs = pd.DataFrame({"cell": as_text(column), "user": as_text(user)}).dropna().value_counts()
        names = {who for _, who in pairs.index if len(who) > 2 and who.lower() not in _NOBODY}
        named = [who in names and _is_named(who.lower(), cell.lower()) for cell, who in pairs.index]
        if len(pairs) and pairs[named].sum() > _FEWEST_NAMED * pairs.sum():
            return "its text names the user of the row"
    return ""


def _is_named(who: str, cell: str) -> bool:
    """Return whether a text holds a label; 104 is no part of 01045."""
    at = cell.find(who)
    before, after = cell[max(at - 1, 0) : max(at, 0)], cell[at + len(who) :][:1]
    digits = (who[0].isdigit() and before.isdigit()) or (who[-1].isdigit() and after.isdigit())
    return at >= 0 and not digits


def find_names(texts: Collection[str], users: pd.Series) -> list[str]:
    """Return the texts in which the label of any user stands as words of its own: "bobs old phone", but not "bobbin".

    Labels of one or two characters, of digits alone, and words such as "other" name nobody.
    """
    people = [who for who in as_text(users).dropna().unique() if who.lower() not in _NOBODY]
    labels = {words for who in people if len(text := "".join(words := tuple(_words(who)))) > 2 and not text.isdigit()}
    sizes = {len(words) for words in labels}
    return [text for text in texts if any(part in labels for part in _parts(_words(text), sizes))]


def _words(text: str) -> list[str]:
    return _WORD.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())


def _parts(words: list[str], sizes: Collection[int]) -> list[tuple[str, ...]]:
    """Return all runs of words of some lengths, also without the s of a genitive."""
    bare = [word.removesuffix("s") for word in words]
    return [tuple(some[at : at + size]) for size in sizes for some in (words, bare) for at in range(len(words))]
