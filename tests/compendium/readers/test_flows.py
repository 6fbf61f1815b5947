"""Flows and their statistics, held against a plain loop over dpkt's packets."""

import io

import dpkt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendium.readers.flows import find_flows, flow_features, group_statistics
from compendium.readers.pcap import read_frames

STATISTICS = ("mean", "std", "q1", "median", "q3", "min", "max")
FLOW_FEATURES = tuple(
    f"{direction}_{name}"
    for direction in ("out", "in")
    for name in (
        *("duration", "packet_rate", "byte_rate", "packets"),
        *(f"{of}_{statistic}" for of in ("size", "gap") for statistic in STATISTICS),
    )
)


def plain_flows(captures, timeout=600.0):
    """Return lists of (frame, time, source end, IP packet), in the order in which the flows begin."""
    flows, number = [], 0
    for name, content in captures:
        going = {}
        for time, frame in dpkt.pcap.Reader(io.BytesIO(content)):
            packet = dpkt.ethernet.Ethernet(frame).data
            transport = getattr(packet, "data", None)
            if isinstance(packet, dpkt.ip.IP) and isinstance(transport, dpkt.tcp.TCP | dpkt.udp.UDP):
                source, destination = (packet.src, transport.sport), (packet.dst, transport.dport)
                key = (name, packet.p, *sorted((source, destination)))
                if key not in going or float(time) - going[key][-1][1] > timeout:
                    going[key] = []
                    flows.append(going[key])
                going[key].append((number, float(time), source, packet))
            number += 1
    return [flow for flow in flows if len(flow) >= 2]


def plain_statistics(values):
    if not len(values):
        return [0.0] * 7
    return [np.mean(values), np.std(values), *np.quantile(values, [0.25, 0.5, 0.75]), min(values), max(values)]


def plain_direction(packets):
    times, sizes = [packet[1] for packet in packets], [packet[3].len for packet in packets]
    duration = times[-1] - times[0] if times else 0.0
    rates = [len(times) / duration, sum(sizes) / duration] if duration > 0 else [0.0, 0.0]
    return [duration, *rates, len(times), *plain_statistics(sizes), *plain_statistics(np.diff(times))]


@pytest.fixture
def some(captures):
    return captures[11::50]


def test_flows_of_real_captures(some):
    flows = find_flows(read_frames(some))
    expected = plain_flows(some)
    assert len(flows) == len(expected) > 100
    assert [flows.packet[flows.flow == at].tolist() for at in range(len(flows))] == [
        [packet[0] for packet in flow] for flow in expected
    ]
    assert flows.first.tolist() == [flow[0][0] for flow in expected]
    outward = [packet[2] == flow[0][2] for flow in expected for packet in flow]
    assert flows.outward.tolist() == outward
    assert flows.rank.tolist() == [place for flow in expected for place in range(len(flow))]


def test_statistics_of_real_captures(some):
    frames = read_frames(some)
    found = flow_features(frames, find_flows(frames))
    expected = [
        plain_direction([packet for packet in flow if packet[2] == flow[0][2]])
        + plain_direction([packet for packet in flow if packet[2] != flow[0][2]])
        for flow in plain_flows(some)
    ]
    assert found.shape == (len(expected), 36)
    assert tuple(found.columns) == FLOW_FEATURES
    # the clock of floats since 1970 resolves about a quarter of a microsecond
    durations = [name for name in FLOW_FEATURES if "rate" not in name]
    np.testing.assert_allclose(found[durations], np.array(expected)[:, found.columns.isin(durations)], atol=1e-6)
    rates = found.columns.str.contains("rate")
    slow = (found[["out_duration", "in_duration"]].replace(0, 1) > 0.01).all(axis=1).to_numpy()
    np.testing.assert_allclose(found.loc[slow, rates], np.array(expected)[slow][:, rates], rtol=1e-3)


def test_all_captures_have_these_many_flows(captures):
    frames = read_frames(captures)
    flows = find_flows(frames)
    assert len(flows) == 14_726
    assert flows.first.tolist() == sorted(flows.first)
    assert np.isfinite(flow_features(frames, flows)).all(axis=None)


def conversation(*times, sizes=None):
    """A capture in which two ends talk in turn."""
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file)
    for turn, time in enumerate(times):
        ends = [(b"\x0a\0\0\1", 4000), (b"\x08\x08\x08\x08", 53)][:: 1 if turn % 2 == 0 else -1]
        data = bytes(sizes[turn] if sizes else 10)
        datagram = dpkt.udp.UDP(sport=ends[0][1], dport=ends[1][1], data=data, ulen=8 + len(data))
        packet = dpkt.ip.IP(src=ends[0][0], dst=ends[1][0], p=17, data=datagram, len=28 + len(data))
        writer.writepkt(bytes(dpkt.ethernet.Ethernet(data=packet)), time)
    return read_frames([("talk", file.getvalue())])


def test_a_flow_by_hand():
    frames = conversation(1.0, 1.5, 3.0, 4.5, sizes=[10, 20, 30, 60])
    found = flow_features(frames, find_flows(frames)).iloc[0]
    assert (found["out_duration"], found["out_packets"], found["out_packet_rate"]) == (2.0, 2, 1.0)
    assert (found["out_byte_rate"], found["out_size_mean"], found["out_size_max"]) == (48.0, 48.0, 58.0)
    assert (found["in_duration"], found["in_gap_median"], found["in_size_q1"]) == (3.0, 3.0, 58.0)


def test_silence_begins_a_new_flow():
    frames = conversation(0, 1, 2, 700, 701)
    assert np.bincount(find_flows(frames).flow).tolist() == [3, 2]
    assert np.bincount(find_flows(frames, timeout=1000).flow).tolist() == [5]
    assert np.bincount(find_flows(frames, least=3).flow).tolist() == [3]


def test_a_silent_direction_is_zero():
    frames = conversation(0, 1)
    alone = flow_features(frames, find_flows(frames)).iloc[0]
    assert alone["in_packets"] == 1
    assert alone[[name for name in FLOW_FEATURES if name.startswith("in_gap") or "rate" in name]].eq(0).all()


def test_no_flow_is_said():
    with pytest.raises(ValueError, match="at least 2 packets among 1 packets"):
        find_flows(conversation(0))
    with pytest.raises(ValueError, match="among 0 packets"):
        find_flows(read_frames([]))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6)), max_size=40))
def test_groups_against_numpy(pairs):
    group = np.array([group for group, _ in pairs], dtype=int)
    values = np.array([value for _, value in pairs], dtype=float)
    found = group_statistics(values, group, 5)
    assert list(found.columns) == ["mean", "std", "q1", "median", "q3", "min", "max"]
    for at in range(5):
        some = values[group == at]
        expected = np.zeros(7)
        if len(some):
            expected = [some.mean(), some.std(), *np.quantile(some, [0.25, 0.5, 0.75]), some.min(), some.max()]
        np.testing.assert_allclose(found.loc[at], expected, rtol=1e-9, atol=1e-6)
