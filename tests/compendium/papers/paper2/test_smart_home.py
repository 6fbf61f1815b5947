"""The smart home's sensors against the printed tables."""

import pandas as pd

from compendium.papers.paper2.smart_home import printed_readings, reading_claims, sensor_claims
from compendium.verdicts import judge

SENSORS = pd.DataFrame(
    {
        "sensor_id": [5887, 6222, 6223, 6220],
        "name": [
            "kitchen/stove/light   ",
            "bathroom/ambience/humidity",
            "bathroom/ambience/temperature",
            "balcon/door/contact",
        ],
    }
)


def test_a_sensor_answers_its_number_and_name():
    claims = sensor_claims(SENSORS)
    assert claims["2-T5-r2-name"] == "kitchen/stove/light"
    assert claims["2-T5-r2-sensor"] == "5887"
    assert "2-T5-r1-name" not in claims  # 5895 is not in this list
    assert not any(claim.endswith(("-value", "-timestamp")) for claim in claims)


def test_temperature_and_humidity_of_one_place_are_one_sensor():
    claims = sensor_claims(SENSORS)
    verdicts = judge(claims, run="t", unexplained="allow").set_index("claim_id")["verdict"]
    assert (verdicts[["2-T6-th01-type", "2-T6-th01-object", "2-T6-th01-location"]] == "exact").all()


def test_one_word_in_common_is_no_match():
    assert "2-T6-m06-type" not in sensor_claims(SENSORS[SENSORS["sensor_id"] == 5887])


def readings(*rows) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["sensor_id", "timestamp", "value"])
    return table.assign(timestamp=pd.to_datetime(table["timestamp"]))


def test_a_reading_at_the_printed_time_is_compared_and_another_one_decides_nothing():
    made = readings(
        (5887, "2020-07-18 15:55:00", 175), (5887, "2020-07-18 16:00:00", 170),
        (6253, "2020-07-28 16:00:00", 0), (6253, "2020-07-28 16:05:00", 1), (5896, "2020-07-28 16:05:00", 555),
    )  # fmt: skip
    ours, undecided = reading_claims(made)
    assert (ours["2-T5-r2-value"], ours["2-T5-r15-value"]) == (170, 0)
    verdicts = judge(ours, undecided=undecided, run="t", unexplained="allow").set_index("claim_id")["verdict"]
    assert verdicts.to_dict() == {
        "2-T5-r2-timestamp": "exact",
        "2-T5-r2-value": "differs",
        **dict.fromkeys(("2-T5-r15-timestamp", "2-T5-r15-value"), "undecided"),
    }
    assert "has no public reading at 2020-07-28 16:00:01" in undecided["2-T5-r15-value"]
    assert list(printed_readings(made).index) == ["2-T5-r2", "2-T5-r15"]  # 5896 has no reading before its printed time
