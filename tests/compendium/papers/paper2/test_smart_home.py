"""The smart home's sensors against the printed tables."""

import pandas as pd

from compendium.papers.paper2.smart_home import printed_readings, sensor_table

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


def test_a_sensor_answers_its_number_and_name(judged):
    found = judged("22_threeway_summary", {"sensors": SENSORS.assign(name=SENSORS["name"].str.strip())})
    assert found.loc["2-T5-r2-name", ["ours", "verdict"]].tolist() == ["kitchen/stove/light", "exact"]
    assert found.loc["2-T5-r2-sensor", ["ours", "verdict"]].tolist() == ["5887", "exact"]
    assert "2-T5-r1-name" not in found.index  # 5895 is not in this list


def test_temperature_and_humidity_of_one_place_are_one_sensor(judged):
    verdicts = judged("22_threeway_summary", {"table-6": sensor_table(SENSORS)})["verdict"]
    assert (verdicts[["2-T6-th01-type", "2-T6-th01-object", "2-T6-th01-location"]] == "exact").all()


def test_one_word_in_common_is_no_match():
    assert "M06" not in sensor_table(SENSORS[SENSORS["sensor_id"] == 5887]).index


def readings(*rows) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["sensor_id", "timestamp", "value"])
    return table.assign(timestamp=pd.to_datetime(table["timestamp"]))


def test_a_reading_at_the_printed_time_is_compared_and_another_one_decides_nothing(judged):
    made = readings(
        (5887, "2020-07-18 15:55:00", 175), (5887, "2020-07-18 16:00:00", 170),
        (6253, "2020-07-28 16:00:00", 0), (6253, "2020-07-28 16:05:00", 1), (5896, "2020-07-28 16:05:00", 555),
    )  # fmt: skip
    found = judged("22_threeway_summary", {"table-5": printed_readings(made)})
    verdicts = found["verdict"]
    assert found.loc[["2-T5-r2-value", "2-T5-r15-value"], "ours"].tolist() == ["170", "0"]
    assert verdicts.to_dict() == {
        "2-T5-r2-timestamp": "exact",
        "2-T5-r2-value": "differs",
        **dict.fromkeys(("2-T5-r15-timestamp", "2-T5-r15-value"), "undecided"),
    }
    assert "has no public reading at 2020-07-28 16:00:01" in found.loc["2-T5-r15-value", "reason"]
    assert list(printed_readings(made).index) == ["2-T5-r2", "2-T5-r15"]  # 5896 has no reading before its printed time
