"""The readers joined to the store: one function a set, whose keyword parameters are the set's options."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from sensorprivacy.datasets import store
from sensorprivacy.datasets.derived import derived
from sensorprivacy.datasets.files import OwnFiles
from sensorprivacy.datasets.finding import Located
from sensorprivacy.datasets.readers import mobiact, motion
from sensorprivacy.datasets.readers.bits import header_bits
from sensorprivacy.datasets.readers.flows import find_flows, flow_features
from sensorprivacy.datasets.readers.iot23 import Form, iot23_problem
from sensorprivacy.datasets.readers.opportunity import ChannelSet, opportunity_problem
from sensorprivacy.datasets.readers.sentinel import Traffic, packet_features, read_captures
from sensorprivacy.datasets.readers.traffic import amir_problem, cic_problem, service_problem
from sensorprivacy.datasets.readers.windowing import Windowing
from sensorprivacy.datasets.types import Problem, Windows
from sensorprivacy.progress import tqdm

SentinelUser = Literal["address", "subnet", "person", "capture"]
_LABELS = ("device", "person", "capture", "address", "subnet")


def _choice(option: str, value: str, of: Any) -> None:
    if value not in get_args(of):
        raise ValueError(f"{option} {value!r} is unknown, one of {', '.join(get_args(of))}")


def _source(name: str, path: str | Path | None, progress: bool) -> tuple[Located | OwnFiles, dict[str, Any]]:
    """Return where the files are, and what a run writes down about that."""
    if path is None:
        located = store.fetch(name, progress=progress)
        return located, {"set": located.name, "form": located.form, "digest": located.digest}
    own = OwnFiles(Path(path).expanduser())
    if not own.path.exists():
        raise FileNotFoundError(f"no file or folder {own.path}")
    return own, {"set": name, "form": "own", "digest": own.digest}


def _traffic(source: Located | OwnFiles, progress: bool) -> Traffic:
    members = [member for member in source.members if member.endswith(".pcap")]
    bar = tqdm(members, "IoT Sentinel", unit="capture", disable=not progress)
    return read_captures((member, source.read(member)) for member in bar)


def _sentinel(
    name: str,
    make: Callable[[Traffic], pd.DataFrame],
    users: SentinelUser,
    path: str | Path | None,
    progress: bool,
    **choices: Any,
) -> Problem:
    """Return one of the three forms of the captures: device = task, capture = group."""
    _choice("users", users, SentinelUser)
    source, provenance = _source("iot-sentinel", path, progress)
    table = derived(name, lambda: make(_traffic(source, progress)), digest=source.digest, **choices)
    return Problem(
        table.drop(columns=list(_LABELS)),
        task=table["device"],
        users=table[users],
        # whoever has to tell captures apart cannot be tested on captures that the training rows lack
        groups=None if users == "capture" else table["capture"],
        name=name,
        provenance={**provenance, **choices, "users": users},
    )


def _labelled(features: pd.DataFrame, traffic_: Traffic, rows: np.ndarray) -> pd.DataFrame:
    return pd.concat([features.reset_index(drop=True), traffic_.labels(rows)[list(_LABELS)]], axis=1)


def iot_sentinel(*, users: SentinelUser = "address", path: str | Path | None = None, progress: bool = True) -> Problem:
    """Return the 186,318 IPv4 packets of IoT Sentinel with 22 features: device folder = task, source address = user.

    Parameters
    ----------
    users : {"address", "subnet", "person", "capture"}
        Whom the adversary looks for: the source address (426), the address with public ones grouped by /22 (333, the
        number that paper 1 prints), the person who set the device up (3), or the capture (550).
    path : str or path, optional
        Folder with the captures.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Problem
        Features as `sentinel.packet_features` defines them; groups: captures.
    """

    def make(found: Traffic) -> pd.DataFrame:
        rows = np.flatnonzero(found.frames.headers["ipv4"].to_numpy())
        return _labelled(packet_features(found.frames).iloc[rows], found, rows)

    return _sentinel("iot-sentinel", make, users, path, progress)


def iot_sentinel_flows(
    *, users: SentinelUser = "person", path: str | Path | None = None, timeout: float = 600.0, progress: bool = True
) -> Problem:
    """Return the flows of IoT Sentinel with 36 dense statistics (`flows.flow_features`).

    Parameters
    ----------
    users, path, progress
        See `iot_sentinel`; the address is that of the side that began the flow.
    timeout : float
        Seconds of silence after which a new flow begins.

    Returns
    -------
    Problem
        One row a flow of two packets or more; device = task; groups: captures. Rows are those of `iot_sentinel_bits`.
    """

    def make(found: Traffic) -> pd.DataFrame:
        flows = find_flows(found.frames, timeout)
        return _labelled(flow_features(found.frames, flows), found, flows.first)

    return _sentinel("iot-sentinel-flows", make, users, path, progress, timeout=timeout)


def iot_sentinel_bits(
    *,
    users: SentinelUser = "person",
    path: str | Path | None = None,
    timeout: float = 600.0,
    packets: int = 3,
    addresses: bool = False,
    constant: Literal["drop", "keep"] = "drop",
    progress: bool = True,
) -> Problem:
    """Return the flows of IoT Sentinel with the header bits of their first packets (`bits.header_bits`).

    Parameters
    ----------
    users, path, timeout, progress
        See `iot_sentinel_flows`.
    packets : int
        Packets of a flow that are kept.
    addresses : bool
        Keep the bits of the addresses.
    constant : {"drop", "keep"}
        What becomes of bits that are the same in all flows.

    Returns
    -------
    Problem
        int8 features -1, 0, 1; device = task; groups: captures. Rows are those of `iot_sentinel_flows`.
    """
    _choice("constant", constant, Literal["drop", "keep"])

    def make(found: Traffic) -> pd.DataFrame:
        flows = find_flows(found.frames, timeout)
        table = header_bits(found.frames, flows, packets, addresses)
        if constant == "drop":
            values = table.to_numpy()
            table = table.loc[:, (values != values[0]).any(axis=0)]
        return _labelled(table, found, flows.first)

    choices = {"timeout": timeout, "packets": packets, "addresses": addresses, "constant": constant}
    return _sentinel("iot-sentinel-bits", make, users, path, progress, **choices)


def cic_ids_2017(*, path: str | Path | None = None, progress: bool = True) -> Problem:
    """Return the web attacks of CIC-IDS 2017, see `traffic.cic_problem`."""
    source, provenance = _source("cic-ids-2017", path, progress)
    return cic_problem(source, provenance)


def iot_23(
    *,
    captures: Sequence[str] | None = None,
    form: Form = "auto",
    sample: int | None = None,
    seed: int = 42,
    path: str | Path | None = None,
    progress: bool = True,
) -> Problem:
    """Return the flows of IoT-23, see `iot23.iot23_problem`; ``path`` is a folder with any of the 23 captures."""
    source, provenance = _source("iot-23", path, progress)
    return iot23_problem(source, captures, form, sample, seed, provenance)


def opportunity(
    *, channels: ChannelSet = "as_printed", path: str | Path | None = None, progress: bool = True
) -> Problem:
    """Return Opportunity, see `opportunity.opportunity_problem`."""
    source, provenance = _source("opportunity", path, progress)
    return opportunity_problem(source, channels, progress, provenance)


def amir_netml(*, path: str | Path | None = None, progress: bool = True) -> Problem:
    """Return AMIR's device identification with dense statistics, see `traffic.amir_problem`."""
    source, provenance = _source("amir", path, progress)
    return amir_problem(source, "netml", provenance)


def amir_nprint(*, path: str | Path | None = None, progress: bool = True) -> Problem:
    """Return AMIR's device identification with header bits, see `traffic.amir_problem`."""
    source, provenance = _source("amir", path, progress)
    return amir_problem(source, "nprint", provenance)


def service_recognition(*, path: str | Path | None = None, progress: bool = True) -> Problem:
    """Return service recognition, see `traffic.service_problem`."""
    source, provenance = _source("service-recognition", path, progress)
    return service_problem(source, provenance)


def motionsense(
    *, length: int = 128, stride: int = 64, path: str | Path | None = None, progress: bool = True
) -> Problem:
    """Return 135 statistics of MotionSense's windows, six activities, 24 people; see `motion.dense_statistics`."""
    return _statistics("motionsense", length, stride, path, progress)


def smartwatch(*, length: int = 100, stride: int = 50, progress: bool = True) -> Problem:
    """Return 135 dense statistics of the smartwatch's 4,677 windows, seven exercises, 10 subjects."""
    return _statistics("smartwatch", length, stride, None, progress)


def _statistics(name: str, length: int, stride: int, path: str | Path | None, progress: bool) -> Problem:
    source, provenance = _source(name, path, progress)
    table = derived(
        f"{name}-statistics",
        lambda: motion.dense_statistics(_recordings(name, source, progress), length, stride),
        digest=source.digest,
        length=length,
        stride=stride,
    )
    return motion.statistics_problem(table, name, {**provenance, "length": length, "stride": stride})


def _recordings(name: str, source: Located | OwnFiles, progress: bool) -> motion.Recordings:
    return motion.read_motionsense(source, progress) if name == "motionsense" else motion.read_smartwatch(source)


def motionsense_windows(
    *,
    channels: motion.Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    activities: Sequence[str] = motion.WALKING,
    path: str | Path | None = None,
    progress: bool = True,
) -> Windows:
    """Return windows of MotionSense, see `motion.cut_windows`; trial is the set's own number, 11-16 the short ones."""
    source, provenance = _source("motionsense", path, progress)
    recordings = motion.read_motionsense(source, progress).of(activities)
    provenance = {**provenance, "whole set": motion.motionsense_counts(source)}
    return motion.cut_windows(recordings, channels, length, stride, windowing, provenance)


def smartwatch_windows(
    *,
    channels: motion.Channels = "magnitude",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "authors",
    activities: Sequence[str] = motion.EXERCISES,
    progress: bool = True,
) -> Windows:
    """Return windows of the smartwatch set, see `motion.cut_windows`; trial numbers the 140 series."""
    source, provenance = _source("smartwatch", None, progress)
    recordings = motion.read_smartwatch(source).of(activities)
    return motion.cut_windows(recordings, channels, length, stride, windowing, provenance)


def mobiact_windows(
    *,
    channels: motion.Channels = "raw",
    length: int = 128,
    stride: int = 10,
    windowing: Windowing = "file",
    activities: Sequence[str] = mobiact.ACTIVITIES,
    form: mobiact.Form = "annotated",
    rate: int = 200,
    path: str | Path | None = None,
    progress: bool = True,
) -> Windows:
    """Return windows of MobiAct, see `mobiact.read_mobiact` and `motion.cut_windows`."""
    source, provenance = _source("mobiact", path, progress)
    recordings = mobiact.read_mobiact(source, form, rate=rate, activities=activities, progress=progress)
    found = motion.cut_windows(recordings, channels, length, stride, windowing, provenance)
    return replace(found, provenance={**found.provenance, "rate": rate, "form": form})


#: Reader of each set; its keyword parameters are the options of `problem`.
PROBLEMS: dict[str, Callable[..., Problem]] = {
    "iot-sentinel": iot_sentinel,
    "iot-sentinel-flows": iot_sentinel_flows,
    "iot-sentinel-bits": iot_sentinel_bits,
    "cic-ids-2017": cic_ids_2017,
    "iot-23": iot_23,
    "opportunity": opportunity,
    "smartwatch": smartwatch,
    "motionsense": motionsense,
    "amir-netml": amir_netml,
    "amir-nprint": amir_nprint,
    "service-recognition": service_recognition,
}
#: The same for `windows`.
WINDOWS: dict[str, Callable[..., Windows]] = {
    "motionsense": motionsense_windows,
    "smartwatch": smartwatch_windows,
    "mobiact": mobiact_windows,
}
