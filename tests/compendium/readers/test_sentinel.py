"""The 22 packet features, held against a plain loop over dpkt's packets."""

import io
import ipaddress

import dpkt
import numpy as np
import pandas as pd
import pytest

from compendium.readers.packets import packet_features
from compendium.readers.sentinel import read_captures, subnets

KNOWN = (dpkt.icmp.ICMP, dpkt.igmp.IGMP, dpkt.tcp.TCP, dpkt.udp.UDP, dpkt.icmp6.ICMP6)


PACKET_FEATURES = (
    *("ARP", "LLC", "EAPOL", "Pck_size", "Pck_rawdata", "IP_padding", "IP_ralert", "IP_add_count", "Portcl_src"),
    *("Portcl_dst", "ICMP", "ICMP6", "TCP", "UDP", "HTTPS", "HTTP", "DHCP", "BOOTP", "SSDP", "DNS", "MDNS", "NTP"),
)


def port_class(port):
    return 1 if port < 1024 else 2 if port < 49152 else 3


def plain_features(content):
    """The features as FACTS.md states them, one packet at a time."""
    seen = set()
    for _, frame in dpkt.pcap.Reader(io.BytesIO(content)):
        ethernet = dpkt.ethernet.Ethernet(frame)
        row = dict.fromkeys(PACKET_FEATURES, 0)
        kind = int.from_bytes(frame[12:14])
        row["ARP"], row["LLC"], row["EAPOL"] = int(kind == 0x806), int(kind <= 1500), int(kind == 0x888E)
        if isinstance(ethernet.data, dpkt.ip.IP):
            packet, transport = ethernet.data, ethernet.data.data
            seen.add(packet.dst)
            row["Pck_size"] = len(transport)
            row["Pck_rawdata"] = int(not isinstance(transport, KNOWN))
            row["IP_ralert"] = int(packet.opts[:1] == b"\x94")
            row["ICMP"] = int(isinstance(transport, dpkt.icmp.ICMP))
            if isinstance(transport, dpkt.tcp.TCP | dpkt.udp.UDP):
                ports = {transport.sport, transport.dport}
                row["Portcl_src"], row["Portcl_dst"] = port_class(transport.sport), port_class(transport.dport)
            if isinstance(transport, dpkt.tcp.TCP):
                row |= {"TCP": 1, "HTTPS": int(443 in ports), "HTTP": int(80 in ports)}
            if isinstance(transport, dpkt.udp.UDP):
                boot = int(transport.sport in (67, 68))
                row |= {"UDP": 1, "DHCP": boot, "BOOTP": boot, "SSDP": int(1900 in ports), "DNS": int(53 in ports)}
                row |= {"MDNS": int(5353 in ports), "NTP": int(123 in ports)}
        row["IP_add_count"] = 1 + len(seen)
        yield row


def test_features_of_real_captures(captures):
    chosen = captures[7::40]
    found = packet_features(read_captures(chosen).frames)
    expected = pd.DataFrame([row for _, content in chosen for row in plain_features(content)])
    assert len(found) > 2_000
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert tuple(found.columns) == PACKET_FEATURES


def test_labels_of_all_packets(captures):
    traffic = read_captures(captures)
    rows = np.flatnonzero(traffic.frames.headers["ipv4"])
    labels = traffic.labels(rows)
    assert len(labels) == 186_318
    assert labels.nunique().to_dict() == {"capture": 550, "device": 31, "person": 3, "address": 426, "subnet": 333}
    assert set(labels["person"]) == {"A", "B", "C"}
    assert (labels["capture"].str.split("/").str[0] == labels["device"]).all()


def test_subnets_against_the_standard_library():
    addresses = ["10.1.2.3", "192.168.0.9", "172.32.0.1", "8.8.9.1", "8.8.12.1", "224.0.0.251", "0.0.0.0"]
    numbers = np.array([int(ipaddress.ip_address(address)) for address in addresses])
    expected = [
        address
        if ipaddress.ip_address(address).is_private
        else str(ipaddress.ip_network(f"{address}/22", strict=False))
        for address in addresses
    ]
    assert subnets(numbers).tolist() == expected
    assert expected[3:5] == ["8.8.8.0/22", "8.8.12.0/22"]


@pytest.mark.parametrize(
    ("options", "padding", "alert"),
    [
        ("94040000", 0, 1),
        ("94040000 00000000", 1, 1),
        ("01010101", 1, 0),
        ("0101 94040000 0000", 1, 1),
        ("0704 0494", 0, 0),  # a record route option whose content looks like an alert
        ("8200 9404", 0, 0),  # an option of length 0: nothing after it can be told
    ],
)
def test_options_of_the_ip_header(options, padding, alert):
    content = bytes.fromhex(options)
    packet = dpkt.ip.IP(src=bytes(4), dst=bytes([1, 1, 1, 1]), p=2, opts=content, hl=5 + len(content) // 4, data=b"ab")
    packet.len = packet.hl * 4 + 2
    file = io.BytesIO()
    dpkt.pcap.Writer(file).writepkt(bytes(dpkt.ethernet.Ethernet(data=packet)), 0)
    found = packet_features(read_captures([("d/Setup-A-1-STA.pcap", file.getvalue())]).frames).iloc[0]
    assert (found["IP_padding"], found["IP_ralert"]) == (padding, alert)
    assert found["Pck_size"] == 2


def test_captures_are_sorted_and_other_files_passed_over(captures):
    one, two = captures[0], captures[300]
    traffic = read_captures([two, ("top/x/_iotdevice-mac.txt", b"20:f8:5e"), ("top/" + one[0], one[1])])
    assert traffic.captures["capture"].tolist() == [one[0].removesuffix(".pcap"), two[0].removesuffix(".pcap")]
    assert traffic.captures["device"].tolist() == [one[0].split("/")[0], two[0].split("/")[0]]
    with pytest.raises(ValueError, match="no capture named"):
        read_captures([("x/readme.txt", b"")])
