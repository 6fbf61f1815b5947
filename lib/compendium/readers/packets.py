"""Compute features of packets: the 22 that paper 1 uses for IoT Sentinel, or header bits of flows as in nPrint."""

import numpy as np
import pandas as pd

from compendium.readers import pcap
from compendium.readers.flows import Flows
from compendium.readers.pcap import ETHERNET, IPV4_HEADER, Frames

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


# nPrint's names of the header fields and their bits, in the order of the bits.
_FIELDS = {
    "ipv4": "ver:4 hl:4 tos:8 tl:16 id:16 rbit:1 dfbit:1 mfbit:1 foff:13 ttl:8 proto:8 cksum:16 src:32 dst:32 opt:320",
    "tcp": "sprt:16 dprt:16 seq:32 ackn:32 doff:4 res:3 ns:1 cwr:1 ece:1 urg:1 ackf:1 psh:1 rst:1 syn:1 fin:1 wsize:16 "
    "cksum:16 urp:16 opt:320",
    "udp": "sport:16 dport:16 len:16 cksum:16",
}
PACKET_BITS = tuple(
    f"{header}_{field}_{bit}"
    for header, fields in _FIELDS.items()
    for field, bits in (pair.split(":") for pair in fields.split())
    for bit in range(int(bits))
)
_LONGEST = 60  # bytes of an IPv4 or TCP header with all options
ABSENT = -1


def header_bits(frames: Frames, flows: Flows, packets: int = 3, addresses: bool = False) -> pd.DataFrame:
    """Return every bit of the IPv4, TCP and UDP headers of the first packets of each flow.

    Parameters
    ----------
    frames : pcap.Frames
        Packets.
    flows : flows.Flows
        The flows of these packets.
    packets : int
        Number of packets of each flow.
    addresses : bool
        Keep the bits of the source and destination addresses. They identify the two ends directly.

    Returns
    -------
    pandas.DataFrame
        One row for each flow, int8: 1 or 0, or -1 if the packet or the header does not exist. Columns
        ``pkt_<packet>_<header>_<field>_<bit>``: 960 for each packet, 1,024 with addresses.

    Raises
    ------
    ValueError
        If `packets` is not positive.

    References
    ----------
    Holland, Schmitt, Feamster, Mittal, New directions in automated traffic analysis, CCS 2021 (nPrint).
    """
    if packets < 1:
        raise ValueError(f"packets must be at least 1, got {packets}")
    named = np.array([addresses or not name.startswith(("ipv4_src_", "ipv4_dst_")) for name in PACKET_BITS])
    rank = flows.rank
    parts, names = [], []
    for place in range(packets):
        table = np.full((len(flows), int(named.sum())), ABSENT, dtype=np.int8)
        chosen = rank == place
        table[flows.flow[chosen]] = _packet_bits(frames, flows.packet[chosen])[:, named]
        parts.append(table)
        names += [f"pkt_{place}_{name}" for name, kept in zip(PACKET_BITS, named, strict=True) if kept]
    return pd.DataFrame(np.hstack(parts), columns=names)


def _packet_bits(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Return the bits of `PACKET_BITS` of the packets at `rows`, which all have IPv4 with TCP or UDP."""
    head = frames.headers.iloc[rows]
    transport = head["transport"].to_numpy()
    ip_length = head["header_length"].to_numpy()
    tcp, udp = head["tcp"].to_numpy(), head["udp"].to_numpy()
    data_offset = (frames.octets(rows, transport + 12, 1)[:, 0] >> 4).astype(np.int64) * 4
    tcp_length = np.where(tcp, np.minimum(data_offset, head["payload"].to_numpy()), 0)
    return np.hstack(
        [
            _bits(frames.octets(rows, ETHERNET, _LONGEST), ip_length),
            _bits(frames.octets(rows, transport, _LONGEST), tcp_length),
            _bits(frames.octets(rows, transport, 8), np.where(udp, 8, 0)),
        ]
    )


def _bits(octets: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return the bits of each row of bytes, highest first, and `ABSENT` from each row's length on."""
    bits = np.unpackbits(octets, axis=1).astype(np.int8)
    beyond = np.arange(octets.shape[1]) >= length[:, None]
    bits[np.repeat(beyond, 8, axis=1)] = ABSENT
    return bits
