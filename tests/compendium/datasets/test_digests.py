"""Remembered digests of files: a damaged cache, or one of another version, is as good as none."""

import hashlib
import json

import pytest

from compendium.datasets.finding import Address, Digests

CONTENT = b"rows"


@pytest.mark.parametrize(
    "known", [{}, {"digest": "x"}, [], "x", None, {"size": 4}, {"size": 4, "mtime_ns": 0, "sha256": 1}]
)
def test_a_cache_of_another_form_is_not_used(tmp_path, monkeypatch, known):
    file, cache = tmp_path / "a.csv", tmp_path / "cache"
    file.write_bytes(CONTENT)
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(cache))
    (cache / "verified").mkdir(parents=True)
    (cache / "verified" / "a.json").write_text(json.dumps({str(file): known}))
    digests = Digests("a")
    assert digests.of(Address(file)) == hashlib.sha256(CONTENT).hexdigest()
    digests.save()
    assert json.loads((cache / "verified" / "a.json").read_text())[str(file)]["size"] == 4
