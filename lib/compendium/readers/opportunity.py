"""Read Opportunity: body-worn sensors, in the format of the UCI archive."""

import io
import re
from typing import Literal

import numpy as np
import pandas as pd

from compendium.readers.files import Files
from sensorprivacy.checks import check_choice
from sensorprivacy.data import Problem
from sensorprivacy.progress import tqdm

_FILE = re.compile(r"(?P<recording>S(?P<subject>\d+)-(ADL\d+|Drill))\.dat$")
_WIDTH, _LOCOMOTION = 250, 243  # number of columns of a file; column of the label, counted from 0
_ACCELEROMETERS = ("RKN^", "HIP", "LUA^", "RUA_", "LH", "BACK", "RKN_", "RWR", "RUA^", "LUA_", "LWR", "RH")
_UNITS = ("BACK", "RUA", "RLA", "LUA", "LLA")
_IN_UNIT = (
    *(f"{sensor}{axis}" for sensor in ("acc", "gyro", "magnetic") for axis in "XYZ"),
    *(f"Quaternion{part}" for part in "1234"),
)
_IN_SHOE = (
    *(f"Eu{axis}" for axis in "XYZ"),
    *(f"{frame}_A{axis}" for frame in ("Nav", "Body") for axis in "xyz"),
    *(f"AngVel{frame}Frame{axis}" for frame in ("Body", "Nav") for axis in "XYZ"),
    "Compass",
)
BODY_CHANNELS = (
    *(f"Accelerometer {place} acc{axis}" for place in _ACCELEROMETERS for axis in "XYZ"),
    *(f"InertialMeasurementUnit {place} {what}" for place in _UNITS for what in _IN_UNIT),
    *(f"InertialMeasurementUnit {shoe} {what}" for shoe in ("L-SHOE", "R-SHOE") for what in _IN_SHOE),
)
LOCOMOTION = {0: "none", 1: "stand", 2: "walk", 4: "sit", 5: "lie"}
ChannelSet = Literal["as_printed", "body"]


def opportunity_problem(files: Files, *, channels: ChannelSet = "as_printed") -> Problem:
    """Return the problem on Opportunity: locomotion = task, person = user, recording = group.

    Parameters
    ----------
    files : Files
        Contains ``S<person>-ADL<n>.dat`` and ``S<person>-Drill.dat``: 250 columns separated by spaces, NaN = missing.
    channels : {"as_printed", "body"}
        ``body``: the 133 body-worn channels (12 accelerometers, 5 inertial units, 2 shoes). ``as_printed``: paper 1's
        135 columns. They begin with the number of the row in its file and its time in milliseconds; neither describes
        motion. (Inferred: the archive has 133 body-worn channels and a time, and the first two of the 135 columns have
        exactly the same entropy in the authors' notebook.)

    Returns
    -------
    Problem
        One row for each sample (30 Hz), float32; missing values are 0, as in paper 1.

    Raises
    ------
    ValueError
        If there is no such file, or one has another number of columns or an unknown label.

    References
    ----------
    Roggen et al., Collecting complex activity datasets in highly rich networked sensor environments, INSS 2010.
    """
    check_choice("channels", channels, ChannelSet)
    matches = ((_FILE.search(member), member) for member in files.members)
    found = sorted((match["recording"], match["subject"], member) for match, member in matches if match)
    if not found:
        raise ValueError("there is no file S<person>-ADL<n>.dat or S<person>-Drill.dat")
    parts = [_read(files.read(member), member) for _, _, member in tqdm(found, "Opportunity")]
    sizes = [len(part) for part in parts]
    table = pd.concat(parts, ignore_index=True)
    row = np.concatenate([np.arange(size, dtype=np.float32) for size in sizes])
    timed = pd.concat([pd.Series(row, name="row"), table], axis=1)
    features = timed[[*(["row", "MILLISEC"] if channels == "as_printed" else []), *BODY_CHANNELS]]
    return Problem(
        features,
        task=table["Locomotion"],
        users=pd.Series(np.repeat([f"S{subject}" for _, subject, _ in found], sizes)),
        groups=pd.Series(np.repeat([recording for recording, _, _ in found], sizes)),
        name="opportunity",
        provenance={"channels": channels},
    )


def _read(content: bytes, name: str) -> pd.DataFrame:
    """Return time, body-worn channels and locomotion of one file."""
    width = len(content.split(b"\n", 1)[0].split())
    if width != _WIDTH:
        raise ValueError(f"{name} has {width} columns, but the archive's files have {_WIDTH}")
    chosen = [*range(1 + len(BODY_CHANNELS)), _LOCOMOTION]
    table = pd.read_csv(io.BytesIO(content), sep=r"\s+", header=None, usecols=chosen, dtype=np.float32)
    table.columns = pd.Index(["MILLISEC", *BODY_CHANNELS, "Locomotion"])
    known = table["Locomotion"].map(LOCOMOTION)
    if known.isna().any():
        label = table["Locomotion"][known.isna()].iloc[0]
        raise ValueError(f"{name} has the unknown locomotion label {label}, known: {', '.join(map(str, LOCOMOTION))}")
    table[list(BODY_CHANNELS)] = table[list(BODY_CHANNELS)].fillna(0)
    return table.assign(Locomotion=known)
