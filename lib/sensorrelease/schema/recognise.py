"""Recognise names of users, codes, places and times in headers and levels, in many spellings.

No list is complete. So a draft also asks how well each column identifies the users, see `identify`.
"""

import base64
import binascii
import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from sensorrelease.schema.model import fold

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[^\W\d_]+|\d+")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_NOBODY = frozenset(
    "other others unknown none null nan n/a na missing guest user users all yes no on off true false device sensor "
    "subject person patient participant household home house room data".split()
)
_ALIKE = str.maketrans("аеорсухіјѕԁһαορτνικ", "aeopcyxijsdhaoptvik")  # letters of other scripts that look the same
_LEAST = 5  # letters of a name that is looked for within words
_SYLLABLE = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # no spaces between words, short names

_CODES = {
    "addresses": re.compile(r"@|://|www\.|\d ?°|(?:[0-9a-f]{2}[:-]){3}|(?:[0-9a-f]{0,4}:){3}", re.I),
    "streets": re.compile(
        r"(?:str\.|strasse|gasse|allee|platz|weg|street|road|avenue) ?\d|^\d+[a-z]? .*\b(?:street|st|road|rd|avenue)\b"
    ),
    "names of persons": re.compile(r"\b(?:dr|prof|mrs?|herrn?|frau)\b\.? [^\W\d_]{2}"),
    "times": re.compile(r"\d[:/]\d|\d[.-]\d+[.-]\d|\b\d{4}-?w\d", re.I),
    "numbers of devices or persons": re.compile(r"\d{4,}|(?:\d\D*){6,}|\+\d"),
    "codes": re.compile(
        r"(?<![^\W_])(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]{6,}|(?=\S*\d)[A-Za-z0-9+/_=-]{20,}|^\w+\.\w+\.\w+|[0-9a-f]{8,}",
        re.I,
    ),
    "names of devices of persons": re.compile(r"i-?phone|i-?pad|galaxy|macbook|airpods|pixel ?\d|['’]s[ _-]", re.I),
}
_MOTION = re.compile(r"acc|vel|speed|force|jerk|slip|error|std|var|_g(?:_|$)", re.I)
_HEADERS = {
    "places": "lat latitude latitud lon lng long longitude longitud breite breitengrad laenge länge laengengrad "
    "längengrad easting northing geohash gps utm position coordinates coords address adresse street strasse straße "
    "city postcode zip plz what3words pluscode location ort place homelat homelon lambda phi",
    "times": "time timestamp datetime date datum fecha epoch ts unixtime zeit uhrzeit dob birthday birthdate birth "
    "born geburtstag geburtsdatum geb year month day hour minute second week weekday jahr monat tag stunde minuten "
    "sekunden woche wochentag yy mm dd hh mi ss mo yyyy dow doy timeofday",
    "identifiers": "id ids uid uuid guid key index serial nr no number mac imei imsi iccid eui deveui ssid bssid ip "
    "host hostname plate kennzeichen phone telefon tel ssn iban card karte account konto token license licence",
    "names or free texts": "name vorname nachname firstname lastname surname nickname email mail comment comments note "
    "notes title titel description beschreibung bemerkung text message url link file filename path",
}
_SHORT = frozenset(
    "year month day hour minute second week no nr key text link file place card lambda phi mo mi ss dd hh mm yy".split()
)
_QUANTITIES = frozenset("byte bytes octets packets pkts bits size length volume energy power watts lux".split())
_HEADER_WORDS = {word: kind for kind, words in _HEADERS.items() for word in words.split()}
_PLAIN = re.compile(r"[^\W\d_][\w ./%²³°µ()\[\]*:,#+-]{0,39}")


def code_in(text: str) -> str:
    """Return which kind of identifying text a level holds, or an empty text.

    Examples
    --------
    >>> code_in("M-AB 1004"), code_in("kitchen")
    ('numbers of devices or persons', '')
    """
    plain = fold(text)
    return next((kind for kind, pattern in _CODES.items() if pattern.search(plain)), "")


def header_kind(name: str) -> str:
    """Return what the header of a column says that it holds, as far as it identifies, or an empty text.

    Examples
    --------
    >>> header_kind("homeLat"), header_kind("lat_acc"), header_kind("lux")
    ('places', '', '')
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    if _MOTION.search(apart):
        return ""
    parts = _PART.findall(apart.lower())
    words = [*parts, *_WORD.findall(name.lower())]
    found = [word for word in words if word in _HEADER_WORDS and (len(parts) <= 2 or word not in _SHORT)]
    return _HEADER_WORDS[found[0]] if found else ""


def is_quantity(name: str) -> bool:
    """Return whether the header of a column says that it measures or counts something.

    Examples
    --------
    >>> is_quantity("bytes_out"), is_quantity("serial")
    (True, False)
    """
    return not _QUANTITIES.isdisjoint(_PART.findall(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()))


def is_plain(name: str) -> bool:
    """Return whether a header can leave as it is: a short word without codes."""
    return _PLAIN.fullmatch(name) is not None and not code_in(name)


class Names:
    """The labels of users, to be found in other texts.

    Words that most labels share, such as "user", name nobody. Found are labels in any case, order and normal form,
    parts of names, numbers of three digits or more, and labels within words, URLs, HTML and base64.

    Parameters
    ----------
    labels : iterable of str
        One of each user.

    Examples
    --------
    >>> names = Names(["Anna Schmidtke", "Carlo Haugland"])
    >>> names.find("FRITZ!Box Schmidtke"), names.find("haugland%2C%20carlo"), names.find("lamp")
    (True, True, False)
    """

    def __init__(self, labels: Iterable[str]) -> None:
        people = [_skeleton(label) for label in labels if fold(label) not in _NOBODY]
        counts = Counter(word for label in people for word in {*_words(label)})
        most = max(1, len(people) // 2)
        self._words = {
            word
            for word, many in counts.items()
            if many <= most and word not in _NOBODY and (_weight(word) > 2 or (len(word) == 2 and not word.isdigit()))
        }
        self._words -= {
            word for word in self._words if _weight(word) < 3 and not any(word == label for label in people)
        }
        joined = {"".join(_PART.findall(label)) for label in people} | {*filter(_SYLLABLE.search, self._words)}
        self._joined = sorted(label for label in joined if _weight(label) >= _LEAST and not label.isdigit())
        self._within = re.compile("|".join(map(re.escape, self._joined))) if self._joined else None

    def find(self, text: str) -> bool:
        """Return whether a text names a user."""
        for form in _forms(text):
            words = {*_words(form)}
            if words & self._words or {word.removesuffix("s") for word in words if len(word) > 3} & self._words:
                return True
            if self._within is not None and self._within.search("".join(_PART.findall(form))):
                return True
        return False


def _weight(text: str) -> int:
    return len(text) + 2 * len(_SYLLABLE.findall(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " ")) + [part for part in _PART.findall(text) if len(part) > 2]


def _skeleton(text: str) -> str:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return fold(apart).translate(_ALIKE)


def _forms(text: str) -> Iterator[str]:
    """Yield the plain forms that a text can stand for."""
    for plain in dict.fromkeys((text, unquote(text), html.unescape(text))):
        yield _skeleton(plain)
        yield fold(plain).translate(_ALIKE)
    for coded in _BASE64.findall(text):
        try:
            yield _skeleton(base64.b64decode(coded + "=" * (-len(coded) % 4), altchars=b"-_").decode())
        except (binascii.Error, UnicodeError):
            continue
