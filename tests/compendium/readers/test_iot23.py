"""IoT-23: the nine real captures, and small files in both of the formats it comes in."""

import csv
import io

import pandas as pd
import pytest

from compendium.datasets import store
from compendium.readers import iot23
from compendium.readers.iot23 import IOT23_FEATURES, iot23_flows, iot23_problem

COLUMNS = [
    *["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "service", "duration", "orig_bytes"],
    *["resp_bytes", "conn_state", "local_orig", "local_resp", "missed_bytes", "history", "orig_pkts", "orig_ip_bytes"],
    *["resp_pkts", "resp_ip_bytes", "tunnel_parents", "label", "detailed-label"],
]
ZEEK = "CTU-IoT-Malware-Capture-34-1/bro/conn.log.labeled"


class Files:
    def __init__(self, files):
        self.files = {name: content.encode() for name, content in files.items()}
        self.members = tuple(self.files)

    def open(self, member):
        return io.BytesIO(self.files[member])


def flow(host="10.0.0.1", duration="1.5", history="S", label="Malicious", detail="C&C"):
    first = [
        "1545403816.9",
        "Cx",
        host,
        "80",
        "1.2.3.4",
        "80",
        "tcp",
        "-",
        duration,
        "0",
        "7",
        "S0",
        "-",
        "-",
        "0",
        history,
    ]
    return [*first, "3", "180", "0", "0", "-", label, detail]


def zeek(*flows):
    head = ["#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-", "#path\tconn"]
    joined = "\t".join(COLUMNS[:-2]) + "   label   detailed-label"
    head += [f"#fields\t{joined}", "#types\t" + "\t".join(["string"] * 21)]
    rows = ["\t".join(row[:-2]) + f"   {row[-2]}   {row[-1]}" for row in flows]
    return "\n".join([*head, *rows, "#close\t2019-03-15-14-50-49"]) + "\n"


def comma(*flows):
    rows = [",".join("" if value == "-" and at < 21 else value for at, value in enumerate(row)) for row in flows]
    return "\n".join([",".join(COLUMNS), *rows]) + "\n"


@pytest.fixture
def located(mirror):
    return store.fetch("iot-23")


def test_counts_of_the_nine_captures(located):
    table = iot23_flows(located)
    assert len(table) == 46_662
    assert table["capture"].nunique() == 9
    assert set(table["label"]) == {"benign", "malicious"}
    # counted apart: with the csv module, a row counts when none of the nine features is empty
    whole, hosts, malicious = 0, set(), 0
    for member in located.members:
        if member.endswith(".csv"):
            for row in csv.DictReader(io.StringIO(located.read(member).decode())):
                if all(row[name] not in ("", "-") for name in IOT23_FEATURES):
                    whole += 1
                    hosts.add(row["id.orig_h"])
                    malicious += row["label"] == "Malicious"
    problem = iot23_problem(located)
    assert (problem.n_records, problem.n_features) == (whole, 9)
    assert set(problem.users) == hosts
    assert (problem.task == "malicious").sum() == malicious
    assert problem.groups.nunique() == 9
    assert problem.provenance["flows"] == 46_662
    assert problem.provenance["rows_dropped"] == 46_662 - whole


def test_zeek_and_csv_agree_row_for_row(located):
    if not any(member.startswith("zeek/") for member in located.members):
        pytest.skip("needs the Zeek files of the data mirror")
    captures = ["4-1", "34-1", "42-1"]
    one, other = (iot23_flows(located, captures, form) for form in ("csv", "zeek"))
    assert len(one) == 452 + 23_145 + 4_426
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_zeek_file(end):
    content = zeek(flow(), flow(duration="-"), flow(host="10.0.0.2", label="benign", detail="-"))
    table = iot23_flows(Files({ZEEK: content.replace("\n", end)}))
    assert table["duration"].tolist()[::2] == [1.5, 1.5]
    assert table["duration"].isna().tolist() == [False, True, False]
    assert table["label"].tolist() == ["malicious", "malicious", "benign"]
    assert table["detailed-label"].tolist() == ["C&C", "C&C", "-"]
    assert table["capture"].unique().tolist() == ["34-1"]


def test_both_formats_make_the_same_game():
    flows = [flow(), flow(duration="-"), flow(host="10.0.0.2", history="Dd", label="Benign", detail="-")]
    one = iot23_problem(Files({ZEEK: zeek(*flows)}))
    other = iot23_problem(Files({"CTU-Malware-Capture-34-1-labeled.csv": comma(*flows)}))
    assert one.digest == other.digest
    assert one.n_records == 2
    assert one.features["history"].tolist() == [1, 0]  # categories in sorted order: Dd, S
    assert one.users.tolist() == ["10.0.0.1", "10.0.0.2"]
    assert one.task.tolist() == ["malicious", "benign"]


def test_csv_is_taken_where_there_are_both():
    files = Files({ZEEK: zeek(flow(), flow()), "x/CTU-Malware-Capture-34-1-labeled.csv": comma(flow())})
    assert len(iot23_flows(files)) == 1
    assert len(iot23_flows(files, form="zeek")) == 2


def test_sample_is_uniform_and_repeatable():
    files = Files({ZEEK: zeek(*(flow(duration=str(at)) for at in range(100)))})
    drawn = iot23_flows(files, sample=10, seed=3)["duration"].tolist()
    assert len(set(drawn)) == 10
    assert drawn == sorted(drawn)  # in the order of the file
    assert iot23_flows(files, sample=10, seed=3)["duration"].tolist() == drawn
    assert iot23_flows(files, sample=10, seed=4)["duration"].tolist() != drawn
    assert len(iot23_flows(files, sample=1000)) == 100
    many = [iot23_flows(files, sample=10, seed=seed)["duration"].mean() for seed in range(60)]
    assert abs(sum(many) / 60 - 49.5) < 4  # five standard errors


def test_sample_does_not_depend_on_the_size_of_a_part(monkeypatch):
    files = Files({ZEEK: zeek(*(flow(duration=str(at)) for at in range(100)))})
    whole = iot23_flows(files, sample=10)
    monkeypatch.setattr(iot23, "_CHUNK", 7)
    pd.testing.assert_frame_equal(iot23_flows(files, sample=10), whole)


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ({ZEEK: zeek(flow())}, {"captures": ["34-1", "9-9"]}, "no auto file of capture 9-9; there are 34-1"),
        ({ZEEK: zeek(flow())}, {"form": "xml"}, "form 'xml' is unknown, one of auto, csv, zeek"),
        ({ZEEK: zeek(flow())}, {"form": "csv"}, "no IoT-23 capture among the files"),
        ({ZEEK: zeek(flow())}, {"sample": 0}, "sample must be at least 1, got 0"),
        ({"conn.log.labeled": zeek(flow())}, {}, "no IoT-23 capture among the files"),
        ({ZEEK: "#separator \\x09\n1\t2\n"}, {}, "has no line #fields"),
        ({ZEEK: zeek(flow()).replace("history", "story")}, {}, "has no column 'history'"),
        ({ZEEK: zeek(flow()).replace("   label   detailed-label", "")}, {}, "has no column 'label', 'detailed-label'"),
    ],
)
def test_what_cannot_be_read_is_named(files, options, words):
    with pytest.raises(ValueError, match=words):
        iot23_flows(Files(files), **options)


def test_only_rows_with_missing_values():
    with pytest.raises(ValueError, match="every one of the 1 flows has a missing value"):
        iot23_problem(Files({ZEEK: zeek(flow(duration="-"))}))
