"""CIC-IDS 2017, and the CSV forms of paper 1's authors in small files."""

import io

import numpy as np
import pandas as pd
import pytest

from compendium.datasets import store
from compendium.readers.traffic import (
    CIC_IDENTIFIERS,
    amir_netml_problem,
    amir_nprint_problem,
    cic_problem,
    service_problem,
)


class Files:
    def __init__(self, files):
        self.files = files
        self.members = tuple(files)

    def read(self, member):
        return self.files[member]

    def open(self, member):
        return io.BytesIO(self.files[member])


def table_file(table):
    return table.to_csv(index=False).encode()


@pytest.fixture
def flows():
    """Three flows with CICFlowMeter's column names, as its own files write them: with a space in front."""
    table = pd.DataFrame(
        1.0, index=range(3), columns=[*CIC_IDENTIFIERS, "Flow Duration", "Flow Bytes/s", "Fwd Header Length"]
    )
    table["Init_Win_bytes_forward"] = table["Init_Win_bytes_backward"] = table["Fwd Header Length.1"] = 2.0
    table["Source IP"] = ["10.0.0.1", "10.0.0.2", "10.0.0.1"]
    table["Label"] = ["BENIGN", "Web Attack \x96 XSS", "BENIGN"]
    return table


def test_the_real_draw(mirror):
    located = store.fetch("cic-ids-2017")
    problem = cic_problem(located)
    assert (problem.n_records, problem.n_features) == (7_267, 74)
    assert problem.features.columns[[0, 33, 62, 63, 73]].tolist() == [
        "Flow Duration",
        "Fwd Header Length",
        "Subflow Bwd Packets",
        "Subflow Bwd Bytes",
        "Idle Min",
    ]  # as the authors' notebook lists them
    assert problem.users.nunique() == 554
    assert problem.task.value_counts().to_dict() == {"benign": 5_087, "attack": 2_180}
    assert problem.provenance == {"rows_dropped": 0}


def test_generated_flows(flows):
    flows.loc[2, "Flow Bytes/s"] = np.inf
    content = flows.rename(columns=lambda name: f" {name}").to_csv(index=False).encode("latin-1")
    problem = cic_problem(Files({"Thursday.csv": content}))
    assert problem.features.columns.tolist() == ["Flow Duration", "Flow Bytes/s", "Fwd Header Length"]
    assert problem.task.tolist() == ["benign", "attack"]
    assert problem.users.tolist() == ["10.0.0.1", "10.0.0.2"]
    assert problem.provenance["rows_dropped"] == 1


def test_missing_columns_are_named(flows):
    content = table_file(flows.drop(columns=["Source IP", "Label"]))
    with pytest.raises(ValueError, match=r"Thursday\.csv has no column 'Source IP', 'Label'; it has Flow ID"):
        cic_problem(Files({"Thursday.csv": content}))
    with pytest.raises(ValueError, match="there is no CSV file"):
        cic_problem(Files({"Thursday.pcap": b""}))


def amir_table():
    """As the authors' notebook prints its head: arrays as text, then bits, some of them missing."""
    numbers = [np.arange(36) + 0.5, np.arange(36) * -1e-3, np.full(36, 7.0)]
    return pd.DataFrame(
        {
            "feat_sf": ["[1. 2.]"] * 3,
            "feat_netml": ["[" + ", ".join(map(str, numbers[0])) + "]", str(numbers[1]), str(numbers[2])],
            "id": ["no_interaction_10_1614039254", "no_interaction_11_1625876247", "remote_control_8_1665931191"],
            "activity": ["check_on_fridge", "check_on_fridge", "remote_control"],
            "user": [2, 2, 7],
            "device": ["fridge", "fridge", "tv"],
            "duration": [23.0, 28.0, 11.0],
            "environment": ["lab", "lab", "home"],
            "pkt_0_rts": [0.0, 0.25, np.nan],
            "pkt_0_ipv4_ver_0": [0.0, 1.0, np.nan],
            "pkt_2_udp_cksum_15": [-1.0, np.nan, 1.0],
        }
    )


def test_netml():
    problem = amir_netml_problem(Files({"NetML_nPrints_AMIR.csv": table_file(amir_table())}))
    assert problem.features.shape == (3, 36)
    assert problem.features.iloc[0].tolist() == [at + 0.5 for at in range(36)]
    np.testing.assert_allclose(problem.features.iloc[1], np.arange(36) * -1e-3, atol=1e-8)
    assert problem.features.columns[35] == "netml_35"
    assert problem.task.tolist() == ["fridge", "fridge", "tv"]
    assert problem.users.tolist() == [2, 2, 7]
    assert problem.groups is None


def test_nprint():
    problem = amir_nprint_problem(Files({"NetML_nPrints_AMIR.csv": table_file(amir_table())}))
    assert problem.features.columns.tolist() == ["pkt_0_rts", "pkt_0_ipv4_ver_0", "pkt_2_udp_cksum_15"]
    assert problem.features.to_numpy().tolist() == [[0, 0, -1], [0.25, 1, -1], [-1, -1, 1]]
    assert problem.features["pkt_2_udp_cksum_15"].dtype == np.int8


def test_damaged_amir_is_named():
    table = amir_table()
    table.loc[1, "feat_netml"] = "[1.0 2.0]"
    with pytest.raises(ValueError, match=r"x\.csv: feat_netml of row 1 has 2 numbers, not 36"):
        amir_netml_problem(Files({"x.csv": table_file(table)}))
    with pytest.raises(ValueError, match="no column 'user', 'feat_netml'"):
        amir_netml_problem(Files({"x.csv": table_file(table.drop(columns=["user", "feat_netml"]))}))
    with pytest.raises(ValueError, match="no column that begins with 'pkt_'"):
        amir_nprint_problem(Files({"x.csv": table_file(table.iloc[:, :8])}))
    with pytest.raises(ValueError, match=r"there must be one CSV file, but there are 2: a\.csv, b\.csv"):
        amir_netml_problem(Files({"b.csv": b"", "a.csv": b""}))


def test_service_recognition():
    table = pd.DataFrame(
        {"pkt_0_ipv4_tos_0": [0, 1], "pkt_9_udp_cksum_15": [-1, -1], "Label": ["twitch", "zoom"], "ip_label": [46, 88]}
    )
    problem = service_problem(Files({"serv_rec_full_nprint_10pkts.csv": table_file(table)}))
    assert problem.features.to_numpy().tolist() == [[0, -1], [1, -1]]
    assert (problem.features.dtypes == np.int8).all()
    assert problem.task.tolist() == ["twitch", "zoom"]
    assert problem.users.tolist() == [46, 88]
    with pytest.raises(ValueError, match="no column 'ip_label'"):
        service_problem(Files({"x.csv": table_file(table.drop(columns="ip_label"))}))
