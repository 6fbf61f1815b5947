"""Values for Tables 5 and 6 of paper 2, from the smart home's list of sensors and readings of four of them."""

from typing import Any

import pandas as pd

from compendium.verdicts.printed import printed_values, same_name

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


def sensor_claims(sensors: pd.DataFrame) -> dict[str, str]:
    """Return the cells of Tables 5 and 6 that a list of sensors contains.

    Parameters
    ----------
    sensors : pandas.DataFrame
        Columns ``sensor_id`` and ``name``; a name has the form ``location/object/measured``.

    Returns
    -------
    dict of str to str
        By claim id. Table 5: the sensor's number and name. Table 6: type, object and location of the sensor that agrees
        with at least two of the three printed words. For timestamps and values see `reading_claims`.
    """
    return _records(sensors) | _summary(sensors)


def printed_readings(readings: pd.DataFrame) -> pd.DataFrame:
    """Return for each printed reading of Table 5 our reading at its time, or the last one before.

    Parameters
    ----------
    readings : pandas.DataFrame
        Columns sensor_id, timestamp, value. About one reading in five minutes, picked from the sample tables.

    Returns
    -------
    pandas.DataFrame
        Index: the start of the claim ids. Columns sensor, printed_time, printed_value, time, value. Only sensors with
        readings.
    """
    rows = {}
    for row in _wide("5", "Sensor ID", "Timestamp", "Value"):
        time = pd.Timestamp(row["Timestamp"])
        own = readings[(readings["sensor_id"] == int(row["Sensor ID"])) & (readings["timestamp"] <= time)]
        if len(own):
            last = own.sort_values("timestamp").iloc[-1]
            rows[row["id"]] = (row["Sensor ID"], time, row["Value"], last["timestamp"], last["value"])
    columns = ["sensor", "printed_time", "printed_value", "time", "value"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("row")


def reading_claims(readings: pd.DataFrame) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the timestamps and values of Table 5 for sensors with readings.

    Parameters
    ----------
    readings : pandas.DataFrame
        As for `printed_readings`.

    Returns
    -------
    tuple of two dict
        Our timestamps and values by claim id; and the claims that readings every five minutes cannot decide, because
        none of them has the printed time.
    """
    ours: dict[str, Any] = {}
    undecided: dict[str, str] = {}
    for name, row in printed_readings(readings).iterrows():
        found = {f"{name}-timestamp": str(row["time"]), f"{name}-value": row["value"]}
        ours |= found
        if row["time"] != row["printed_time"]:
            why = f"no public reading at {row['printed_time']}: there is about one in five minutes"
            undecided |= dict.fromkeys(found, f"sensor {row['sensor']} has {why}")
    return ours, undecided


def _records(sensors: pd.DataFrame) -> dict[str, str]:
    names = dict(zip(sensors["sensor_id"].astype(int), sensors["name"].str.strip(), strict=True))
    numbers = {same_name(name): str(number) for number, name in names.items()}
    ours: dict[str, str] = {}
    for row in _wide("5", "Sensor ID", "Name"):
        name, number = names.get(int(row["Sensor ID"])), numbers.get(same_name(row["Name"]))
        ours |= {f"{row['id']}-name": name} if name else {}
        ours |= {f"{row['id']}-sensor": number} if number else {}
    return ours


def _summary(sensors: pd.DataFrame) -> dict[str, str]:
    known = _described(sensors["name"].str.strip())
    columns = {"Sensor type": "type", "Object monitored": "object", "Location": "location"}
    ours: dict[str, str] = {}
    for row in _wide("6", *columns):
        agreed = [
            sum(same_name(row[column]) == same_name(one[word]) for column, word in columns.items()) for one in known
        ]
        if max(agreed) >= 2:
            found = known[agreed.index(max(agreed))]
            ours |= {f"{row['id']}-{word}": found[word] for word in columns.values()}
    return ours


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


def _wide(table: str, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a printed table: the cells by column, and the common start of the claim ids in ``id``."""
    values = printed_values(2)
    values = values[(values["table"] == table) & values["column"].isin(columns)]
    values = values.assign(id=values["claim_id"].str.rsplit("-", n=1).str[0])
    wide = values.pivot_table(index="id", columns="column", values="printed", aggfunc="first", sort=False)
    return [dict(zip(row.index, map(str, row), strict=True)) for _, row in wide.reset_index().iterrows()]
