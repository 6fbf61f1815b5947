"""Compute the header bits of the first packets of each flow: sparse features as in nPrint."""

import numpy as np
import pandas as pd

from sensorprivacy.readers.flows import Flows
from sensorprivacy.readers.pcap import ETHERNET, Frames

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
