"""Data sets as the command line and reproduce see them."""

from sensorprivacy.datasets import store
from sensorprivacy.datasets.catalogue import catalogue
from sensorprivacy.datasets.errors import CorruptDataError, DataUnavailableError
from sensorprivacy.runner import data as supply
from sensorprivacy.runner.states import DataState


def test_a_set_that_is_here_is_its_digest(mirror):
    assert supply.looker("quick")("titanic") == DataState("titanic", digest=store.fetch("titanic").digest)


def test_a_set_that_is_not_here_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(store, "fetch", _unavailable)
    state = supply.looker("quick")("mobiact")
    assert state == DataState("mobiact", reason="mobiact is not here", how=catalogue()["mobiact"].how)
    assert not state.present


def test_a_corrupt_set_is_broken_not_absent(monkeypatch):
    monkeypatch.setattr(store, "fetch", _corrupt)
    state = supply.looker("paper")("titanic")
    assert state.broken
    assert not state.present
    assert "x.csv is corrupt: expected aa, found bb" in state.reason


def test_only_the_quick_profile_limits_downloads(monkeypatch):
    limits = {}

    def fetch(name, *, limit_mb):
        limits[name] = limit_mb
        raise DataUnavailableError("no")

    monkeypatch.setattr(store, "fetch", fetch)
    supply.looker("quick")("adult")
    supply.looker("paper")("bank")
    assert limits == {"adult": store.QUICK_LIMIT_MB, "bank": None}


def test_fetching_goes_on_past_what_cannot_be_had(monkeypatch, tmp_path):
    class Here:
        path = tmp_path

    def fetch(name):
        return {"a": _unavailable, "b": _corrupt}.get(name, lambda _: Here)(name)

    said = []
    monkeypatch.setattr(store, "fetch", fetch)
    assert supply.fetch(["a", "b", "c"], say=said.append) == (["a"], ["b"])
    assert said[0] == "a is not here"
    assert said[1].startswith("b: x.csv is corrupt")
    assert said[2] == f"c: {tmp_path}"


def test_the_page_on_the_data_is_what_the_catalogue_says(root):
    page = (root / "data" / "README.md").read_text(encoding="utf-8")
    assert page == supply.readme(), "run: python -m sensorprivacy report data"
    for entry in catalogue().values():
        for words in (entry.title, entry.licence, entry.citation, entry.how):
            assert words in page


def _unavailable(name: str, **_: object):
    raise DataUnavailableError(f"{name} is not here")


def _corrupt(name: str, **_: object):
    raise CorruptDataError("x.csv", "aa", "bb", "delete it")
