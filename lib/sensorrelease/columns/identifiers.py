"""Find columns that identify a row by themselves: identifiers, addresses, places, points in time and row numbers.

A model cannot learn from most such columns, but whoever holds the original table can join it with a published one.
Addresses, such as those of e-mail and of devices, count even if few of them occur: an address names a device, a
household or a person. An address of a server, which many users share, can be a legitimate feature of traffic: its owner
names it in `keep`. All shares are of the cells that are not missing, and a mark such as "none" counts as missing.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from sensorrelease.columns.decimals import MISSING
from sensorrelease.columns.moments import are_moments, are_times, in_long_sequences, is_called

PLACES = "geographic positions"


FEWEST_ROWS = 20  # in shorter tables, distinct values are no sign of an identifier
NEARLY_ALL = 0.95  # share of distinct values from which a column is nearly unique
_DENSE = 2  # row numbers in any order take at most so many times as many places as there are rows
_ADDRESSES = {
    "UUIDs": re.compile(r"\{?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\}?", re.IGNORECASE),
    "MAC addresses": re.compile(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}", re.IGNORECASE),
    "IP addresses": re.compile(
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?::\d{1,5}|/\d{1,2})?"
        r"|(?=.*::)[0-9a-f:]{2,39}(?:%\w+)?|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?:%\w+)?",
        re.IGNORECASE,
    ),
    "e-mail addresses": re.compile(r"[^@\s]@[^@\s]+\.[^@\s]"),  # is searched for, in linear time
    "telephone numbers": re.compile(r"(?:\+|00)[1-9]\d{0,2}[ (/-]*\d[\d ()/-]{5,15}"),
    "IBANs": re.compile(r"[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,4})?"),
    "vehicle identification numbers": re.compile(r"(?=[A-Z\d]*[A-Z])(?=[A-Z\d]*\d)[A-HJ-NPR-Z\d]{17}"),
    "positions": re.compile(
        r"(?:POINT ?)?[(\[]?\s*[+-]?\d{1,3}\.\d{3,}°?\s*[NSEW]?[,;\s]+[+-]?\d{1,3}\.\d{3,}°?\s*[NSEW]?\s*[)\]]?"
    ),
}
_SOME = 0.1  # share of addresses from which a column holds them
_NAME_OF_ID = re.compile(r"(?:^|[\W_])(?:id|ids|uid|uuid|guid|key|index|serial|nr|no|number)(?:$|[\W_])", re.IGNORECASE)
_NO_CELL = MISSING | {"", "none", "null", "nil", "nan", "na", "n/a", "keine", "keiner", "unbekannt", "anonymous"}
_SENTENCE = 3  # words from which a text is free
_WORDY = 0.5  # share of different cells from which such texts are no categories
_LENGTHY = 60  # characters of a text that is no category
_WHOLE = re.compile(
    r"(?:^|[\W_])(?:latitude|longitude|breitengrad|l(?:ä|ae)ngengrad|easting|northing)(?:$|[\W_])", re.IGNORECASE
)
_SHORT = re.compile(r"(?:^|[\W_])(?:lat|lon|lng|long)(?:$|[\W_])", re.IGNORECASE)
_MOTION = re.compile(r"acc|vel|speed|force|jerk|slip|error|std|var|(?:^|[\W_])g(?:$|[\W_])", re.IGNORECASE)


def find_identifiers(features: pd.DataFrame, sequences: Sequence[pd.Series] = ()) -> dict[str, str]:
    """Return the columns that identify rows, each with the reason.

    Parameters
    ----------
    features : pandas.DataFrame
        n rows, in the order of the file.
    sequences : sequence of pandas.Series
        Labels that divide the rows into sequences, such as users and recordings. A column that numbers the rows of each
        sequence is a row number, too.

    Returns
    -------
    dict of str to str
        Column and kind: "UUIDs", "e-mail addresses", "geographic positions", "free text", "points in time", "row
        numbers", "large integers that differ in every row", ... Continuous measurements are no identifiers, even if all
        their values differ.

    Examples
    --------
    >>> table = pd.DataFrame({"row": range(30), "lux": [(7 * k) ** 0.5 % 3 for k in range(30)]})
    >>> find_identifiers(table)
    {'row': 'row numbers'}
    """
    places = _coordinates(features)
    found = {str(name): places.get(str(name)) or _kind(features[name], str(name), sequences) for name in features}
    return {name: kind for name, kind in found.items() if kind}


def _kind(column: pd.Series, name: str, sequences: Sequence[pd.Series]) -> str:
    present = column.dropna()
    if pd.api.types.is_bool_dtype(column) or present.empty:
        return ""
    if column.dtype.kind == "M" and not isinstance(column.dtype, pd.CategoricalDtype):
        return "points in time"
    if not pd.api.types.is_numeric_dtype(column):
        return _kind_of_texts(present)
    if len(present) < FEWEST_ROWS:
        return ""
    n_values = present.nunique()
    values = present.to_numpy(dtype=float)
    if not np.isfinite(values).all():
        return _kind(present[np.isfinite(values)], name, sequences)
    if are_times(values, name, [labels[present.index] for labels in sequences]):
        return "points in time"
    if n_values > 2 and _has_constant_steps(present, sequences):  # two values make no long sequence
        return "row numbers"
    if n_values < NEARLY_ALL * len(present) or (values % 1 != 0).any():
        return ""
    if (np.diff(values) >= 0).all() or np.ptp(values) < _DENSE * len(values):
        return "row numbers"
    if np.abs(values).max() > 2**53:
        return "large integers that differ in nearly every row"
    return "numbers that differ in nearly every row" if is_called(_NAME_OF_ID, name) else ""


def _present_texts(column: pd.Series) -> pd.Series:
    """Return the cells of a column of text that are neither missing nor a mark such as "none"."""
    cells = column.dropna().astype(object)
    bare = cells.map({cell: str(cell).strip() for cell in cells.unique()})
    return bare[~bare.str.lower().isin(_NO_CELL)] if len(bare) else bare


def _kind_of_texts(column: pd.Series) -> str:
    texts = _present_texts(column)
    counts = texts.value_counts()
    if counts.empty:
        return ""
    rows, n_rows, cells = counts.to_numpy(), len(texts), list(counts.index)
    for kind, pattern in _ADDRESSES.items():
        match = pattern.search if kind == "e-mail addresses" else pattern.fullmatch
        if rows[[match(cell) is not None for cell in cells]].sum() >= _SOME * n_rows:
            return kind
    if are_moments(texts):
        return "points in time"
    if n_rows < FEWEST_ROWS:
        return ""
    if len(rows) >= NEARLY_ALL * n_rows:
        return "texts that differ in nearly every row"
    sentences = np.mean([len(cell.split()) >= _SENTENCE for cell in cells]) >= 0.5 and len(rows) >= _WORDY * n_rows
    lengthy = np.median([len(cell) for cell in cells]) >= _LENGTHY
    return "free text" if len(rows) >= FEWEST_ROWS and (sentences or lengthy) else ""


def _coordinates(features: pd.DataFrame) -> dict[str, str]:
    """Return columns of latitudes and longitudes by their names, unless they can be lateral and longitudinal motion."""
    found: dict[str, np.ndarray] = {}
    for name, column in features.items():
        if pd.api.types.is_numeric_dtype(column) and not is_called(_MOTION, str(name)):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            values = values[np.isfinite(values)]
            if len(values) and (values % 1 != 0).any():
                found[str(name)] = values
    short = [name for name in found if is_called(_SHORT, name) and np.abs(found[name]).max() <= 180]
    one_sided = any((found[name] > 0).all() or (found[name] < 0).all() for name in short)
    named = short if len(short) > 1 and one_sided else []
    return dict.fromkeys((name for name in found if name in named or is_called(_WHOLE, name)), PLACES)


def _has_constant_steps(column: pd.Series, sequences: Iterable[pd.Series]) -> bool:
    """Return whether the values rise or fall by the same step from row to row, in the table or in each sequence."""
    numbers = column.astype(float)
    for steps in (numbers.diff(), *(numbers.groupby(labels[column.index]).diff() for labels in sequences)):
        known = steps.dropna().to_numpy()
        if in_long_sequences(known, column) and known[0] != 0 and np.allclose(known, known[0], rtol=1e-6, atol=0):
            return True
    return False
