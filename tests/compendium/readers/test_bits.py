"""Header bits, held against the bytes and fields that dpkt finds in the same packets."""

import io

import dpkt
import numpy as np
import pytest

from compendium.readers.flows import find_flows
from compendium.readers.packets import ABSENT, PACKET_BITS, header_bits
from compendium.readers.pcap import read_frames


def bits_of(content, n_bytes):
    text = "".join(f"{byte:08b}" for byte in content)
    return [int(bit) for bit in text] + [ABSENT] * (8 * n_bytes - len(text))


def plain_bits(frame):
    """All bits of a packet from the raw bytes of each header; the header lengths are dpkt's."""
    packet = dpkt.ethernet.Ethernet(frame).data
    head = packet.hl * 4
    raw = frame[14:]
    tcp = raw[head : head + packet.data.off * 4] if isinstance(packet.data, dpkt.tcp.TCP) else b""
    udp = raw[head : head + 8] if isinstance(packet.data, dpkt.udp.UDP) else b""
    return bits_of(raw[:head], 60) + bits_of(tcp, 60) + bits_of(udp, 8)


@pytest.fixture
def some(captures):
    return captures[3::60]


def test_bits_of_real_packets(some):
    frames = read_frames(some)
    flows = find_flows(frames)
    found = header_bits(frames, flows, packets=2, addresses=True).to_numpy()
    raw = [frame for _, content in some for _, frame in dpkt.pcap.Reader(io.BytesIO(content))]
    for at in range(0, len(flows), 3):
        first, second = flows.packet[flows.flow == at][:2]
        assert found[at].tolist() == plain_bits(raw[first]) + plain_bits(raw[second])


def test_named_fields_hold_the_numbers_of_dpkt(some):
    frames = read_frames(some)
    flows = find_flows(frames)
    table = header_bits(frames, flows, packets=1, addresses=True)
    raw = [frame for _, content in some for _, frame in dpkt.pcap.Reader(io.BytesIO(content))]

    def number(row, field):
        names = [name for name in table if name.startswith(f"pkt_0_{field}_")]
        return int("".join(map(str, table.loc[row, names])), 2)

    kinds = set()
    for at in range(0, len(flows), 5):
        packet = dpkt.ethernet.Ethernet(raw[flows.first[at]]).data
        transport = packet.data
        assert number(at, "ipv4_ttl") == packet.ttl
        assert number(at, "ipv4_tl") == packet.len
        assert number(at, "ipv4_src") == int.from_bytes(packet.src)
        if isinstance(transport, dpkt.tcp.TCP):
            wanted = (transport.sport, transport.seq, transport.win, transport.off, transport.flags & 2 != 0)
            assert tuple(number(at, f"tcp_{field}") for field in ("sprt", "seq", "wsize", "doff", "syn")) == wanted
        else:
            assert (number(at, "udp_dport"), number(at, "udp_len")) == (transport.dport, transport.ulen)
        kinds.add(type(transport).__name__)
    assert kinds == {"TCP", "UDP"}


def test_shape_and_addresses(some):
    frames = read_frames(some)
    flows = find_flows(frames)
    table = header_bits(frames, flows)
    assert len(PACKET_BITS) == 1024
    assert table.shape == (len(flows), 3 * 960)
    assert (table.dtypes == np.int8).all()
    assert set(np.unique(table)) == {-1, 0, 1}
    assert not table.columns.str.contains("ipv4_src|ipv4_dst").any()


def test_a_packet_that_is_not_there_is_absent(some):
    frames = read_frames(some)
    flows = find_flows(frames)
    short = np.bincount(flows.flow) == 2
    assert short.any()
    table = header_bits(frames, flows, packets=3)
    third = table.loc[short, table.columns.str.startswith("pkt_2_")]
    assert third.eq(ABSENT).all(axis=None)
    with pytest.raises(ValueError, match="packets must be at least 1, got 0"):
        header_bits(frames, flows, packets=0)
