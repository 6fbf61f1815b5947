"""What identifies people is planted into a table in 115 ways: a drafted schema lets none of it leave."""

import base64
import codecs
import hashlib
import unicodedata

import numpy as np
import pandas as pd
import pytest

from sensorrelease.schema import draft, read
from sensorrelease.schema.identify import judge_values

N, USERS = 900, 30
FIRST = ["anna", "bela", "carlo", "doris", "emil", "frida", "gustav", "hanna", "ivan", "jutta"]
LAST = ["schmidtke", "mueller", "kowalski", "obermaier", "zielinski", "nakamura", "haugland", "petrescu", "oconnor"]
LAST += ["lindqvist"]
DRAW = np.random.default_rng(0)
WHO = DRAW.integers(0, USERS, N)  # the user of each row
ROOM = DRAW.integers(0, 3, N)
NAMES = [f"{FIRST[i % 10].title()} {LAST[(i * 3 + i // 10) % 10].title()}" for i in range(USERS)]
LOAD = (1000 + 300 * ROOM + DRAW.normal(0, 80, N)).round(1)
MODE = np.where(DRAW.random(N) < 0.8, np.array(["eco", "boost", "auto"])[ROOM], "auto")
ROOMS = np.array(["kitchen", "hall", "bath"])[ROOM]
T0 = 1_700_000_000
SECONDS = DRAW.integers(0, 30 * 86400, N) + T0
MOMENTS = pd.to_datetime(DRAW.integers(0, 300 * 86400, N) + T0, unit="s")
LAT = 48.1 + WHO * 0.01 + DRAW.normal(0, 0.0005, N)
LON = 11.5 + (WHO * 7 % 30) * 0.01 + DRAW.normal(0, 0.0005, N)
GAUSS = DRAW.normal(20, 5, N)
ANY = DRAW.integers(0, USERS, N)  # another user
RARELY = DRAW.random(N) < 0.05
NICKS = [*"ABCDEFGHIJKLMNO"]
MONTHS = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September"]
MONTHS += ["Oktober", "November", "Dezember"]


def table(names=NAMES, **columns):
    """Return the table with columns replaced, or further ones."""
    known = {"load": LOAD, "lux": DRAW.integers(0, 400, N) + ROOM * 100, "mode": MODE, "room": ROOMS}
    return pd.DataFrame({**known, "owner": np.array(names)[WHO], **columns})


def pick(count, low, high):
    """Return numbers of which each user has so many."""
    codes = DRAW.integers(low, high, (USERS, count))
    return [int(codes[i, k]) for i, k in zip(WHO, DRAW.integers(0, count, N), strict=True)]


def each(function):
    return [function(int(i)) for i in WHO]


def running():
    counts = dict.fromkeys(range(USERS), 0)
    out = []
    for i in WHO:
        counts[i] += 1
        out.append(1_000_000 * (100 + int(i)) + counts[i])
    return out


def degrees(value):
    return f"{int(value)}°{int(value % 1 * 60):02d}'{int(value * 3600 % 60):02d}\""


def geohash(lat, lon):
    return "u28" + "".join("0123456789bcdefghjkmnpqrstuvwxyz"[int(v * 1000) % 32] for v in (lat, lon, lat * lon))


NOISY = np.where(DRAW.random(N) > 0.12, WHO, ANY)
TOKENS = {"tens": (WHO // 6).astype(str), "units": [f"s{i % 6}" for i in WHO]}
EXTRA = {  # one more column
    "hash with salt": [hashlib.sha256(f"{NAMES[i]}{k}".encode()).hexdigest()[:8] for k, i in enumerate(WHO)],
    "hash": each(lambda i: hashlib.sha256(NAMES[i].encode()).hexdigest()[:10]),
    "base64": each(lambda i: base64.b64encode(NAMES[i].encode()).decode()),
    "serial with a counter": running(),
    "serial with random digits": (100 + WHO) * 1000 + DRAW.integers(0, 1000, N),
    "serial as text": [f"A{100 + i}-{k}" for i, k in zip(WHO, DRAW.integers(1000, 1400, N), strict=True)],
    "five cards": pick(5, 4 * 10**15, 5 * 10**15),
    "eight cards": pick(8, 4 * 10**15, 5 * 10**15),
    "code with three percent noise": [f"u{i}" for i in np.where(DRAW.random(N) > 0.06, WHO, ANY)],
    "code with noise as text": [f"u{i}" for i in NOISY],
    "code with noise as number": NOISY * 7919 % 10007,
    "nickname of two": each(lambda i: f"{NICKS[i // 2]}owl"),
    "nickname of three": each(lambda i: f"{NICKS[i // 3]}owl"),
    "reversed name": each(lambda i: NAMES[i][::-1]),
    "rot13": each(lambda i: codecs.encode(NAMES[i], "rot13")),
    "words of a time": [f"{x.day}. {MONTHS[x.month - 1]} {x.year} {x:%H:%M}" for x in MOMENTS],
    "ISO week": [f"{x.isocalendar()[0]}-W{x.isocalendar()[1]:02d}-{x.isocalendar()[2]}" for x in MOMENTS],
    "weekday and time": [f"{x:%a %H:%M}" for x in MOMENTS],
    "birth date of two": 19500101 + (WHO // 2) * 10107,
    "degrees and minutes": [f"{degrees(a)}N {degrees(b)}E" for a, b in zip(LAT, LON, strict=True)],
    "geohash": [geohash(a, b) for a, b in zip(LAT.round(2), LON.round(2), strict=True)],
    "plus code": [f"8FWH{int(a * 100) % 97:02d}{int(b * 100) % 97:02d}+6X" for a, b in zip(LAT, LON, strict=True)],
    "three words": [f"filled.count.{['soap', 'roof', 'tree'][k]}{i}" for i, k in zip(WHO, ANY % 3, strict=True)],
    "IPv4 as integer": (10 << 24) + (WHO << 8) + DRAW.integers(1, 20, N),
    "IPv4 scattered": pick(20, 2**24, 2**32),
    "MAC": [f"{one:012x}" for one in pick(6, 0, 2**48)],
    "MAC as integer": pick(8, 0, 2**48),
    "licence plate": [f"M-AB {1000 + i * 10 + k}" for i, k in zip(WHO, ANY % 6, strict=True)],
    "social security": [f"{a}-{b}-{c}" for a, b, c in DRAW.integers([100, 10, 1000], [900, 99, 9999], (N, 3))],
    "telephone": [f"089 {1234000 + i * 10 + k}" for i, k in zip(WHO, ANY % 6, strict=True)],
    "URL": [f"https://x.example/u/{10455 + i * 37}/p{k}" for i, k in zip(WHO, ANY % 8, strict=True)],
    "user agent": [f"Mozilla/5.0 dev{i * 13 % 97:02x}{k}" for i, k in zip(WHO, ANY % 6, strict=True)],
    "network of others": np.where(ANY % 5 == 0, [f"FRITZ!Box 7590 {NAMES[i].split()[1]}" for i in ANY], "eduroam"),
    "handle": [f"@{NAMES[i].split()[0].lower()}{k}{i}" for i, k in zip(WHO, ANY % 6, strict=True)],
    "IMEI": 350000000000000 + WHO.astype(np.int64) * 10**9 + DRAW.integers(0, 10**9, N),
    "customer number": [f"K-{i * 6 + k:06d}" for i, k in zip(WHO, ANY % 6, strict=True)],
}
TIMES = {
    "FILETIME": (SECONDS + 11644473600) * 10**7,
    "ticks": (SECONDS + 62135596800) * 10**7,
    "since 2001": SECONDS - 978307200,
    "minutes": SECONDS // 60,
    "hours": SECONDS // 3600,
    "days": SECONDS // 86400,
    "Julian day": SECONDS / 86400 + 2440587.5,
    "microseconds": SECONDS * 10**6 + 123456,
    "nanoseconds": SECONDS * 10**9 + 7,
    "deciseconds": SECONDS * 10,
    "fraction": SECONDS + 0.25,
    "since 1900": SECONDS + 2208988800,
    "since boot": SECONDS - T0,
    "time of week": SECONDS % 604800,
    "thousands": SECONDS / 1000,
    "hexadecimal": [hex(one) for one in SECONDS],
    "datenum": SECONDS / 86400 + 719529,
    "negative": -SECONDS,
}
SPELL = {
    "same": str,
    "upper": str.upper,
    "last, first": lambda x: ", ".join(x.split()[::-1]),
    "last": lambda x: x.split()[1],
    "initial": lambda x: f"{x[0]}. {x.split()[1]}",
    "joined": lambda x: x.replace(" ", "").lower(),
    "point": lambda x: x.replace(" ", ".").lower(),
    "underscore": lambda x: x.replace(" ", "_"),
    "zero width": lambda x: f"{x[:3]}\u200b{x[3:]}",
    "soft hyphen": lambda x: f"{x[:3]}\u00ad{x[3:]}",
    "full width": lambda x: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in x),
    "Cyrillic": lambda x: x.translate(str.maketrans("aeo", "\u0430\u0435\u043e")),
    "base64": lambda x: base64.b64encode(x.encode()).decode(),
    "URL": lambda x: x.replace(" ", "%20"),
    "HTML": lambda x: f"&#{ord(x[0])};{x[1:]}",
    "digits": lambda x: x.replace(" ", "") + "77",
    "no-break space": lambda x: x.replace(" ", "\u00a0"),
    "two spaces": lambda x: x.replace(" ", "  "),
    "middle": lambda x: f"{x.split()[0]} J. {x.split()[1]}",
}
GROUPS = {  # several columns together
    "tens and units": TOKENS,
    "first and last": {"vorname": each(lambda i: NAMES[i].split()[0]), "nachname": each(lambda i: NAMES[i].split()[1])},
    "two numbers": {"a_code": WHO // 6, "b_code": WHO % 6},
    "bits": {f"bit{k}": ((WHO >> k) & 1).astype(bool) for k in range(5)},
    "parts of a date": {
        "mo": MOMENTS.month, "dd": MOMENTS.day, "hh": MOMENTS.hour, "mi": MOMENTS.minute, "ss": MOMENTS.second
    },
    "microdegrees": {"lat_e6": (LAT * 1e6).astype(int), "lon_e6": (LON * 1e6).astype(int)},
    "commas": {"lat": [f"{v:.5f}".replace(".", ",") for v in LAT], "lon": [f"{v:.5f}".replace(".", ",") for v in LON]},
    "UTM": {"E": 690000 + WHO * 1000.5 + GAUSS, "N": 5330000 + (WHO * 7 % 30) * 1000.5 + GAUSS},
    "gaps": {f"s{k}": np.where((WHO >> k) & 1, DRAW.normal(size=N), np.nan) for k in range(5)},
}  # fmt: skip
PAIRS = "gps_1 gps_2,x y,breite laenge,pos_a pos_b,lat lon,LAT_DEG LON_DEG,Latitud Longitud,homeLat homeLon,phi lambda"
GROUPS |= {pair: dict(zip(pair.split(), (LAT, LON), strict=True)) for pair in PAIRS.split(",")}
NAMED = {  # texts in which labels of other users stand
    "composed": ([x.replace("ue", "ü") + " Jörg" for x in NAMES], lambda x: unicodedata.normalize("NFD", x)),
    "sharp s": ([f"{x.split()[0]} Weiß{x.split()[1].lower()}" for x in NAMES], str.upper),
    "two letters": ([f"{chr(65 + i % 26)}{chr(90 - i)}" for i in range(USERS)], lambda x: f"{x} lamp"),
    "digits": ([str(10455 + i * 37) for i in range(USERS)], lambda x: f"badge {x}"),
}  # fmt: skip


def released(frame, user="owner"):
    """Return the columns that leave, under their titles, as they leave."""
    schema = draft(frame, "room", user)
    found = read(frame, schema).frame
    out = {}
    for field in schema.released:
        cells = found[field.name]
        out[field.title] = (cells / field.step).round() * field.step if field.is_number else cells
    return pd.DataFrame(out), schema


@pytest.mark.first(6)
@pytest.mark.parametrize("name", [*EXTRA])
def test_codes_of_users_do_not_leave(name):
    assert "extra" not in released(table(extra=EXTRA[name]))[0]


@pytest.mark.first(3)
@pytest.mark.parametrize("name", [*TIMES])
def test_times_in_any_unit_do_not_leave(name):
    assert "extra" not in released(table(extra=TIMES[name]))[0]


@pytest.mark.first(3)
@pytest.mark.parametrize("name", [*SPELL])
def test_names_of_others_within_texts_do_not_leave(name):
    texts = [SPELL[name](NAMES[i]) if rare else "lamp" for i, rare in zip(ANY, RARELY, strict=True)]
    assert "extra" not in released(table(extra=texts))[0]


@pytest.mark.first(3)
@pytest.mark.parametrize("name", [*GROUPS])
def test_columns_that_identify_together_do_not_leave(name):
    assert not {*GROUPS[name]} & {*released(table(**GROUPS[name]))[0]}


@pytest.mark.parametrize("name", [*NAMED])
def test_labels_of_any_kind_are_found_in_texts(name):
    labels, spell = NAMED[name]
    texts = [spell(labels[i]) if rare else "lamp" for i, rare in zip(ANY, RARELY, strict=True)]
    assert "extra" not in released(table(labels, extra=texts))[0]


HIDDEN = {  # numbers that can leave, without what hides in their last digits
    "low bits": LOAD + (WHO + 1) * 1e-7,
    "third decimal": np.round(GAUSS, 1) + (WHO + 1) / 1e4,
    "number of digits": [float(f"{x:.{3 + i % 10}f}") for x, i in zip(GAUSS, WHO, strict=True)],
    "payload of NaN": np.where(ANY % 2, (0x7FF8000000000000 + WHO + 1).astype(np.uint64).view(float), GAUSS),
    "negative zero": np.where(WHO % 2 == 0, -0.0, 0.0) + (ANY % 2),
}


@pytest.mark.parametrize("name", [*HIDDEN])
def test_codes_in_the_digits_of_numbers_are_rounded_away(name):
    out, schema = released(table(extra=HIDDEN[name]))
    left = out["extra"]
    bits = left.to_numpy().view(np.uint64)
    assert judge_values(left, pd.Series(np.array(NAMES)[WHO]), schema.field("extra").step) is None
    assert len(np.unique(bits[left.isna()])) <= 1
    assert len(np.unique(bits[left == 0])) <= 1


def cased(text, code):
    return "".join(mark.upper() if (code >> at) & 1 else mark for at, mark in enumerate(text))


SPELLED = {
    "spaces": [m + " " * (i % 6) for m, i in zip(MODE, WHO, strict=True)],
    "zero width": [m + "\u200b" * (i % 6) for m, i in zip(MODE, WHO, strict=True)],
    "case": [cased(m, int(i)) for m, i in zip(MODE, WHO, strict=True)],
}  # fmt: skip


@pytest.mark.parametrize("name", [*SPELLED])
@pytest.mark.parametrize("column", ["mode", "room"])
def test_spellings_of_levels_become_one(name, column):
    out, _ = released(table(**{column: SPELLED[name]}))
    assert out[column].nunique() == 3


@pytest.mark.parametrize("label", [f"room of {NAMES[3][:3]}\u200b{NAMES[3][3:]}", f"room of {NAMES[3].split()[1]}"])
def test_a_level_of_the_task_that_names_a_user_does_not_leave(label):
    out, _ = released(table(room=np.where(ANY < 9, label, ROOMS)))
    assert {*out["room"]} == {"kitchen", "hall", "bath", "other"}


def test_headers_that_name_users_do_not_leave():
    headers = [f"lamp of {NAMES[k].split()[1]}, {NAMES[k].split()[0]}" for k in range(3)]
    badges = [str(10455 + i * 37) for i in range(USERS)]
    out, _ = released(table(**dict.fromkeys(headers, ANY % 9)))
    assert not {*headers} & {*out}
    out, _ = released(table(badges, **{f"lamp of {badges[0]}": ANY % 9}))
    assert f"lamp of {badges[0]}" not in out


def test_bytes_lists_records_and_unused_categories_do_not_leave(tmp_path):
    nested = {"bytes": [b"x"] * N, "list": [["x"]] * N, "record": [{"name": "x"}] * N}
    frame = table(mode=pd.Categorical(MODE, categories=["SECRET", "eco", "boost", "auto"]), **nested)
    frame.to_parquet(tmp_path / "home.parquet")
    out, schema = released(tmp_path / "home.parquet")
    assert not {*nested} & {*out}
    assert "SECRET" not in str(schema)


def test_the_name_of_the_file_does_not_leave(tmp_path):
    table().to_csv(tmp_path / "Schmidtke_home.csv", index=False)
    assert "chmidtke" not in str(released(tmp_path / "Schmidtke_home.csv")[1])


def test_an_index_of_users_is_a_column(tmp_path):
    table().set_index(["owner", "room"]).to_parquet(tmp_path / "home.parquet")
    assert [*released(tmp_path / "home.parquet")[0]] == ["load", "lux", "mode", "room"]
