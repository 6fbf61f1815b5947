"""Data sets as the command line and reproduce see them."""

from compendium.datasets import store
from compendium.datasets.catalogue import catalogue
from compendium.datasets.errors import CorruptDataError, DataUnavailableError
from compendium.run import data
from compendium.run.states import DataState


def test_a_set_that_is_here_is_its_digest(mirror):
    assert data.looker("quick")("titanic") == DataState("titanic", digest=store.fetch("titanic").digest)


def test_a_set_that_is_not_here_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(store, "fetch", _unavailable)
    state = data.looker("quick")("mobiact")
    assert state == DataState("mobiact", reason="mobiact is not here", how=catalogue()["mobiact"].how)
    assert not state.present


def test_a_corrupt_set_is_broken_not_absent(monkeypatch):
    monkeypatch.setattr(store, "fetch", _corrupt)
    state = data.looker("paper")("titanic")
    assert state.broken
    assert not state.present
    assert "x.csv is corrupt: expected aa, found bb" in state.reason


def test_only_the_quick_profile_limits_downloads(monkeypatch):
    limits = {}

    def fetch(name, *, limit_mb):
        limits[name] = limit_mb
        raise DataUnavailableError("no")

    monkeypatch.setattr(store, "fetch", fetch)
    data.looker("quick")("adult")
    data.looker("paper")("bank")
    assert limits == {"adult": store.limit_of("quick"), "bank": None}


def test_fetching_goes_on_past_unavailable_and_corrupt_sets(monkeypatch, tmp_path):
    class Here:
        path = tmp_path

    def fetch(name):
        return {"a": _unavailable, "b": _corrupt}.get(name, lambda _: Here)(name)

    said = []
    monkeypatch.setattr(store, "fetch", fetch)
    assert data.fetch(["a", "b", "c"], say=said.append) == ["a", "b"]
    assert said[0] == "a: a is not here"
    assert said[1].startswith("b: x.csv is corrupt")
    assert said[2] == f"c: {tmp_path}"


def _unavailable(name: str, **_: object):
    raise DataUnavailableError(f"{name} is not here")


def _corrupt(name: str, **_: object):
    raise CorruptDataError("x.csv", "aa", "bb", "delete it")
