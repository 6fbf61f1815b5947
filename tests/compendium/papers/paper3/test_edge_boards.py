"""Only a plausible measurement of paper 3's networks on its board is compared with the printed seconds."""

import copy
import runpy
from pathlib import Path

import pytest

from compendium.papers.paper3.edge_tables import first_steps, is_pi3, paper_boards, read_boards
from compendium.papers.paper3.records import RecordError
from sensorprivacy.edge.board.measurement import measure, write_record

_FIXTURES = runpy.run_path(str(Path(__file__).parents[3] / "edge" / "conftest.py"))
windows, anonymizer, bundle = (_FIXTURES[name] for name in ("windows", "anonymizer", "bundle"))

UNUSED = "Not compared with the printed seconds: "
PI3 = {"board": "Raspberry Pi 3 Model B Rev 1.2", "machine": "aarch64", "cores": 4}


@pytest.fixture(scope="module")
def measured(bundle):
    record = measure(bundle.folder, batches=(1, 256), seconds=0.001)
    record["bundles"][0]["name"] = "motionsense-gender"
    return record


@pytest.fixture
def pi(measured):
    """Return a record of a slow board."""
    record = copy.deepcopy(measured)
    record["hardware"] |= PI3
    for row in record["bundles"][0]["steps"]:
        row |= {name: row[name] * 100 for name in ("median", "p95", "p99", "mean", "least")}
    return record


def test_a_pi_3_with_the_networks_of_this_run_counts(measured, pi):
    found, unused = paper_boards({"this machine": measured, "pi": pi}, measured)
    assert found == {"pi": pi}
    assert unused == []
    assert first_steps(found)["table"].unique().tolist() == ["4"]
    assert first_steps({}) is None


def test_other_machines_have_no_say(measured, pi):
    pi["hardware"]["board"] = "Raspberry Pi 4 Model B Rev 1.1"
    found, unused = paper_boards({"this machine": measured, "pi": pi}, measured)
    assert found == {}
    assert unused == [UNUSED + "pi: Raspberry Pi 4 Model B Rev 1.1, not a Raspberry Pi 3 Model B"]
    pi["hardware"]["board"] = None
    assert paper_boards({"pi": pi}, measured)[1] == [UNUSED + "pi: an unknown board, not a Raspberry Pi 3 Model B"]


def test_networks_of_other_recordings_are_left_out_and_named(measured, pi):
    (own,) = pi["bundles"]
    pi["bundles"] = [own | {"name": "home-gender", "dataset": "home"}]
    found, unused = paper_boards({"pi": pi}, measured)
    assert found == {}
    assert unused == [UNUSED + "pi, home-gender: not one of paper 3's networks in float32"]


def test_networks_of_another_size_or_precision_are_left_out(measured, pi):
    (own,) = pi["bundles"]
    larger = [each | {"weights": each["weights"] + 1} for each in own["networks"]]
    assert paper_boards({"pi": pi | {"bundles": [own | {"networks": larger}]}}, measured) == (
        {}, [UNUSED + "pi, motionsense-gender: other networks than this run's; export them again with its parameters"]
    )  # fmt: skip
    found, unused = paper_boards({"pi": pi | {"bundles": [own | {"precision": "int8"}]}}, measured)
    assert found == {}
    assert "in float32" in unused[0]


def test_a_record_of_the_board_is_read(pi, tmp_path):
    assert read_boards([write_record(pi, tmp_path / "pi.json")]) == {"pi": pi}


@pytest.mark.parametrize(
    ("hardware", "message"),
    [({"machine": "x86_64"}, "its processor is x86_64"), ({"cores": 2}, "it has 2 cores")],
)
def test_another_machine_under_the_boards_name_is_refused(pi, hardware, message, tmp_path):
    pi["hardware"] |= hardware
    with pytest.raises(RecordError, match=f"pi: the record names a Raspberry Pi 3 Model B, but {message}"):
        read_boards([write_record(pi, tmp_path / "pi.json")])
    pi["hardware"]["board"] = "Raspberry Pi 4 Model B"
    assert list(read_boards([write_record(pi, tmp_path / "pi.json")])) == ["pi"]


def test_times_that_the_board_cannot_reach_are_refused(pi, tmp_path):
    for row in pi["bundles"][0]["steps"]:
        row["least"] = 1e-12
    with pytest.raises(RecordError, match=r"public takes .* the board needs at least"):
        read_boards([write_record(pi, tmp_path / "pi.json")])


@pytest.mark.parametrize(
    ("board", "is_it"),
    [
        ("Raspberry Pi 3 Model B Rev 1.2", True),
        ("Raspberry Pi 3 Model B Plus Rev 1.3", False),
        ("Raspberry Pi 4 Model B Rev 1.1", False),
        (None, False),
    ],
)
def test_only_a_pi_3_model_b_counts_as_the_papers_board(board, is_it):
    assert is_pi3({"hardware": {"board": board}}) is is_it
