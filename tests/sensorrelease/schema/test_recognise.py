"""Names, codes, places and times are found in many spellings, and plain words are not."""

import pytest

from sensorrelease.schema.recognise import Names, code_in, header_kind, is_plain

CODES = [
    "70B3D57ED00A1F03", "A4C1380F2B03", "a4:c1:38:0f:2b:77", "a4c1.380f.2b77", "490154203237539", "49-015420-323703-8",
    "SN-4711-0807", "MOS2D17170005", "M-ZQ 1185", "Annas-iPhone-5", "Eva's Galaxy", "2001:db8::4", "10.0.0.17",
    "ann@example.org", "https://x.example/u/1", "8FWH4HX8+6X", "u281z7", "48.137,11.575", "48°08'13\"N",
    "geo:48.1,11.5",    "2026-11-27", "14:05", "27.11.26", "2024-W05-3", "+49 89 1234567", "filled.count.soap", "4711",
    "e2c56db5-dffb-48d2-b060-d0f5a7109603", "QW5uYSBTY2htaWR0a2U3",
    "Dr. Huber", "Frau Prof. Kraus", "Mr Smith", "Hauptstr. 12", "Ringweg 3a", "Lange Straße 7", "221B Baker Street",
]  # fmt: skip
WORDS = [
    "kitchen",
    "ACORN-E",
    "eco",
    "20-30",
    "level 3",
    "1.5",
    "(0, 5]",
    "walking upstairs",
    "B2",
    "802.11",
    "tv_on",
    "dry",
    "2 way valve",
    "street",
    "road bike",
]


@pytest.mark.parametrize("text", CODES)
def test_codes_are_found(text):
    assert code_in(text)


@pytest.mark.parametrize("text", WORDS)
def test_words_are_no_codes(text):
    assert not code_in(text)


@pytest.mark.parametrize(
    "name", ["lat_e6", "Longitud", "breite", "gps_1", "dev_eui", "birthDate", "Date", "note", "mm"]
)
def test_headers_say_what_identifies(name):
    assert header_kind(name)


@pytest.mark.parametrize(
    "name",
    [
        "latency",
        "lateral_acc",
        "lon_vel",
        "power",
        "identity_loss",
        "timer",
        "acc x",
        "noise",
        "raw_acc:mean",
        "Temp, °C",
    ],
)
def test_headers_of_measurements_say_nothing(name):
    assert not header_kind(name)
    assert is_plain(name)


@pytest.mark.parametrize("label", ["user 1", "device", "P", "Other", "household 7"])
def test_labels_that_name_nobody_are_not_looked_for(label):
    names = Names([label, "user 2", "household 8", "user 3", "household 9"])
    assert not any(map(names.find, ["the user", "household", "device of others", "a 1 b", "pump", "other"]))


@pytest.mark.parametrize(
    "text", ["P03", "lamp of p03", "P03s lamp", "lamp_P03", "bobs old phone", "10455", "badge-10455"]
)
def test_labels_are_found_as_words(text):
    assert Names(["P03", "P04", "bob", "10455", "Q"]).find(text)


@pytest.mark.parametrize(
    ("label", "text"), [("佐藤", "佐藤の部屋"), ("佐藤 健", "佐藤温度"), ("김민준", "김민준폰"), ("สมชาย", "ห้องสมชาย")]
)
def test_names_are_found_where_words_are_written_without_spaces(label, text):
    """A name of two characters within a level left: words were looked for, and whole labels of five letters."""
    names = Names([label, "鈴木", "高橋", "이서연"])
    assert names.find(text)
    assert not names.find("台所の温度")


@pytest.mark.parametrize("text", ["bobbin", "P031", "104551", "quit", "lamp"])
def test_labels_are_not_found_within_other_words(text):
    assert not Names(["P03", "P04", "bob", "10455", "Q"]).find(text)
