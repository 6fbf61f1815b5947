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


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))


def pcapng(*frames, order="<", link=1, options=b"", units=1_000_000, begin=0, packet=6):
    """Write what `pcap` writes as pcapng, by the specification: section, interface, a block to skip, packets."""
    blocks = [block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))]
    blocks += [block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options), block(order, 5, bytes(12))]
    for second, frame in enumerate(frames, start=1):
        time = (4 * (second - begin) + 1) * units // 4  # a quarter of a second after the full one
        head = struct.pack(order + "IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame))
        blocks.append(block(order, packet, head + frame))
    return b"".join(blocks)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("options", "units", "begin"),
    [
        (b"", 1_000_000, 0),
        (lambda order: struct.pack(order + "HHBxxx", 9, 1, 9), 10**9, 0),
        (lambda order: struct.pack(order + "HHBxxx", 9, 1, 0x80 | 20), 2**20, 0),
        (lambda order: struct.pack(order + "HHqHHBxxx", 14, 8, -5, 9, 1, 6), 10**6, -5),
    ],
)
def test_pcapng_holds_the_packets_of_pcap(order, options, units, begin):
    frames = [ipv4(udp(), 17), ipv4(udp(data=b"abcdef"), 17), ipv4(bytes(20), 6)]
    options = options(order) if callable(options) else options
    found = read_frames([("x", pcapng(*frames, order=order, options=options, units=units, begin=begin))])
    same = read_frames([("x", pcap(*frames))])
    assert found.headers.equals(same.headers)
    assert found.time.tolist() == same.time.tolist() == [1_250_000, 2_250_000, 3_250_000]
    assert found.captured.tolist() == same.captured.tolist()


def test_pcapng_against_dpkt_and_two_sections_with_their_own_byte_order():
    frames = [ipv4(udp(data=bytes(size)), 17) for size in (1, 2, 3, 4)]
    first, second = pcapng(*frames), pcapng(*frames, order=">")
    times = [round(time * 1_000_000) for time, _ in dpkt.pcapng.Reader(io.BytesIO(first))]
    found = read_frames([("two", first + second), ("plain", pcap(*frames))])
    assert found.time.tolist() == times * 3
    assert found.capture.tolist() == [0] * 8 + [1] * 4
    assert found.headers["payload"].tolist() == [9, 10, 11, 12] * 3


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
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "cut off or damaged"),
        (b"not a capture", "no pcap or pcapng file: it begins with 6e6f7420"),
        (pcap(link=113), "link type 113"),
        (pcap(ipv4(udp(), 17))[:-1], "ends within packet 1"),
        (pcapng(ipv4(udp(), 17))[:-1], "ends within the block after packet 0"),
        (pcapng(ipv4(udp(), 17), link=113), "link type 113"),
        (pcapng(ipv4(udp(), 17), packet=3), "packets without a time: save it as pcap"),
        (pcapng(ipv4(udp(), 17), packet=2), "obsolete packet blocks: save it as pcap"),
        (pcapng() + block("<", 6, struct.pack("<IIIII", 7, 0, 0, 0, 0)), "block of packet 1 is damaged"),
        (pcapng() + block("<", 6, struct.pack("<IIIII", 0, 0, 0, 99, 99)), "block of packet 1 is damaged"),
        (pcap(ipv4(udp(), 17)) + bytes(9), "header of packet 2"),
    ],
)
def test_damaged_capture_is_named(content, words):
    with pytest.raises(ValueError, match=r"bad\.pcap.*" + words):
        read_frames([("bad.pcap", content)])


def test_address_text_of_many():
    assert address_text(np.array([0, 2**32 - 1, 0])).tolist() == ["0.0.0.0", "255.255.255.255", "0.0.0.0"]
