"""The smart home's sensors against the printed tables."""

import pandas as pd

from sensorprivacy.report import judge
from sensorprivacy.report.paper2.smart_home import sensor_claims

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
