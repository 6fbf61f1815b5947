"""Train the inference models of Algorithm 1, which infer the public and the private class of a window.

An anonymizer returns the inferred classes with the published windows, as `Anonymized`.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sensorprivacy.data import Windows
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Coding, Scaler, private_labels


class Readings(WeakKeyDictionary[Windows, tuple[np.ndarray, np.ndarray]]):
    """What was read from windows, for as long as the windows exist. A copy begins empty."""

    def __reduce__(self) -> tuple[type["Readings"], tuple[()]]:
        return Readings, ()

    def __deepcopy__(self, memo: object) -> "Readings":
        return Readings()


@dataclass(frozen=True)
class PublicModel:
    """A model of the public class, with the scaling and the classes that it needs.

    Parameters
    ----------
    shape : tuple of int
        Channels and samples of a window.
    scaler : Scaler
        Scaling, learned on training windows.
    public : Coding
        Public classes.
    public_model : Classifier or Trees
        The model. Anonymizers need a Classifier; trees only judge.
    """

    shape: tuple[int, int]
    scaler: Scaler
    public: Coding
    public_model: Classifier

    def scaled(self, windows: Windows) -> np.ndarray:
        """Return the scaled values of windows.

        Raises
        ------
        ValueError
            If they have another number of channels or samples than the training windows.
        """
        found = (windows.n_channels, windows.length)
        if found != self.shape:
            expected = f"{self.shape[0]} channels x {self.shape[1]} samples"
            raise ValueError(f"windows of {found[0]} channels x {found[1]} samples, but this was trained on {expected}")
        return self.scaler.apply(windows.values)


@dataclass(frozen=True)
class InferenceModels(PublicModel):
    """The models of the public and of the private class, trained once and shared by anonymizers.

    Parameters
    ----------
    shape, scaler, public, public_model
        As for `PublicModel`.
    attribute : str
        The private attribute, or ``subject``.
    private : Coding
        Private classes.
    private_model : Classifier
        The model of the private class.
    """

    attribute: str
    private: Coding
    private_model: Classifier
    readings: Readings = field(init=False, repr=False, compare=False, default_factory=Readings)

    def probabilities(self, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Return what both models say of windows: the probabilities of public and of private classes, each n x c."""
        if windows not in self.readings:
            scaled = self.scaled(windows)
            found = self.public_model.probabilities(scaled), self.private_model.probabilities(scaled)
            for part in found:
                part.flags.writeable = False
            self.readings[windows] = found
        return self.readings[windows]

    def inferred(self, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Return the public and private codes that the models infer for windows."""
        public, private = self.probabilities(windows)
        return public.argmax(axis=1), private.argmax(axis=1)

    def codes(self, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Return the true public and private codes of windows."""
        return self.public.codes(windows.public), self.private.codes(private_labels(windows, self.attribute))

    def misread(
        self,
        published: np.ndarray,
        public: np.ndarray,
        target: np.ndarray,
        second_reader: Classifier | None = None,
        insist: str = "public",
    ) -> np.ndarray:
        """Return a mask of scaled windows whose public class, or also target class, a reader does not recognize."""
        if insist not in ("public", "both"):
            raise ValueError(f"insist {insist!r} is unknown: choose from public, both")
        readers = [(self.public_model, public), (second_reader, public)]
        readers += [(self.private_model, target)] if insist == "both" else []
        wrong = np.zeros(len(published), dtype=bool)
        for reader, wanted in readers:
            left = np.flatnonzero(~wrong)  # the second reader can be a slow one
            if reader is not None and len(left):
                wrong[left] = reader.predict(published[left]) != wanted[left]
        return wrong

    def check_cells(self, public: np.ndarray, private: np.ndarray) -> None:
        """Raise ValueError if a private class has too few windows in a public class for a mean latent m(y, p)."""
        counts = np.zeros((len(self.public.classes), len(self.private.classes)), dtype=np.int64)
        np.add.at(counts, (public, private), 1)
        for row, column in np.argwhere(counts < 2)[:1]:
            few = f"{counts[row, column]} training window(s) of {self.attribute} {self.private.classes[column]!r}"
            remedy = "its mean latent needs two: add windows, or leave the class out"
            raise ValueError(f"{self.public.classes[row]!r} has {few}, but {remedy}")


def train_public_model(
    windows: Windows, *, validation: Windows | None, kind: Kind, settings: Settings, **options: Any
) -> PublicModel:
    """Train a model of the public class on raw windows.

    Parameters
    ----------
    windows, validation, kind, settings
        As for `train_inference_models`.
    **options
        ``checkpoint`` and ``progress`` of `training.train`.

    Returns
    -------
    PublicModel
    """
    coding, scaler = Coding.fit(windows.public, "public class"), Scaler.fit(windows.values)
    held = (scaler.apply(validation.values), coding.codes(validation.public)) if validation is not None else None
    options |= {"classes": len(coding.classes), "label": f"inference of public class, {kind}"}
    x, codes = scaler.apply(windows.values), coding.codes(windows.public)
    model = Classifier(kind, settings=settings).fit(x, codes, validation=held, **options)
    return PublicModel((windows.n_channels, windows.length), scaler, coding, model)


@dataclass(frozen=True)
class Anonymized:
    """Anonymized windows, and the classes that the device inferred.

    Attributes
    ----------
    windows : Windows
        The published windows, with their true labels for evaluation.
    public, private : numpy.ndarray of int64
        Inferred classes, as codes.
    target : numpy.ndarray of int64
        Private class that each window was moved to.
    distortion : float
        Mean squared difference from the original, in units of each channel's deviation.
    donor : numpy.ndarray of int64
        Code of the training person whose latent is published, in the order of ``people_``; -1 if it is nobody's.
    """

    windows: Windows
    public: np.ndarray
    private: np.ndarray
    target: np.ndarray
    distortion: float
    donor: np.ndarray


def train_inference_models(
    windows: Windows,
    private: str,
    *,
    validation: Windows | None = None,
    kind: Kind = "mlp",
    settings: Settings | None = None,
    checkpoints: Path | None = None,
    progress: bool = True,
) -> InferenceModels:
    """Train the models of the public and of the private class on raw windows.

    Parameters
    ----------
    windows : Windows
        Training windows. Scaling is learned from these alone.
    private : str
        The private attribute, or ``subject``.
    validation : Windows, optional
        Validation windows, for early stopping.
    kind : {"mlp", "cnn", "conv1d"}
        Network of both models. The paper uses the MLP for MotionSense and the CNN for MobiAct.
    settings : Settings, optional
        How to train.
    checkpoints : pathlib.Path, optional
        Folder for checkpoints, from which interrupted trainings continue.
    progress : bool
        Show progress bars.

    Returns
    -------
    InferenceModels

    Raises
    ------
    ValueError
        If an attribute is unknown or has a single class, or `validation` has a class that training windows lack.
    """
    settings = settings or Settings(epochs=60, batch=256)
    labels = private_labels(windows, private)
    coding = Coding.fit(labels, private)
    held_codes = coding.codes(private_labels(validation, private)) if validation is not None else None
    first, second = (replace(settings, seed=settings.seed * 2 + model) for model in (0, 1))
    kept = [checkpoints / f"inference-{model}.safetensors" if checkpoints else None for model in (0, 1)]
    options: dict[str, Any] = {"checkpoint": kept[0], "progress": progress}
    base = train_public_model(windows, validation=validation, kind=kind, settings=first, **options)
    held = (base.scaled(validation), held_codes) if validation is not None and held_codes is not None else None
    options |= {"checkpoint": kept[1], "classes": len(coding.classes), "label": f"inference of {private}"}
    x, codes = base.scaled(windows), coding.codes(labels)
    model = Classifier(kind, settings=second).fit(x, codes, validation=held, **options)
    return InferenceModels(base.shape, base.scaler, base.public, base.public_model, private, coding, model)
