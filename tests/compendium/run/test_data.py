"""Data sets as reproduce sees them."""

from compendium.datasets import store
from compendium.datasets.catalogue import catalogue
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.run.reproduce import looker
from compendium.run.states import DataState


def test_a_set_that_is_here_is_its_digest(mirror):
    assert looker("quick")("titanic") == DataState("titanic", digest=store.fetch("titanic").digest)


def test_a_set_that_is_not_here_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(store, "fetch", _unavailable)
    state = looker("quick")("mobiact")
    assert state == DataState("mobiact", reason="mobiact is not here", how=catalogue()["mobiact"].how)
    assert not state.present


def test_a_corrupt_set_is_broken_not_absent(monkeypatch):
    monkeypatch.setattr(store, "fetch", _corrupt)
    state = looker("paper")("titanic")
    assert state.broken
    assert not state.present
    assert "x.csv is corrupt: expected aa, found bb" in state.reason


def test_only_the_quick_profile_limits_downloads(monkeypatch):
    limits = {}

    def fetch(name, *, limit_mb):
        limits[name] = limit_mb
        raise DataUnavailableError("no")

    monkeypatch.setattr(store, "fetch", fetch)
    looker("quick")("adult")
    looker("paper")("bank")
    assert limits == {"adult": store.limit_of("quick"), "bank": None}


def _unavailable(name: str, **_: object):
    raise DataUnavailableError(f"{name} is not here")


def _corrupt(name: str, **_: object):
    raise CorruptDataError("x.csv", "aa", "bb", "delete it")
