"""Find columns of exact points in time, as texts in many formats or as numbers, in any order of the rows."""

import re
import warnings
from collections.abc import Iterable, Sized
from typing import Any

import numpy as np
import pandas as pd

NEARLY_ALL = 0.95  # share of numbers that are times
MOST = 0.9  # share of texts that are dates: a few cells may be marks or mistakes
FEWEST = 20  # different numbers, from which a range of values says that they are times
LONG = 0.9  # share of rows that follow another row of their sequence
UNITS = (1.0, 1e3, 1e6, 1e9)  # of times as numbers: seconds, thousandths, millionths, billionths
_LOOK_AT = 300  # different texts that are parsed
_DAY_FIRST = re.compile(r"(?:1[3-9]|2\d|3[01])[-./ ]|\d{1,2}\.")  # 13/05/2026 and 5.1.2026, but not 05/13/2026
_YEAR_FIRST = re.compile(r"\d{4}|.*[^\W\d_]{3}", re.ASCII)  # the parser reads 2026-01-05 and 5 Jan 2026 without help
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = {name: name for name in _MONTHS} | {"mär": "mar", "mrz": "mar", "mai": "may", "okt": "oct", "dez": "dec"}
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-/. ]\d{1,2}[-/. ]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d\d(?!\d))"
    r"|(?:19|20)(?:\d{6}|\d{10}|\d{12})(?!\d))|\d{1,2}[- /.,]+(?:%s)[- /.,]+\d|(?:%s)[- /.,]+\d{1,2}[- /.,]+\d"
    % (("|".join(_MONTHS),) * 2),
    re.IGNORECASE,
)
_FILLERS = "mon tue wed thu fri sat sun mo di mi do fr sa so mit don fre sam son die uhr um am at of the st nd rd th"
_SKIPPED = frozenset(_FILLERS.split()) - {"am"}
_NAME = re.compile(r"(?:^|[\W_])(?:time|timestamp|datetime|date|epoch|ts|unixtime)(?:$|[\W_])", re.IGNORECASE)
_DAY_NAME = re.compile(
    r"(?:^|[\W_])(?:date|datum|fecha|dob|d_o_b|birth_?da(?:te|y|tum)|born_on|geburts(?:tag|datum)|geb_?dat(?:um)?)(?:$|[\W_])",
    re.IGNORECASE,
)
_DAY = 86_400  # seconds
_CENTURY = 3.8e9  # seconds from 1850 to 1970, and from 1970 to 2090
_DAYS = (1_000, 2_500_000)  # numbers of a day that a column of dates can have: days since 1970, 1900 or 4713 BC
_SINCE_1970 = (1e9, 2.5e9)  # seconds of the years 2001 to 2049
_RECENT = (9.46e8, 2.21e9)  # seconds of the years 2000 to 2040
_BEFORE = (3.1e8, 9.46e8)  # seconds of the years 1980 to 1999
_DECADE = 3.2e8  # seconds
_SERIAL = (36_526, 54_789)  # days of a spreadsheet, of the years 2000 to 2049
_FORMS = {8: ("%Y%m%d", "%m%d%Y", "%d%m%Y"), 10: ("%Y%m%d%H",), 12: ("%Y%m%d%H%M",), 14: ("%Y%m%d%H%M%S",)}


def parse_moments(column: pd.Series, *, day_first: bool = False) -> pd.Series:
    """Return the points in time (UTC) that texts state; NaT where a cell states none.

    Dates such as 5.1.2026 and 13/05/2026 have the day first, 05/13/2026 has not; `day_first` decides for columns
    without such a date. Names of time zones are ignored.
    """
    cells = column.map(str, na_action="ignore")
    if cells.notna().all() and cells.str.fullmatch(_ISO).all():  # nothing to guess, and long recordings have many
        return pd.to_datetime(cells, format="ISO8601", utc=True, errors="coerce")
    clean = pd.Series({cell: _plain(cell) for cell in cells.dropna().unique()}, dtype=object)
    day_first = day_first or bool(clean.map(lambda cell: bool(_DAY_FIRST.match(cell))).any())
    known: dict[Any, pd.Timestamp] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas warns if a cell does not follow `dayfirst`
        for year_first, some in clean.groupby(clean.map(lambda cell: bool(_YEAR_FIRST.match(cell)))):
            swap = day_first and not year_first
            known |= pd.to_datetime(some, format="mixed", dayfirst=swap, utc=True, errors="coerce").to_dict()
    return pd.to_datetime(cells.map(known), utc=True)


def _plain(cell: str) -> str:
    """Return a text without the words that the parser does not know: weekdays, time zones, months in German."""
    bare = re.sub(r"\[[^]]*\]|\([^)]*\)", " ", cell)
    bare = re.sub(r"[^\W\d_]{2,}", _word, bare)
    bare = re.sub(r"(\d{4}):(?=\d\d:)", r"\1 ", bare)  # 11/Jan/2024:21:00:00
    bare = re.sub(r" (\d\d)\.(\d\d)\.(\d\d)(?=$|\s)", r" \1:\2:\3", bare)
    return " ".join(bare.split()).strip(" ,.")


def _word(found: re.Match[str]) -> str:
    word = found[0]
    if word.lower() in _SKIPPED or word.lower()[:-3] in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun"):
        return ""
    if word.lower() in ("am", "pm"):
        return word
    if month := _WORDS.get(word.lower()[:3]):
        return month
    zone = word.isupper() and 3 <= len(word) <= 5
    return "" if zone or word.lower().endswith("tag") or word.lower() == "mittwoch" else word


def are_moments(cells: pd.Series) -> bool:
    """Return whether nearly all texts state a date, perhaps with a time of day."""
    found = pd.Series(cells.unique())
    sample = found.iloc[np.unique(np.linspace(0, len(found) - 1, _LOOK_AT).astype(int))].astype(str).str.strip()
    dated = sample.map(lambda cell: len(cell) < 60 and bool(_DATE.search(_plain(cell)))).astype(bool)
    if not dated.any():
        return False
    known = set(sample[dated][parse_moments(sample[dated]).notna()])
    judged = cells.astype(str).str.strip()
    judged = judged[judged.isin(set(sample))]
    return bool(judged.isin(known).mean() >= MOST)


def are_times(values: np.ndarray, name: str, sequences: Iterable[pd.Series]) -> bool:
    """Return whether numbers are points in time.

    They are if nearly all are seconds since 1970 (or thousandths of them, ...) of this century in one decade, or whole
    days of any century in seconds; days of a spreadsheet with whole seconds; dates written as 20240131, 01312024 or
    202401312359; or numbers of days in a column that is called date, birth_date or dob; or if two of three signs agree:
    the name, rising values, and a range of seconds since 1970.
    """
    if _are_digits_of_dates(values) or _are_recent(values) or _are_serials(values, name) or _are_days(values, name):
        return True
    low, high = values.min(), values.max()
    since_1970 = any(_SINCE_1970[0] <= low / unit and high / unit <= _SINCE_1970[1] for unit in UNITS)
    signs = since_1970 + is_called(_NAME, name)
    if signs != 1:
        return signs == 2
    within = (pd.Series(values).groupby(labels.to_numpy()).diff().dropna() for labels in sequences)
    steps = (np.diff(values), *(found.to_numpy() for found in within))
    return any(in_long_sequences(found, values) and (found >= 0).all() and found.any() for found in steps)


def _are_digits_of_dates(values: np.ndarray) -> bool:
    whole = values[(values % 1 == 0) & (values >= 101_1900) & (values < 1e15)]  # 1 January 1900, the month first
    if len(whole) < NEARLY_ALL * len(values):
        return False
    digits = pd.Series(np.unique(whole).astype(np.int64)).astype(str)
    digits = digits.where(digits.str.len() != 7, "0" + digits)  # 5 March 1985 as 3051985
    length = int(digits.str.len().mode()[0])
    if length not in _FORMS or len(digits) < 2:
        return False
    for form in _FORMS[length]:
        found = pd.to_datetime(digits, format=form, errors="coerce")
        if (found.dt.year.between(1900, 2099)).mean() >= NEARLY_ALL:
            return True
    return False


def _are_days(values: np.ndarray, name: str) -> bool:
    """Return whether numbers are days of any century: whole days in seconds, or days of a column with such a name."""
    seconds = values / next((unit for unit in UNITS if np.abs(values).max() <= _CENTURY * unit), UNITS[-1])
    distinct = len(np.unique(values))
    if distinct >= FEWEST and (seconds % _DAY == 0).mean() >= NEARLY_ALL and np.abs(seconds).max() <= _CENTURY:
        return bool(np.ptp(seconds) >= FEWEST * _DAY)
    if not is_called(_DAY_NAME, name):
        return False
    middle = float(np.median(np.abs(values)))
    return distinct > 2 and (middle > _CENTURY / 100 or (_DAYS[0] < middle < _DAYS[1] and not _are_years(values)))


def _are_years(values: np.ndarray) -> bool:
    return bool(((values % 1 == 0) & (values >= 1850) & (values <= 2100)).mean() >= NEARLY_ALL)


def _are_recent(values: np.ndarray) -> bool:
    for unit in UNITS:
        for low, high in (_RECENT, _BEFORE):
            inside = values[(values >= low * unit) & (values <= high * unit)]
            if len(inside) >= NEARLY_ALL * len(values) and len(np.unique(inside)) >= FEWEST:
                whole, decade = (inside % 1 == 0).all(), np.ptp(inside) <= _DECADE * unit
                if (whole and decade) or ((whole or decade) and low == _RECENT[0]):
                    return True
    return False


def _are_serials(values: np.ndarray, name: str) -> bool:
    """Return whether numbers are days of a spreadsheet: by their name, or because their parts of a day are seconds."""
    inside = values[(values >= _SERIAL[0]) & (values <= _SERIAL[1])]
    if len(inside) < NEARLY_ALL * len(values):
        return False
    if is_called(_NAME, name):
        return True
    seconds, decimals = inside * 86_400, inside * 1e5
    exact = np.abs(seconds - np.rint(seconds)) < 1e-4
    short = np.abs(decimals - np.rint(decimals)) < 1e-5  # at most five decimals: a measurement can have these
    return bool(exact.mean() >= NEARLY_ALL and short.mean() < 0.5 and len(np.unique(inside)) >= FEWEST)


def in_long_sequences(steps: np.ndarray, values: Sized) -> bool:
    """Return whether sequences have about ten rows or more: in short ones, values rise by chance."""
    return len(steps) >= LONG * len(values)


def is_called(pattern: re.Pattern[str], name: str) -> bool:
    """Return whether a name holds a word, also in camelCase."""
    return pattern.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)) is not None
