"""Values for Tables 5 and 6 of paper 2, from the smart home's published list of sensors."""

import pandas as pd

from sensorprivacy.report.printed import printed_values

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
        with at least two of the three printed words. Timestamps and values are only in the sample tables.
    """
    return _records(sensors) | _summary(sensors)


def _records(sensors: pd.DataFrame) -> dict[str, str]:
    names = dict(zip(sensors["sensor_id"].astype(int), sensors["name"].str.strip(), strict=True))
    numbers = {_fold(name): str(number) for number, name in names.items()}
    ours: dict[str, str] = {}
    for row in _wide("5", "Sensor ID", "Name"):
        name, number = names.get(int(row["Sensor ID"])), numbers.get(_fold(row["Name"]))
        ours |= {f"{row['id']}-name": name} if name else {}
        ours |= {f"{row['id']}-sensor": number} if number else {}
    return ours


def _summary(sensors: pd.DataFrame) -> dict[str, str]:
    known = _described(sensors["name"].str.strip())
    columns = {"Sensor type": "type", "Object monitored": "object", "Location": "location"}
    ours: dict[str, str] = {}
    for row in _wide("6", *columns):
        agreed = [sum(_fold(row[column]) == _fold(one[word]) for column, word in columns.items()) for one in known]
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


def _fold(word: str) -> str:
    return "".join(letter for letter in str(word).lower() if letter not in " -_")
