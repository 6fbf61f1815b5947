"""The real sets as mirrored: found, verified, and as many members as the data's README counts."""

import pytest

from compendium.datasets import store
from compendium.datasets.catalogue import lookup

MEMBERS = {
    "titanic": 3,
    "adult": 2,
    "bank": 2,
    "heart": 4,
    "student": 2,
    "smart-home": 1,
    "smart-home-readings": 4,
    "smart-home-kitchen": 1,
    "motionsense": 361,
    "iot-sentinel": 581,
    "iot-23": 12,
    "cic-ids-2017": 1,
}


@pytest.fixture
def mirrored(machine, mirror, monkeypatch):
    monkeypatch.setenv("SENSORPRIVACY_MIRROR", str(mirror))
    return mirror


@pytest.mark.parametrize("name", MEMBERS)
def test_every_mirrored_set_is_found_and_verified(mirrored, cache, name):
    located = store.locate(name)
    assert len(located.members) == MEMBERS[name]
    unpacked = any(path.is_relative_to(cache) for path in located.addresses.values())
    assert (cache / lookup(name).folder).exists() == unpacked, "only archives are unpacked"
    assert store.state(name)["digest"] == located.digest


@pytest.mark.slow
def test_captures_and_recordings_are_named_as_their_readers_expect(mirrored):
    captures = store.locate("iot-sentinel")
    assert sum(member.endswith(".pcap") for member in captures.members) == 550
    assert len({member.split("/")[0] for member in captures.members}) == 31
    with captures.open("Aria/Setup-A-4-STA.pcap") as stream:
        assert stream.read(4) in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4"), "a pcap begins with its magic number"
    recordings = store.locate("motionsense")
    assert recordings.read("A_DeviceMotion_data/wlk_7/sub_24.csv").startswith(b",attitude.roll")
    assert recordings.read("data_subjects_info.csv").startswith(b"\xef\xbb\xbfcode,weight")


@pytest.mark.parametrize("name", ["smartwatch", "mobiact", "opportunity", "amir", "service-recognition"])
def test_what_is_not_mirrored_is_absent_and_says_how_to_get_it(mirrored, name):
    state = store.state(name)
    assert state["status"] == "absent"
    assert name in state["why"]
    assert state["how"]
