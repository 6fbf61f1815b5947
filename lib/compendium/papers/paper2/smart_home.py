"""Paper 2's smart home: Tables 5 and 6, from the owners' list of sensors and the public readings of four of them."""

import pandas as pd

from compendium.verdicts.printed import printed_table, same_name

_WORDS = ["type", "object", "location"]

# the owners name the measured quantity, the paper names the type of sensor
_TYPES = {
    "motion": "Motion",
    "light": "Light",
    "pressure": "Pressure",
    "contact": "Reed switch",
    "current": "Smart plug",
    "temperature": "Temperature & Humidity",
    "humidity": "Temperature & Humidity",
}


def printed_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Return for each printed reading of Table 5 our reading at its time, or the last one before.

    Parameters
    ----------
    readings : pandas.DataFrame
        Columns sensor_id, timestamp, value. About one reading in five minutes, picked from the sample tables.

    Returns
    -------
    pandas.DataFrame
        Index: the start of the claim ids. Columns sensor, printed_time, printed_value, time, value, undecided. Only
        sensors with readings. Readings every five minutes cannot decide a row if none of them has the printed time.
    """
    claims, rows = printed_table(2, "5", "claim_id")["Sensor ID"], {}
    for claim, (_, row) in zip(claims, printed_table(2, "5", "printed").iterrows(), strict=True):
        time = pd.Timestamp(row["Timestamp"])
        own = readings[(readings["sensor_id"] == int(row["Sensor ID"])) & (readings["timestamp"] <= time)]
        if len(own):
            last = own.sort_values("timestamp").iloc[-1]
            why = f"sensor {row['Sensor ID']} has no public reading at {time}: there is about one in five minutes"
            found = (row["Sensor ID"], time, row["Value"], last["timestamp"], last["value"])
            rows[claim.removesuffix("-sensor")] = (*found, "" if last["timestamp"] == time else why)
    columns = ["sensor", "printed_time", "printed_value", "time", "value", "undecided"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("row")


def sensor_table(sensors: pd.DataFrame) -> pd.DataFrame:
    """Return the sensors of Table 6 in the owners' list.

    Parameters
    ----------
    sensors : pandas.DataFrame
        Columns ``sensor_id`` and ``name``; a name has the form ``location/object/measured``.

    Returns
    -------
    pandas.DataFrame
        Index ``sensor``, the printed number. Type, object and location of the sensor that agrees with at least two of
        the three printed words.
    """
    known = _described(sensors["name"].str.strip())
    rows = {}
    for number, words in printed_table(2, "6", "printed").set_axis(_WORDS, axis=1).iterrows():
        agreed = [sum(same_name(words[word]) == same_name(one[word]) for word in _WORDS) for one in known]
        if max(agreed) >= 2:
            rows[number] = known[agreed.index(max(agreed))]
    return pd.DataFrame.from_dict(rows, orient="index", columns=_WORDS).rename_axis("sensor")


def _described(names: pd.Series) -> list[dict[str, str]]:
    """Return the sensors in the words of Table 6, where temperature and humidity of one place are one sensor."""
    found: list[dict[str, str]] = []
    for name in names:
        location, thing, measured = name.split("/")
        thing = f"{thing} contact" if measured == "contact" else thing
        one = {"type": _TYPES[measured], "object": thing, "location": location}
        if one not in found:
            found.append(one)
    return found
