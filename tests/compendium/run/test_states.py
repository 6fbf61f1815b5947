"""The small files that say how things stand."""

import hashlib

import pytest

from compendium.run.states import (
    NOT_RUN,
    OK,
    DataState,
    RunState,
    data_state_file,
    in_checkout,
    outputs,
    read_data_state,
    read_status,
    write_data_state,
    write_if_changed,
    write_status,
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


def test_a_file_that_would_say_the_same_keeps_its_time(home):
    path = home / "a" / "b.json"
    write_if_changed(path, {"x": [1, "ü"]})
    before = path.stat().st_mtime_ns
    write_if_changed(path, {"x": [1, "ü"]})
    assert path.stat().st_mtime_ns == before
    write_if_changed(path, {"x": [2]})
    assert path.stat().st_mtime_ns != before
    assert [other.name for other in path.parent.iterdir()] == ["b.json"]


def test_states_come_back_as_they_were_written():
    assert not read_data_state("adult").present
    state = DataState("adult", reason="no", how="fetch it", broken=True)
    write_data_state(state)
    assert read_data_state("adult") == state
    assert in_checkout(data_state_file("adult")) == "build/data/adult.json"
    assert read_status("10_a", "quick") == RunState(NOT_RUN, "make reproduce")
    for state in (RunState(OK, outputs={"x": "y"}), RunState("failed", "why", "a.log")):
        write_status("10_a", "quick", state)
        assert read_status("10_a", "quick") == state
    assert read_status("10_a", "paper").status == NOT_RUN


def test_what_the_network_said_of_an_absent_set_starts_no_run_again(home):
    write_data_state(DataState("titanic", reason="connection refused", how="fetch it"))
    before = data_state_file("titanic").read_bytes()
    write_data_state(DataState("titanic", reason="connection timed out", how="fetch it"))
    assert data_state_file("titanic").read_bytes() == before
    broken = DataState("adult", reason="adult.data is damaged", broken=True)
    write_data_state(broken)
    assert read_data_state("adult") == broken


def test_a_set_is_present_only_if_it_can_be_read():
    assert DataState("a", digest="x").present
    assert not DataState("a", reason="gone").present
    assert not DataState("a", digest="x", broken=True).present


def test_outputs_are_the_byte_stable_files_of_the_profile(home):
    for name in ("figures/10_a/t.csv", "figures/quick/10_a/t.csv", "figures/quick/10_a/deep/u.csv"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    (home / "figures/quick/10_a/machine.json").write_text("now")
    (home / "figures/quick/10_a/drawn").mkdir()
    (home / "figures/quick/10_a/drawn/noise.csv").write_text("1")
    found = outputs("10_a", "quick")
    assert list(found) == ["figures/quick/10_a/deep/u.csv", "figures/quick/10_a/t.csv"]
    assert found["figures/quick/10_a/t.csv"] == hashlib.sha256(b"figures/quick/10_a/t.csv").hexdigest()
    assert list(outputs("10_a", "paper")) == ["figures/10_a/t.csv"]
    assert outputs("20_b", "quick") == {}


def test_results_may_lie_outside_the_checkout(home, tmp_path_factory, monkeypatch):
    """With SENSORPRIVACY_OUTPUT, reproduce failed before it began: a status file is no part of the checkout."""
    elsewhere = tmp_path_factory.mktemp("results")
    monkeypatch.setenv("SENSORPRIVACY_OUTPUT", str(elsewhere))
    assert in_checkout(data_state_file("adult")) == (elsewhere / "build" / "data" / "adult.json").as_posix()
    assert in_checkout(home / "data" / "raw") == "data/raw"
