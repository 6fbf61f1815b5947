"""The inference models read the same windows once."""

import pickle

import numpy as np
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import InferenceModels
from sensorprivacy.latent.classifiers import Classifier


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which every reading by a network adds its number of windows."""
    counted: list[int] = []
    read = Classifier.probabilities

    def counting(self: Classifier, values: np.ndarray) -> np.ndarray:
        counted.append(len(values))
        return read(self, values)

    monkeypatch.setattr(Classifier, "probabilities", counting)
    return counted


def test_the_same_windows_are_read_once_and_others_anew(
    models: InferenceModels, unseen: Windows, read: list[int]
) -> None:
    some = unseen.take(np.arange(20))
    public, private = models.inferred(some)
    models.inferred(some)
    assert read == [20, 20]
    assert np.array_equal(models.inferred(some.take(np.arange(19, -1, -1)))[0], public[::-1])
    assert read == [20] * 4
    scaled = models.scaled(some)
    assert np.array_equal(models.private_model.predict(scaled), private)


def test_what_was_read_cannot_be_changed_and_is_not_copied(
    models: InferenceModels, unseen: Windows, read: list[int]
) -> None:
    some = unseen.take(np.arange(5))
    with pytest.raises(ValueError, match="read-only"):
        models.probabilities(some)[0][:] = 0
    copied = pickle.loads(pickle.dumps(models))
    read.clear()
    assert np.array_equal(copied.probabilities(some)[1], models.probabilities(some)[1])
    assert read == [5, 5]
