"""Data sets as reproduce sees them."""

import pytest

from compendium.datasets import store
from compendium.datasets.catalogue import catalogue
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.run.reproduce import Looker
from compendium.run.states import DataState


def test_a_set_that_is_here_is_its_digest(mirror):
    assert Looker()("titanic") == DataState("titanic", digest=store.fetch("titanic").digest)


def test_a_set_that_is_not_here_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(store, "fetch", _unavailable)
    state = Looker()("mobiact")
    assert state == DataState("mobiact", reason="mobiact is not here", how=catalogue()["mobiact"].how)
    assert not state.present


def test_a_corrupt_set_is_broken_not_absent(monkeypatch):
    monkeypatch.setattr(store, "fetch", _corrupt)
    state = Looker()("titanic")
    assert state.broken
    assert not state.present
    assert "x.csv is corrupt: expected aa, found bb" in state.reason


def test_downloads_are_announced_and_can_be_declined(machine, monkeypatch):
    """The quick profile downloaded nothing above 30 MB, so eight runs on MotionSense had no data."""
    monkeypatch.setattr(store.fetching, "bring", lambda _: pytest.fail("downloaded"))
    declined = Looker(download=False)
    assert declined.announcement(["motionsense", "adult"]) == ""
    state = declined("motionsense")
    assert state.reason == "motionsense is not on this machine: .venv/bin/compendium data fetch motionsense"
    assert state.how == ".venv/bin/compendium data fetch motionsense"
    said = Looker().announcement(["motionsense", "adult", "mobiact"])
    assert said.startswith("to download: motionsense 72 MB, adult 10 MB; 82 MB in all, about 33 s at 20 Mbit/s (make")
    assert said.endswith("(make reproduce DATA=no, or --no-data, downloads nothing)")


def _unavailable(name: str, **_: object):
    raise DataUnavailableError(f"{name} is not here")


def _corrupt(name: str, **_: object):
    raise CorruptDataError("x.csv", "aa", "bb", "delete it")
