"""The two pretrained models of Algorithm 1: public and private class of a window, as the device guesses them."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.classifiers import Classifier, Kind
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import Coding, Scaler, private_labels


@dataclass(frozen=True)
class Guesses:
    """Scaling, classes and the two inference models, trained once and shared by what is built on them.

    Parameters
    ----------
    attribute : str
        The private attribute, or ``subject``.
    shape : tuple of int
        Channels and samples of a window.
    scaler : Scaler
        Learnt on training windows.
    public, private : Coding
        Classes.
    public_model, private_model : Classifier
        The models.
    """

    attribute: str
    shape: tuple[int, int]
    scaler: Scaler
    public: Coding
    private: Coding
    public_model: Classifier
    private_model: Classifier

    def scaled(self, windows: Windows) -> np.ndarray:
        """Return the scaled values of windows.

        Raises
        ------
        ValueError
            If they have another number of channels or samples than the training windows.
        """
        return _scaled(self.scaler, self.shape, windows)

    def codes(self, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
        """Return the true public and private codes of windows."""
        return self.public.codes(windows.public), self.private.codes(private_labels(windows, self.attribute))


@dataclass(frozen=True)
class Judge:
    """Scaling, classes and a model of the public class: half of `Guesses`, or a judge that no anonymizer uses.

    Parameters
    ----------
    shape : tuple of int
        Channels and samples of a window.
    scaler : Scaler
        Learnt on training windows.
    public : Coding
        Classes.
    public_model : Classifier
        The model.
    """

    shape: tuple[int, int]
    scaler: Scaler
    public: Coding
    public_model: Classifier

    def scaled(self, windows: Windows) -> np.ndarray:
        """Return the scaled values of windows, as `Guesses.scaled` does."""
        return _scaled(self.scaler, self.shape, windows)


def _scaled(scaler: Scaler, shape: tuple[int, int], windows: Windows) -> np.ndarray:
    found = (windows.n_channels, windows.length)
    if found != shape:
        expected = f"{shape[0]} channels x {shape[1]} samples"
        raise ValueError(f"windows of {found[0]} channels x {found[1]} samples, but this was trained on {expected}")
    return scaler.apply(windows.values)


def train_judge(
    windows: Windows,
    *,
    validation: Windows | None = None,
    kind: Kind = "mlp",
    settings: Settings | None = None,
    checkpoint: Path | None = None,
    progress: bool = True,
) -> Judge:
    """Train a model of the public class on raw windows; parameters as of `train_guesses`.

    Parameters
    ----------
    windows, validation, kind, settings, progress
        As for `train_guesses`.
    checkpoint : pathlib.Path, optional
        File in which an interrupted training is kept and taken up.

    Returns
    -------
    Judge
        Scaling, classes, model.
    """
    settings = settings or Settings(epochs=60, batch=256)
    coding, scaler = Coding.fit(windows.public, "public class"), Scaler.fit(windows.values)
    judged = None
    if validation is not None:
        judged = (scaler.apply(validation.values), coding.codes(validation.public))
    model = Classifier(kind, settings=settings).fit(
        scaler.apply(windows.values),
        coding.codes(windows.public),
        classes=len(coding.classes),
        validation=judged,
        checkpoint=checkpoint,
        progress=progress,
        label=f"inference of public class, {kind}",
    )
    return Judge((windows.n_channels, windows.length), scaler, coding, model)


def train_guesses(
    windows: Windows,
    private: str,
    *,
    validation: Windows | None = None,
    kind: Kind = "mlp",
    settings: Settings | None = None,
    checkpoints: Path | None = None,
    progress: bool = True,
) -> Guesses:
    """Train the public and the private inference model on raw windows.

    Parameters
    ----------
    windows : Windows
        Training windows; scales are learnt on these alone.
    private : str
        The private attribute, or ``subject``.
    validation : Windows, optional
        Held back, for early stopping.
    kind : {"mlp", "cnn", "conv1d"}
        Network of both models; the paper's are the MLP (MotionSense) and the CNN (MobiAct).
    settings : Settings, optional
        How they are trained.
    checkpoints : pathlib.Path, optional
        Folder in which interrupted trainings are kept and taken up.
    progress : bool
        Show bars.

    Returns
    -------
    Guesses
        Scaling, classes, models.

    Raises
    ------
    ValueError
        If an attribute is unknown or has a single class, or a class of `validation` was not seen in training.
    """
    settings = settings or Settings(epochs=60, batch=256)
    labels = private_labels(windows, private)
    coding = Coding.fit(labels, private)
    asked = coding.codes(private_labels(validation, private)) if validation is not None else None
    judge = train_judge(
        windows,
        validation=validation,
        kind=kind,
        settings=replace(settings, seed=settings.seed * 2),
        checkpoint=checkpoints / "inference-0.pt" if checkpoints else None,
        progress=progress,
    )
    model = Classifier(kind, settings=replace(settings, seed=settings.seed * 2 + 1)).fit(
        judge.scaled(windows),
        coding.codes(labels),
        classes=len(coding.classes),
        validation=(judge.scaled(validation), asked) if validation is not None and asked is not None else None,
        checkpoint=checkpoints / "inference-1.pt" if checkpoints else None,
        progress=progress,
        label=f"inference of {private}",
    )
    return Guesses(private, judge.shape, judge.scaler, judge.public, coding, judge.public_model, model)
