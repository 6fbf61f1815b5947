"""Compute the 22 features of each packet that paper 1 uses for IoT Sentinel."""

import numpy as np
import pandas as pd

from sensorprivacy.readers import pcap
from sensorprivacy.readers.pcap import ETHERNET, IPV4_HEADER, Frames

_END_OF_OPTIONS, _NO_OPERATION, _ROUTER_ALERT = 0, 1, 0x94
_PORT_CLASSES = np.array([1024, 49152])  # first registered and first dynamic port


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

        - ARP, LLC, EAPOL: 1 if this is the payload of the link layer;
        - Pck_size: length of the IPv4 payload in bytes;
        - Pck_rawdata: 1 if the protocol of the IPv4 payload is none of ICMP, IGMP, TCP, UDP, ICMPv6;
        - IP_padding, IP_ralert: 1 if the IPv4 options contain padding, or the router alert;
        - IP_add_count: 1 + number of distinct IPv4 destinations in the capture, up to and with this packet;
        - Portcl_src, Portcl_dst: class of the port, 0 none, 1 up to 1023, 2 up to 49151, 3 above;
        - ICMP, ICMP6, TCP, UDP: 1 if this is the protocol in the IPv4 packet;
        - HTTPS, HTTP: TCP from or to port 443, 80; DHCP and BOOTP: UDP from port 67 or 68; SSDP, DNS, MDNS, NTP: UDP
          from or to port 1900, 53, 5353, 123.

    References
    ----------
    Miettinen et al., IoT SENTINEL, ICDCS 2017, Table I. Its feature for IP is left out: paper 1 keeps only IPv4
    packets, so it would be constant. For the same reason, ARP, LLC, EAPOL, Pck_rawdata, IP_padding and ICMP6 are 0.
    """
    head = frames.headers
    kind, protocol, ipv4 = head["ether_type"], head["protocol"], head["ipv4"]
    padding, alert = _options(frames)
    found = {
        "ARP": kind == pcap.ARP,
        "LLC": kind.between(1, pcap.LONGEST_LLC),
        "EAPOL": kind == pcap.EAPOL,
        "Pck_size": head["payload"],
        "Pck_rawdata": ipv4 & ~protocol.isin([pcap.ICMP, pcap.IGMP, pcap.TCP, pcap.UDP, pcap.ICMPV6]),
        "IP_padding": padding,
        "IP_ralert": alert,
        "IP_add_count": 1 + _destinations(frames),
        "Portcl_src": _port_class(head, "source_port"),
        "Portcl_dst": _port_class(head, "destination_port"),
        "ICMP": protocol == pcap.ICMP,
        "ICMP6": protocol == pcap.ICMPV6,
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
    return pd.DataFrame(found).astype(np.uint16)


def _uses(head: pd.DataFrame, port: int) -> pd.Series:
    return (head["source_port"] == port) | (head["destination_port"] == port)


def _port_class(head: pd.DataFrame, column: str) -> np.ndarray:
    there = (head["tcp"] | head["udp"]).to_numpy()
    return np.where(there, 1 + np.digitize(head[column].to_numpy(), _PORT_CLASSES), 0)


def _destinations(frames: Frames) -> np.ndarray:
    """Return the number of distinct IPv4 destinations in each packet's capture, up to and with this packet."""
    sent = pd.DataFrame({"capture": frames.capture, "to": frames.headers["destination"]})[frames.headers["ipv4"]]
    new = pd.Series(0, index=frames.headers.index)
    new[sent.index[~sent.duplicated()]] = 1
    return new.groupby(frames.capture).cumsum().to_numpy()


def _options(frames: Frames) -> tuple[np.ndarray, np.ndarray]:
    """Return the packets with padding in their IPv4 options, and those with the router alert, as two masks."""
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
        else:  # the option's length is invalid, so the rest cannot be read
            break
    return kinds
