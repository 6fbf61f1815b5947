"""Read IoT Sentinel: 550 captures of 31 smart-home devices during set-up, as packets, as flows and as header bits.

The three forms of the same traffic compare dense and sparse features (paper 1, section 5.4.2) on real data: 22 features
of each packet (`packets`), 36 statistics of each flow (`flows`), and thousands of header bits of each flow (`bits`).
"""

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

import numpy as np
import pandas as pd

from compendium.readers.cache import derived
from compendium.readers.files import Files
from compendium.readers.flows import find_flows, flow_features
from compendium.readers.packets import header_bits, packet_features
from compendium.readers.pcap import Frames, address_text, read_frames
from sensorprivacy.data import Problem
from sensorprivacy.progress import tqdm

User = Literal["address", "subnet", "person", "capture"]
_LABELS = ["device", "person", "capture", "address", "subnet"]
_CAPTURE = re.compile(r"(?P<device>[^/]+)/Setup-(?P<person>[^-/]+)-(?P<number>\d+)-STA\.pcap$")


@dataclass(frozen=True, eq=False)
class Traffic:
    """Frames of the captures, with the labels in the name of each capture.

    Parameters
    ----------
    frames : pcap.Frames
        All packets.
    captures : pandas.DataFrame
        One row a capture: ``capture`` (device folder and file), ``device``, ``person``.
    """

    frames: Frames
    captures: pd.DataFrame

    def labels(self, rows: np.ndarray) -> pd.DataFrame:
        """Return capture, device, person, source address and its subnet of the packets at `rows`."""
        table = self.captures.iloc[self.frames.capture[rows]].reset_index(drop=True)
        source = self.frames.headers["source"].to_numpy()[rows]
        return table.assign(address=address_text(source), subnet=subnets(source))


def read_captures(members: Iterable[tuple[str, bytes]]) -> Traffic:
    """Return the traffic of capture files with IoT Sentinel's names, in the order of their paths.

    Parameters
    ----------
    members : iterable of (str, bytes)
        Path and content. The path ends in ``<device>/Setup-<person>-<n>-STA.pcap``; other files are ignored.

    Returns
    -------
    Traffic
        All packets.

    Raises
    ------
    ValueError
        If none of the files is a capture, or one cannot be read.
    """
    found = {}
    for path, content in members:
        if match := _CAPTURE.search(PurePosixPath(path).as_posix()):
            found[match[0]] = (match["device"], match["person"], content)
    if not found:
        raise ValueError("no capture named <device>/Setup-<person>-<n>-STA.pcap among the files")
    names = sorted(found)
    frames = read_frames((name, found[name][2]) for name in names)
    rows = [(name.removesuffix(".pcap"), *found[name][:2]) for name in names]
    return Traffic(frames, pd.DataFrame(rows, columns=["capture", "device", "person"]))


def subnets(addresses: np.ndarray) -> np.ndarray:
    """Group public addresses by their /22 network; private addresses stay single.

    The 426 source addresses of the captures become 333 users, the number that paper 1 prints. The paper does not state
    its grouping.

    Examples
    --------
    >>> subnets(np.array([3232235777, 134744072])).tolist()
    ['192.168.1.1', '8.8.8.0/22']
    """
    values, where = np.unique(np.asarray(addresses, dtype=np.int64), return_inverse=True)
    private = np.array([ipaddress.IPv4Address(int(value)).is_private for value in values], dtype=bool)
    text = np.where(private, address_text(values), address_text(values >> 10 << 10) + "/22")
    return text.astype(object)[where]


def packet_problem(files: Files, *, users: User = "address", progress: bool = True) -> Problem:
    """Return the 186,318 IPv4 packets with 22 features; device = task, source address = user, capture = group.

    Parameters
    ----------
    files : Files
        Contains the captures.
    users : {"address", "subnet", "person", "capture"}
        The label that the attacker predicts: the source address (426 users); its network, see `subnets` (333, the
        number that paper 1 prints); the person who set the device up (3); or the capture (550).
    progress : bool
        Draw a progress bar.

    Returns
    -------
    Problem
        One row for each packet, see `packets.packet_features`.
    """

    def make(traffic: Traffic) -> tuple[pd.DataFrame, np.ndarray]:
        rows = np.flatnonzero(traffic.frames.headers["ipv4"].to_numpy())
        return packet_features(traffic.frames).iloc[rows], rows

    return _problem("iot-sentinel", files, make, users, progress)


def flow_problem(files: Files, *, users: User = "person", timeout: float = 600.0, progress: bool = True) -> Problem:
    """Return the flows with 36 dense statistics; device = task, person = user, capture = group.

    Parameters
    ----------
    files, users, progress
        See `packet_problem`. The address is that of the side that sends the first packet of the flow.
    timeout : float
        Seconds of silence after which a new flow begins.

    Returns
    -------
    Problem
        One row for each flow of two packets or more, see `flows.flow_features`; the same rows as `bit_problem`.
    """

    def make(traffic: Traffic) -> tuple[pd.DataFrame, np.ndarray]:
        flows = find_flows(traffic.frames, timeout)
        return flow_features(traffic.frames, flows), flows.first

    return _problem("iot-sentinel-flows", files, make, users, progress, timeout=timeout)


def bit_problem(
    files: Files,
    *,
    users: User = "person",
    timeout: float = 600.0,
    packets: int = 3,
    addresses: bool = False,
    constant: Literal["drop", "keep"] = "drop",
    progress: bool = True,
) -> Problem:
    """Return the flows with the header bits of their first packets; device = task, person = user, capture = group.

    Parameters
    ----------
    files, users, timeout, progress
        See `flow_problem`.
    packets : int
        Number of packets of each flow.
    addresses : bool
        Keep the bits of the addresses.
    constant : {"drop", "keep"}
        Drop or keep bits that are the same in all flows.

    Returns
    -------
    Problem
        One row for each flow, int8 values -1, 0, 1, see `packets.header_bits`; the same rows as `flow_problem`.
    """

    def make(traffic: Traffic) -> tuple[pd.DataFrame, np.ndarray]:
        flows = find_flows(traffic.frames, timeout)
        table = header_bits(traffic.frames, flows, packets, addresses)
        if constant == "drop":
            values = table.to_numpy()
            table = table.loc[:, (values != values[0]).any(axis=0)]
        return table, flows.first

    choices = {"timeout": timeout, "packets": packets, "addresses": addresses, "constant": constant}
    return _problem("iot-sentinel-bits", files, make, users, progress, **choices)


def _problem(
    name: str,
    files: Files,
    make: Callable[[Traffic], tuple[pd.DataFrame, np.ndarray]],
    users: User,
    progress: bool,
    **choices: Any,
) -> Problem:
    """Return the problem of features, which `make` computes together with the packet that labels each row."""

    def labelled() -> pd.DataFrame:
        captures = [member for member in files.members if member.endswith(".pcap")]
        bar = tqdm(captures, "IoT Sentinel", unit="capture", disable=not progress)
        traffic = read_captures((member, files.read(member)) for member in bar)
        features, rows = make(traffic)
        return pd.concat([features.reset_index(drop=True), traffic.labels(rows)[_LABELS]], axis=1)

    table = derived(name, labelled, digest=files.digest, **choices)
    return Problem(
        table.drop(columns=_LABELS),
        task=table["device"],
        users=table[users],
        # an attacker who predicts the capture needs training rows of every capture
        groups=None if users == "capture" else table["capture"],
        name=name,
        provenance={**choices, "users": users},
    )
