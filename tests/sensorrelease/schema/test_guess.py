"""Texts are read as numbers only if it is clear which numbers they are."""

from collections import Counter

import pyarrow as pa
import pytest

from sensorrelease.schema.guess import ABSENT, absent_labels, guess_column, guess_texts, second_header, settle_commas

CLEAR = [
    (["1", "2.5", "-3e4"], {"decimalChar": "."}),
    (["1,5", "2"], {"decimalChar": ","}),
    (["1,234.5", "2.25"], {"decimalChar": ".", "groupChar": ","}),
    (["1.234,5", "2,25"], {"decimalChar": ",", "groupChar": "."}),
    (["1 234.5", "7"], {"decimalChar": ".", "groupChar": " "}),
    (["\u22121.5", "2"], {"decimalChar": "."}),
    (["21.5 °C", "3 °C"], {"unit": "°C", "bareNumber": False}),
]


@pytest.mark.parametrize(("texts", "keys"), CLEAR)
def test_the_way_that_fits_all_numbers_is_declared(texts, keys):
    found = guess_texts(Counter(texts))
    assert found.keys["type"] == "number"
    assert keys.items() <= found.keys.items()
    assert not found.remark


@pytest.mark.parametrize("texts", [["0100", "7"], ["1" * 16], ["eco", "auto"], [], ["2024-01-02"], ["5:32", "6:01"]])
def test_labels_and_other_texts_stay_texts(texts):
    assert guess_texts(Counter(texts)).keys["type"] == "string"


def test_the_comma_is_settled_by_other_columns():
    for other, keys in (("2,25", {"decimalChar": ","}), ("2.25", {"groupChar": ","})):
        guesses = [guess_texts(Counter(["1,319", "936"])), guess_texts(Counter([other]))]
        assert guesses[0].odd == "1,319"
        settle_commas(guesses)
        assert keys.items() <= guesses[0].keys.items()
        assert bool(guesses[0].remark) == ("groupChar" in keys)


def test_words_among_numbers_are_missing_if_they_are_few():
    cells = Counter({str(k): 1 for k in range(40)})
    assert guess_texts(cells + Counter(["off"])).keys["missingValues"] == [*ABSENT, "off"]
    assert guess_texts(cells + Counter(["7 kW"])).remark.endswith("but not '7 kW'")
    assert guess_texts(cells + Counter([f"word{chr(97 + k)}" for k in range(9)])).keys["type"] == "string"


def test_types_of_arrow_are_kept_and_roles_are_labels():
    for cells, kind in ((pa.array([1, 2]), "integer"), (pa.array([1.5]), "number"), (pa.array([True]), "boolean")):
        assert guess_column(cells, None).keys["type"] == kind
        assert guess_column(cells, "user").keys["type"] == "string"
    assert guess_column(pa.array([[1]]), None).keys == {}
    assert guess_column(pa.array(["1E5", "100000"]), "task").keys["type"] == "string"
    assert second_header({"load": pa.array(["1", "load"]), "room": pa.array(["hall", " room"])}) == 1
    assert second_header({"load": pa.array(["1", "load"]), "room": pa.array(["room", "hall"])}) is None


def test_labels_that_can_mean_missing_ones_are_named():
    assert absent_labels(["NA", "ann", "none"]).startswith("'NA', 'none' count as labels")
    assert not absent_labels(["ann"])
