"""Logs of Zeek and captured packets are tables, through every door (REVIEW C15)."""

import gzip
import importlib.util
import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compendium.paths import mirror
from sensorprivacy.cli import main
from sensorprivacy.own.publishing.tables import publish
from sensorprivacy.own.read.formats import read_table
from sensorprivacy.own.read.pieces import Pieces
from sensorprivacy.own.tables import load_table
from sensorprivacy.readers.flows import find_flows, flow_features
from sensorprivacy.readers.pcap import read_frames

_SPEC = importlib.util.spec_from_file_location("messy_inputs", Path(__file__).parents[2] / "bench" / "messy_inputs.py")
messy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(messy)

TWICE = {
    "4-1": "CTU-Honeypot-Capture-4-1",
    "34-1": "CTU-IoT-Malware-Capture-34-1",
    "42-1": "CTU-IoT-Malware-Capture-42-1",
}
ROWS = {"4-1": 452, "34-1": 23_145, "42-1": 4_426}


def original(capture):
    """Return the log that Zeek wrote, and the same flows as the public CSV."""
    folder = Path(mirror() or "") / "iot-23"
    log = folder / "zeek" / f"{TWICE[capture]}.conn.log.labeled"
    if not log.is_file():
        pytest.skip("the mirror has no logs of IoT-23 in Zeek's own format")
    return log, folder / f"{TWICE[capture].replace('IoT-', '')}-labeled.csv"


@pytest.mark.parametrize("capture", TWICE)
def test_original_logs_agree_row_for_row_with_their_csv(capture):
    log, csv = original(capture)
    ours, theirs = read_table(log), pd.read_csv(csv, na_values=["-"])
    assert len(ours) == len(theirs) == ROWS[capture]
    assert list(ours) == list(theirs)
    whole = capture == "4-1"  # this CSV has whole seconds
    np.testing.assert_allclose(ours["ts"], theirs["ts"], rtol=0, atol=0.5 if whole else 1e-5)
    for name in theirs.columns.drop("ts"):
        assert ours[name].isna().tolist() == theirs[name].isna().tolist(), name
        if ours[name].dtype.kind == "f":  # the CSV has ten digits
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, err_msg=name)
        else:
            assert ours[name].dropna().tolist() == theirs[name].dropna().tolist(), name
    assert ours.attrs["form"] == "Zeek log in UTF-8"


def test_an_original_log_becomes_a_problem_without_converting(tmp_path):
    log, _ = original("42-1")
    (tmp_path / "conn.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    with pytest.warns(UserWarning, match=r"uid \("):
        found = load_table(tmp_path / "conn.log.gz", task="label", user="id.orig_h")
    left_out = found.problem.provenance["left_out"]
    assert {"ts", "uid", "id.resp_h"} <= set(left_out)
    assert {"duration", "orig_bytes", "conn_state"} <= set(found.problem.features)
    assert found.problem.provenance["form"] == "Zeek log in UTF-8, gzip"


def zeek(frame, separator="\t", escape=r"\x09"):
    """Return a table as Zeek writes it, with the line ends and comments of its logs."""
    lines = [f"#separator {escape}", "#set_separator,\\x2c", "#empty_field\t(empty)", "#unset_field\t-", "#path\thome"]
    lines = [lines[0], *(line.replace("\t", separator) for line in lines[1:])]
    lines += [separator.join(["#fields", *frame]), separator.join(["#types", *["string"] * frame.shape[1]])]
    cells = frame.astype(object).where(frame.notna(), "-").map(str).to_numpy().tolist()
    return "\n".join([*lines, *map(separator.join, cells), separator.join(["#close", "2026-01-01-00-00-00"])]) + "\n"


@pytest.mark.parametrize("name", ["home.log", "home.log.gz", "home.log.labeled", "home.txt", "home.csv", "home.tsv.xz"])
@pytest.mark.parametrize("form", ["tabs", "bars", "twice", "CR LF"])
def test_a_log_is_recognized_by_its_first_line(name, form, tmp_path):
    frame = messy.table().assign(agent='a "quoted", name')
    frame.loc[3:9, "mode"], frame.loc[20:40, "mode"] = "(empty)", None
    frame.loc[5, "load"] = np.nan
    text = zeek(frame, "|", r"\x7c") if form == "bars" else zeek(frame)
    text = zeek(frame[:100]) + zeek(frame[100:]) if form == "twice" else text
    text = text.replace("\n", "\r\n") if form == "CR LF" else text
    messy.packed(tmp_path / name, text.encode())
    found = read_table(tmp_path / name)
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert (found["mode"] == "(empty)").sum() == 7
    pieces = pd.concat(list(Pieces(tmp_path / name, 50, ["room", "owner"])))
    pd.testing.assert_frame_equal(pieces, frame, check_dtype=False)


def test_damaged_logs_are_named_with_the_remedy(tmp_path):
    file, text = tmp_path / "home.log", zeek(messy.table())
    file.write_text(text.replace("#fields", "#felds"))
    with pytest.raises(ValueError, match=r"home\.log has no line #fields before its first record"):
        read_table(file)
    file.write_text(text + zeek(messy.table().drop(columns="temp")))
    with pytest.raises(ValueError, match=r"home\.log has logs with different fields: give one of each kind"):
        read_table(file)
    file.write_text(text.split("\n", 8)[0] + "\n")
    with pytest.raises(ValueError, match=r"home\.log"):
        read_table(file)


def test_a_log_may_be_json_lines_or_csv(tmp_path):
    messy.table().to_json(tmp_path / "home.log", orient="records", lines=True)
    pd.testing.assert_frame_equal(read_table(tmp_path / "home.log"), messy.table(), check_dtype=False)
    messy.table().to_csv(tmp_path / "home.log", index=False, sep=";")
    pd.testing.assert_frame_equal(read_table(tmp_path / "home.log"), messy.table(), check_dtype=False)


def packet(second, source, destination, size, port=53, protocol=17, own=5000):
    head = struct.pack(">HHHH", own, port, 8 + size, 0)
    head = head if protocol == 17 else struct.pack(">HHIIBBHHH", own, port, 0, 0, 80, 2, 0, 0, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(head) + size, 7, 0, 64, protocol, 0)
    frame = bytes(12) + b"\x08\x00" + ip + bytes(source) + bytes(destination) + head + bytes(size)
    return second, frame


def pcap(packets):
    parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for second, frame in packets:
        parts.append(struct.pack("<IIII", int(second), int(second % 1 * 1e6), len(frame), len(frame)) + frame)
    return b"".join(parts)


def pcapng(packets):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    parts = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), block(1, struct.pack("<HHI", 1, 0, 0))]
    for second, frame in packets:
        time = int(second) * 10**6 + int(second % 1 * 1e6)
        parts.append(block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, *[len(frame)] * 2) + frame))
    return b"".join(parts)


HOME, HUB, CLOUD = (10, 0, 0, 1), (10, 0, 0, 2), (8, 8, 4, 4)
TALK = [
    packet(1.0, HOME, CLOUD, 10),
    packet(1.5, CLOUD, HOME, 50),
    packet(2.0, HUB, CLOUD, 30, 443, 6),
    (2.5, bytes(12) + b"\x08\x06" + bytes(28)),  # ARP
]


@pytest.mark.parametrize("name", ["home.pcap", "home.pcapng", "home.cap", "home.pcap.gz"])
def test_a_capture_is_a_table_of_flows(name, tmp_path):
    content = pcapng(TALK) if "pcapng" in name else pcap(TALK)
    messy.packed(tmp_path / name, content)
    found = read_table(tmp_path / name)
    # the answer comes from port 5000 to 53, so it is a flow of its own
    assert found["source"].tolist() == ["10.0.0.1", "8.8.4.4", "10.0.0.2"]
    assert found["destination"].tolist() == ["8.8.4.4", "10.0.0.1", "8.8.4.4"]
    assert found["protocol"].tolist() == ["udp", "udp", "tcp"]
    assert found["port"].tolist() == [53, 53, 443]
    assert found.shape[1] == 4 + 36
    assert found["out_size_mean"].tolist() == [38, 78, 70]
    assert found.attrs["notices"] == ["1 of 4 packets are no TCP or UDP over IPv4, and are in no flow"]


def test_real_captures_have_the_statistics_of_the_flow_reader(captures, tmp_path):
    name, content = max(captures[:40], key=lambda one: len(one[1]))
    (tmp_path / "home.pcap").write_bytes(content)
    frames = read_frames([(name, content)])
    flows = find_flows(frames, least=1)
    found = read_table(tmp_path / "home.pcap")
    pd.testing.assert_frame_equal(found.iloc[:, 4:], flow_features(frames, flows))
    outside = len(frames) - len(flows.packet)
    assert found.filter(like="_packets").to_numpy().sum() == len(frames) - outside
    assert not outside or str(outside) in found.attrs["notices"][0].replace(",", "")


@pytest.mark.parametrize("content", [b"no capture at all", pcap(TALK)[:-3], pcap([TALK[3]])])
def test_damaged_and_empty_captures_are_named(content, tmp_path):
    (tmp_path / "home.pcap").write_bytes(content)
    with pytest.raises(ValueError, match=r"home\.pcap (?:is no pcap or pcapng|ends within packet 4|has no TCP or UDP)"):
        read_table(tmp_path / "home.pcap")


def house(seed=0):
    """Return packets of three devices with sizes of their own, to two services."""
    draw, packets = np.random.default_rng(seed), []
    for at in range(180):
        device, service = draw.integers(0, 3), draw.integers(0, 2)
        size = 40 + 60 * service + 9 * device + draw.integers(0, 20)
        ends = (10, 0, 0, device + 1), CLOUD
        for step in range(3):
            packets.append(packet(60.0 * at + step / 4, *ends, int(size), 53 + 70 * service, own=5000 + at))
    return sorted(packets, key=lambda one: one[0])


FILES = {
    "home.pcap": lambda: pcap(house()),
    "home.pcapng": lambda: pcapng(house()),
    "home.log": lambda: zeek(messy.table()).encode(),
    "home.log.gz": lambda: gzip.compress(zeek(messy.table()).encode()),
}


def roles(name):
    return {"task": "room", "user": "owner"} if "log" in name else {"task": "port", "user": "source"}


@pytest.mark.parametrize("name", FILES)
def test_every_log_and_capture_is_read_and_published(name, tmp_path, unmeasured):
    file = tmp_path / name
    file.write_bytes(FILES[name]())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        card = publish(file, defence="none", out=tmp_path / "out", **roles(name))
        problem = load_table(file, **roles(name)).problem
    value = "load" if "log" in name else "out_size_mean"
    assert value in problem.features
    assert card.facts["rows"] == (240 if "log" in name else 180)
    released = pd.read_csv(tmp_path / "out" / "home.csv")
    assert value in released
    assert not {roles(name)["user"], "destination"} & set(released)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["home.pcapng", "home.log.gz"])
def test_every_command_takes_a_log_or_capture(name, tmp_path):
    file, found, small = tmp_path / name, tmp_path / "found.json", tmp_path / "small.csv"
    file.write_bytes(FILES[name]())
    task, user = roles(name).values()
    words = [str(file), "--task", task, "--user", user, "--quiet", "--trees", "5"]
    assert main(["minimize", *words, "--repeat", "0", "--preselect", "3", "--out", str(small)]) == 0
    assert task in pd.read_csv(small)
    assert not {user, "destination"} & set(pd.read_csv(small))
    words += ["--jobs", "1", "--json", str(found), "--defences", "none", "--store", str(tmp_path / "s.jsonl")]
    assert main(["compare", *words]) == 0
    assert json.loads(found.read_text())
