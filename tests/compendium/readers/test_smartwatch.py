"""The smartwatch set is a pickle, so no other file than the published one is loaded."""

import hashlib
import io
import os
from types import SimpleNamespace

import numpy as np
import pytest

from compendium.datasets.catalogue import lookup
from compendium.readers import smartwatch


class Runs:
    """An object whose pickle makes a folder when it is loaded."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def saved(data) -> bytes:
    out = io.BytesIO()
    np.save(out, data, allow_pickle=True)
    return out.getvalue()


def files(content: bytes) -> SimpleNamespace:
    return SimpleNamespace(members=("watch_dataset.npy",), read=lambda member: content)


def test_a_file_that_is_not_the_published_one_is_not_loaded(tmp_path):
    with pytest.raises(ValueError, match=r"not the published file .*found [0-9a-f]{64}.* not loaded: delete it"):
        smartwatch.read_smartwatch(files(saved(np.array({"X": Runs(tmp_path / "ran")}, dtype=object))))
    assert not (tmp_path / "ran").exists()


def test_the_digest_is_the_one_of_the_catalogue():
    (form,) = lookup("smartwatch").forms
    assert [member.sha256 for member in form.members] == [smartwatch.SHA256]


def test_the_bytes_that_were_verified_are_the_loaded_ones(monkeypatch):
    data = {
        "X_labels": ["ax", "ay", "az", "wx", "wy", "wz"],
        "y_labels": list(smartwatch.EXERCISES),
        "X": np.array([np.arange(12.0).reshape(2, 6), np.ones((3, 6)), None], dtype=object)[:2],
        "y": np.array([1, 0]),
        "side": np.array([0, 1]),
        "subject": np.array([2, 1]),
    }
    content = saved(np.array(data, dtype=object))
    reads = iter([content, saved(np.array({}, dtype=object))])
    monkeypatch.setattr(smartwatch, "SHA256", hashlib.sha256(content).hexdigest())
    source = SimpleNamespace(members=("watch_dataset.npy",), read=lambda member: next(reads))
    found = smartwatch.read_smartwatch(source)
    assert found.table["subject"].tolist() == [1, 2]
