"""Group packets into flows, and compute 36 dense statistics of each flow."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from compendium.readers.pcap import Frames


@dataclass(frozen=True, eq=False)
class Flows:
    """TCP and UDP conversations.

    Parameters
    ----------
    packet : numpy.ndarray of int64, shape (packets,)
        Positions of the packets in the frames; flow by flow, in order of time.
    flow : numpy.ndarray of int64, shape (packets,)
        Flow of each packet, 0 ... n - 1, in the order in which the flows begin.
    outward : numpy.ndarray of bool, shape (packets,)
        Whether the sender of the packet also sent the flow's first packet.
    first : numpy.ndarray of int64, shape (n,)
        Position of each flow's first packet in the frames.
    """

    packet: np.ndarray
    flow: np.ndarray
    outward: np.ndarray
    first: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    @property
    def rank(self) -> np.ndarray:
        """Position of each packet in its flow, from 0."""
        starts = np.flatnonzero(np.diff(self.flow, prepend=-1))
        return np.arange(len(self.flow)) - starts[self.flow]


def find_flows(frames: Frames, timeout: float = 600.0, least: int = 2) -> Flows:
    """Return the TCP and UDP conversations of each capture.

    A conversation consists of all packets of one protocol between two ends (address and port) in one capture, in
    both directions.

    Parameters
    ----------
    frames : pcap.Frames
        Packets.
    timeout : float
        Seconds of silence after which a new flow begins.
    least : int
        Smallest number of packets of a flow.

    Returns
    -------
    Flows
        All flows with enough packets.

    Raises
    ------
    ValueError
        If no flow has enough packets.
    """
    head = frames.headers
    carried = np.flatnonzero((head["tcp"] | head["udp"]).to_numpy())
    source, destination = (
        (head[address].to_numpy()[carried] << 16) | head[port].to_numpy()[carried]
        for address, port in (("source", "source_port"), ("destination", "destination_port"))
    )
    low, high = np.minimum(source, destination), np.maximum(source, destination)
    capture, time = frames.capture[carried], frames.time[carried]
    ends = np.stack([capture, head["protocol"].to_numpy()[carried], low, high])
    order = np.lexsort((carried, time, *ends[::-1]))
    packet, time, ends = carried[order], time[order], ends[:, order]
    new = np.r_[True, (np.diff(ends, axis=1) != 0).any(axis=0) | (np.diff(time) > timeout * 1e6)][: len(packet)]
    flow = np.cumsum(new) - 1
    kept = np.bincount(flow)[flow] >= least if len(flow) else np.zeros(0, dtype=bool)
    if not kept.any():
        raise ValueError(f"no TCP or UDP flow of at least {least} packets among {len(frames)} packets")
    outward = source[order] == source[order][new][flow]
    return _renumber(packet[kept], flow[kept], outward[kept])


def _renumber(packet: np.ndarray, flow: np.ndarray, outward: np.ndarray) -> Flows:
    """Return the flows numbered in the order in which they begin."""
    first = packet[np.diff(flow, prepend=-1) != 0]
    flow = np.unique(flow, return_inverse=True)[1]
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    flow = place[flow]
    order = np.argsort(flow, kind="stable")
    return Flows(packet[order], flow[order], outward[order], np.sort(first))


def flow_features(frames: Frames, flows: Flows) -> pd.DataFrame:
    """Return 36 dense statistics of each flow, 18 for each direction.

    They follow the statistics that paper 1 calls dense: those of NetML, in the form of the AMIR device identification.
    The number of packets replaces the number of flows, which is always 1 here.

    Parameters
    ----------
    frames : pcap.Frames
        Packets.
    flows : Flows
        The flows of these packets.

    Returns
    -------
    pandas.DataFrame
        One row for each flow. For ``out`` (sent by the side that began) and ``in``: duration (s); packet_rate and
        byte_rate (per second; 0 if the duration is 0); packets; mean, std, q1, median, q3, min, max of the size of the
        IP packets (bytes) and of the gap between successive packets (s). All are 0 for a direction without packets.

    References
    ----------
    Yang, Kpotufe, Feamster, NetML, 2020, arXiv:2006.16993; paper 1, section 5.4.2.
    """
    size = frames.headers["total_length"].to_numpy()[flows.packet].astype(float)
    time = frames.time[flows.packet] / 1e6
    parts = []
    for direction, chosen in (("out", flows.outward), ("in", ~flows.outward)):
        part = _of_direction(size[chosen], time[chosen], flows.flow[chosen], len(flows))
        parts.append(part.add_prefix(f"{direction}_"))
    return pd.concat(parts, axis=1)


def _of_direction(size: np.ndarray, time: np.ndarray, flow: np.ndarray, n_flows: int) -> pd.DataFrame:
    """Return the statistics of the packets of one direction, given flow by flow in order of time."""
    same = np.diff(flow) == 0
    gap, of_gap = np.diff(time)[same], flow[1:][same]
    duration = np.bincount(of_gap, weights=gap, minlength=n_flows)
    packets = np.bincount(flow, minlength=n_flows)
    octets = np.bincount(flow, weights=size, minlength=n_flows)
    lasts = duration > 0
    rates = {
        name: np.divide(amount, duration, out=np.zeros(n_flows), where=lasts)
        for name, amount in (("packet_rate", packets), ("byte_rate", octets))
    }
    table = pd.DataFrame({"duration": duration, **rates, "packets": packets})
    sizes = group_statistics(size, flow, n_flows).add_prefix("size_")
    gaps = group_statistics(gap, of_gap, n_flows).add_prefix("gap_")
    return pd.concat([table, sizes, gaps], axis=1)


def group_statistics(values: np.ndarray, group: np.ndarray, n_groups: int) -> pd.DataFrame:
    """Return mean, spread and quantiles of the values of each group.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers, all finite.
    group : array-like of int, shape (n,)
        Group of each value, 0 ... n_groups - 1.
    n_groups : int
        Number of groups; a group without values has 0 in every column.

    Returns
    -------
    pandas.DataFrame
        n_groups rows; columns mean, std (of the population), q1, median, q3 (interpolated linearly), min, max.
    """
    values, group = np.asarray(values, dtype=float), np.asarray(group, dtype=np.int64)
    some = np.maximum(np.bincount(group, minlength=n_groups), 1)
    mean = np.bincount(group, weights=values, minlength=n_groups) / some
    spread = np.bincount(group, weights=(values - mean[group]) ** 2, minlength=n_groups)
    table = pd.DataFrame({"mean": mean, "std": np.sqrt(spread / some)})
    groups = pd.Series(values).groupby(group)
    for name, share in (("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("min", 0.0), ("max", 1.0)):
        table[name] = groups.quantile(share).reindex(range(n_groups), fill_value=0.0)
    return table
