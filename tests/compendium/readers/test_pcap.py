"""Bulk parsing of captures, held against dpkt, packet by packet."""

import io
import struct

import dpkt
import numpy as np
import pytest

from compendium.readers.pcap import address_text, read_frames

ETHERNET = bytes.fromhex("0a0b0c0d0e0f 010203040506")


def pcap(*frames, magic=0xA1B2C3D4, order="<", link=1, fraction=250_000):
    parts = [struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, 65535, link)]
    for second, frame in enumerate(frames, start=1):
        parts.append(struct.pack(order + "IIII", second, fraction, len(frame), len(frame)) + frame)
    return b"".join(parts)


def ipv4(payload, protocol, options=b"", offset=0, length=None):
    words = 5 + len(options) // 4
    total = words * 4 + len(payload) if length is None else length
    head = struct.pack(">BBHHHBBH", 0x40 | words, 0, total, 7, offset, 64, protocol, 0)
    return ETHERNET + b"\x08\x00" + head + bytes([10, 0, 0, 1, 8, 8, 4, 4]) + options + payload


def udp(sport=5000, dport=53, data=b"abc"):
    return struct.pack(">HHHH", sport, dport, 8 + len(data), 0) + data


def headers(*frames):
    return read_frames([("x", pcap(*frames))]).headers


@pytest.mark.slow
def test_real_captures_against_dpkt(captures):
    chosen = captures[::22]  # 25 captures of all kinds of device
    frames = read_frames(chosen)
    head = frames.headers
    row = 0
    for place, (_, content) in enumerate(chosen):
        for time, content_of_frame in dpkt.pcap.Reader(io.BytesIO(content)):
            ethernet = dpkt.ethernet.Ethernet(content_of_frame)
            ours = head.iloc[row]
            assert frames.capture[row] == place
            assert frames.time[row] == round(time * 1_000_000)
            assert frames.captured[row] == len(content_of_frame)
            assert ours.ipv4 == isinstance(ethernet.data, dpkt.ip.IP)
            if ours.ipv4:
                same_packet(ours, ethernet.data)
            row += 1
    assert row == len(frames) > 5_000


def same_packet(ours, packet):
    transport = packet.data
    assert (ours.header_length, ours.total_length, ours.protocol) == (packet.hl * 4, packet.len, packet.p)
    assert (ours.source, ours.destination) == (int.from_bytes(packet.src), int.from_bytes(packet.dst))
    assert ours.options == bool(packet.opts)
    assert ours.payload == len(transport)
    assert ours.tcp == isinstance(transport, dpkt.tcp.TCP)
    assert ours.udp == isinstance(transport, dpkt.udp.UDP)
    ports = (transport.sport, transport.dport) if ours.tcp or ours.udp else (0, 0)
    assert (ours.source_port, ours.destination_port) == ports


def test_counts_of_all_captures(captures):
    frames = read_frames(captures)
    assert len(captures) == len(frames.names) == 550
    assert len(frames) == 193_421
    assert frames.headers["ipv4"].sum() == 186_318
    assert frames.headers["source"][frames.headers["ipv4"]].nunique() == 426


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "fraction"), [(0xA1B2C3D4, 250_000), (0xA1B23C4D, 250_000_000)])
def test_byte_order_and_unit_of_time(order, magic, fraction):
    frames = read_frames([("x", pcap(ipv4(udp(), 17), order=order, magic=magic, fraction=fraction))])
    assert frames.time.tolist() == [1_250_000]
    assert frames.headers["destination_port"].tolist() == [53]


def test_padding_of_the_frame_is_no_payload():
    assert headers(ipv4(udp(), 17) + bytes(20))["payload"].tolist() == [11]


def test_length_zero_is_what_was_captured():
    assert headers(ipv4(udp(), 17, length=0))["payload"].tolist() == [11]


def test_options_shift_the_transport_header():
    head = headers(ipv4(udp(), 17, options=bytes.fromhex("94040000"))).iloc[0]
    assert (head.header_length, head.transport, head.source_port, head.destination_port) == (24, 38, 5000, 53)
    assert head.options


def test_later_fragment_has_no_ports():
    head = headers(ipv4(udp(), 17, offset=5)).iloc[0]
    assert not head.udp
    assert head.source_port == 0


def test_cut_off_headers_are_not_read_from_the_next_packet():
    whole = ipv4(udp(), 17)
    head = headers(whole[:30], whole[:40], whole[:9], whole)
    assert head["ipv4"].tolist() == [False, True, False, True]
    assert head["udp"].tolist() == [False, False, False, True]
    assert head["ether_type"].tolist() == [0x800, 0x800, 0, 0x800]
    assert head["destination_port"].tolist() == [0, 0, 0, 53]


def test_no_captures_is_no_frames():
    assert len(read_frames([])) == 0
    assert len(read_frames([("empty", pcap())]).headers) == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "begins with nothing"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "no pcap file: it begins with 0a0d0d0a"),  # pcapng
        (b"not a capture", "no pcap file: it begins with 6e6f7420"),
        (pcap(link=113), "link type 113"),
        (pcap(ipv4(udp(), 17))[:-1], "ends within packet 1"),
        (pcap(ipv4(udp(), 17)) + bytes(9), "header of packet 2"),
    ],
)
def test_damaged_capture_is_named(content, words):
    with pytest.raises(ValueError, match=r"bad\.pcap.*" + words):
        read_frames([("bad.pcap", content)])


def test_address_text_of_many():
    assert address_text(np.array([0, 2**32 - 1, 0])).tolist() == ["0.0.0.0", "255.255.255.255", "0.0.0.0"]
