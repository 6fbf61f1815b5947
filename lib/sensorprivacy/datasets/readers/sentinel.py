"""IoT Sentinel: 550 captures of 31 smart-home devices being set up, as packets, as flows and as header bits.

The same traffic in three forms answers the question of section 5.4.2, dense against sparse features, on real data:
`packet_features` (22 columns, paper 1's), `flows.flow_features` (36 dense statistics) and `bits.header_bits`
(thousands of columns of -1, 0 and 1).
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from sensorprivacy.datasets.readers.pcap import (
    ARP,
    EAPOL,
    ETHERNET,
    ICMP,
    ICMPV6,
    IGMP,
    IPV4_HEADER,
    LONGEST_LLC,
    TCP,
    UDP,
    Frames,
    address_text,
    read_frames,
)

PACKET_FEATURES = (
    "ARP",
    "LLC",
    "EAPOL",
    "Pck_size",
    "Pck_rawdata",
    "IP_padding",
    "IP_ralert",
    "IP_add_count",
    "Portcl_src",
    "Portcl_dst",
    "ICMP",
    "ICMP6",
    "TCP",
    "UDP",
    "HTTPS",
    "HTTP",
    "DHCP",
    "BOOTP",
    "SSDP",
    "DNS",
    "MDNS",
    "NTP",
)
_CAPTURE = re.compile(r"(?P<device>[^/]+)/Setup-(?P<person>[^-/]+)-(?P<number>\d+)-STA\.pcap$")
_END_OF_OPTIONS, _NO_OPERATION, _ROUTER_ALERT = 0, 1, 0x94
_PORT_CLASSES = np.array([1024, 49152])  # first registered and first dynamic port


@dataclass(frozen=True, eq=False)
class Traffic:
    """Frames of the captures with what the name of each capture says.

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
    """Return the traffic of capture files named as IoT Sentinel names them.

    Parameters
    ----------
    members : iterable of (str, bytes)
        Path, of which the last two parts are ``<device>/Setup-<person>-<n>-STA.pcap``, and content. Other files are
        passed over; captures are put in the order of their paths.

    Returns
    -------
    Traffic
        All packets.

    Raises
    ------
    ValueError
        If there is no capture among the files, or one cannot be read.
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


def packet_features(frames: Frames) -> pd.DataFrame:
    """Return the 22 features of each packet that paper 1 uses.

    Parameters
    ----------
    frames : pcap.Frames
        Packets, in the order in which they were captured.

    Returns
    -------
    pandas.DataFrame
        One row a packet, uint16, in the paper's order:

        - ARP, LLC, EAPOL: 1 if that is the link layer's payload;
        - Pck_size: length of the IPv4 payload in bytes;
        - Pck_rawdata: 1 if the IPv4 payload is of no protocol known here (ICMP, IGMP, TCP, UDP, ICMPv6);
        - IP_padding, IP_ralert: 1 if the IPv4 options hold padding, or the router alert;
        - IP_add_count: 1 + number of distinct IPv4 destinations so far in the capture, this packet's included;
        - Portcl_src, Portcl_dst: class of the port, 0 none, 1 to 1023, 2 to 49151, 3 above;
        - ICMP, ICMP6, TCP, UDP: 1 if that is the protocol in the IPv4 packet;
        - HTTPS, HTTP: TCP from or to port 443, 80; DHCP and BOOTP: UDP from port 67 or 68; SSDP, DNS, MDNS, NTP: UDP
          from or to port 1900, 53, 5353, 123.

    References
    ----------
    Miettinen et al., IoT SENTINEL, ICDCS 2017, Table I, which has a feature for IP as well; as paper 1 keeps IPv4
    packets only, that one would be constant, and ARP, LLC, EAPOL, Pck_rawdata, IP_padding and ICMP6 are 0 throughout.
    """
    head = frames.headers
    kind, protocol, ipv4 = head["ether_type"], head["protocol"], head["ipv4"]
    padding, alert = _options(frames)
    found = {
        "ARP": kind == ARP,
        "LLC": kind.between(1, LONGEST_LLC),
        "EAPOL": kind == EAPOL,
        "Pck_size": head["payload"],
        "Pck_rawdata": ipv4 & ~protocol.isin([ICMP, IGMP, TCP, UDP, ICMPV6]),
        "IP_padding": padding,
        "IP_ralert": alert,
        "IP_add_count": 1 + _destinations(frames),
        "Portcl_src": _port_class(head, "source_port"),
        "Portcl_dst": _port_class(head, "destination_port"),
        "ICMP": protocol == ICMP,
        "ICMP6": protocol == ICMPV6,
        "TCP": head["tcp"],
        "UDP": head["udp"],
        "HTTPS": head["tcp"] & _uses(head, 443),
        "HTTP": head["tcp"] & _uses(head, 80),
        "DHCP": head["udp"] & head["source_port"].isin([67, 68]),
        "BOOTP": head["udp"] & head["source_port"].isin([67, 68]),
        "SSDP": head["udp"] & _uses(head, 1900),
        "DNS": head["udp"] & _uses(head, 53),
        "MDNS": head["udp"] & _uses(head, 5353),
        "NTP": head["udp"] & _uses(head, 123),
    }
    return pd.DataFrame(found, columns=list(PACKET_FEATURES)).astype(np.uint16)


def _uses(head: pd.DataFrame, port: int) -> pd.Series:
    return (head["source_port"] == port) | (head["destination_port"] == port)


def _port_class(head: pd.DataFrame, column: str) -> np.ndarray:
    there = (head["tcp"] | head["udp"]).to_numpy()
    return np.where(there, 1 + np.digitize(head[column].to_numpy(), _PORT_CLASSES), 0)


def _destinations(frames: Frames) -> np.ndarray:
    """Return how many distinct IPv4 destinations each packet's capture has seen up to and with that packet."""
    sent = pd.DataFrame({"capture": frames.capture, "to": frames.headers["destination"]})[frames.headers["ipv4"]]
    new = pd.Series(0, index=frames.headers.index)
    new[sent.index[~sent.duplicated()]] = 1
    return new.groupby(frames.capture).cumsum().to_numpy()


def _options(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    """Return which packets carry padding among their IPv4 options, and which the router alert."""
    padding, alert = np.zeros((2, len(frames)), dtype=bool)
    length = frames.headers["header_length"].to_numpy()
    for size in np.unique(length[frames.headers["options"].to_numpy()]):
        rows = np.flatnonzero(length == size)
        options = frames.octets(rows, ETHERNET + IPV4_HEADER, size - IPV4_HEADER)
        texts, where = np.unique(options, axis=0, return_inverse=True)
        kinds = [_option_kinds(text.tobytes()) for text in texts]
        padding[rows] = np.array([bool(kind & {_END_OF_OPTIONS, _NO_OPERATION}) for kind in kinds])[where]
        alert[rows] = np.array([_ROUTER_ALERT in kind for kind in kinds])[where]
    return padding, alert


def _option_kinds(text: bytes) -> set[int]:
    """Return the types of the IPv4 options in `text`."""
    kinds: set[int] = set()
    at = 0
    while at < len(text):
        kinds.add(text[at])
        if text[at] == _END_OF_OPTIONS:
            break
        if text[at] == _NO_OPERATION:
            at += 1
        elif at + 1 < len(text) and text[at + 1] >= 2:
            at += text[at + 1]
        else:  # an option without a length that makes sense: what follows cannot be told
            break
    return kinds


def subnets(addresses: np.ndarray) -> np.ndarray:
    """Return addresses with public ones grouped by /22 and private ones kept single.

    That turns the 426 source addresses of the captures into the 333 users that paper 1 prints; the paper does not say
    how it grouped.

    Examples
    --------
    >>> subnets(np.array([3232235777, 134744072])).tolist()
    ['192.168.1.1', '8.8.8.0/22']
    """
    values, where = np.unique(np.asarray(addresses, dtype=np.int64), return_inverse=True)
    private = np.array([ipaddress.IPv4Address(int(value)).is_private for value in values], dtype=bool)
    text = np.where(private, address_text(values), address_text(values >> 10 << 10) + "/22")
    return text.astype(object)[where]
