"""The inference models of paper 3: the MLP of MotionSense and the CNN of MobiAct, public and private alike."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from sensorprivacy.latent.training import Settings, pick_device, seeded, train

Kind = Literal["mlp", "cnn", "conv1d"]
MLP = (512, 256, 256, 128, 16)
_CHUNK = 4096  # windows judged at a time
_CHUNK_CNN = 64  # of so few, what its layers give stays in a core's cache: three times as fast


class CrossEntropy(NamedTuple):
    """The loss of a classifier.

    Attributes
    ----------
    total : Tensor
        Mean cross-entropy, nats.
    accuracy : Tensor
        Share of windows named rightly.
    """

    total: Tensor
    accuracy: Tensor


def mlp(values: int, classes: int, dropout: float = 0.5) -> nn.Module:
    """Return the paper's MLP (Fig. 9b): 512-256-256-128-16, dropout after each layer but the last."""
    layers: list[nn.Module] = [nn.Flatten()]
    for left, right in zip((values, *MLP), MLP, strict=False):
        layers += [nn.Linear(left, right), nn.ReLU(), nn.Dropout(dropout)]
    layers.pop()  # dropping half of the last 16 neurons would leave too few
    return nn.Sequential(*layers, nn.Linear(MLP[-1], classes))


def cnn(channels: int, length: int, classes: int, dropout: float = 0.25) -> nn.Module:
    """Return the paper's CNN (Fig. 10b): blocks of 64, 64 and 32 filters of 2 channels x 5 samples, dense 128, 16.

    Raises
    ------
    ValueError
        If a window is too short for three poolings.
    """
    if length < 8:
        raise ValueError(f"windows of {length} samples are too short for the CNN: it halves them three times")
    layers: list[nn.Module] = [nn.Unflatten(1, (1, channels))]  # n x 1 x channels x length, like a picture
    for left, right in ((1, 64), (64, 64), (64, 32)):
        height = min(2, channels)
        padding = nn.ZeroPad2d((2, 2, 0, height - 1))  # so that channels and samples stay as many as they are
        convolution = nn.Conv2d(left, right, (height, 5))
        # the greatest of two, then ReLU: the same as the other way round, on half as many values
        layers += [padding, convolution, nn.BatchNorm2d(right), nn.MaxPool2d((1, 2)), nn.ReLU(), nn.Dropout(dropout)]
    dense = 32 * channels * (length // 8)
    layers += [nn.Flatten(), nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, 16), nn.ReLU(), nn.Linear(16, classes)]
    network = nn.Sequential(*layers)
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # a CPU is faster so


def conv1d(channels: int, classes: int, width: int = 32) -> nn.Module:
    """Return a 1-D CNN with global pooling: blind to where in the window something happens."""
    layers: list[nn.Module] = []
    for left, right, stride in (
        (channels, width, 1),
        (width, width, 2),
        (width, 2 * width, 2),
        (2 * width, 2 * width, 2),
    ):
        layers += [nn.Conv1d(left, right, 7, stride=stride, padding=3), nn.BatchNorm1d(right), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2 * width, classes))


@dataclass
class Classifier:
    """A network that tells classes of windows.

    Parameters
    ----------
    kind : {"mlp", "cnn", "conv1d"}
        ``mlp`` and ``cnn`` are the paper's; ``conv1d`` is a stronger one, for attackers.
    dropout : float or None
        Share of neurons silenced in training; None: the paper's.
    settings : Settings
        How it is trained.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network.
    classes_ : int
        Number of classes.
    history_ : pandas.DataFrame
        Loss curve.
    """

    kind: Kind = "mlp"
    dropout: float | None = None
    settings: Settings = field(default_factory=lambda: Settings(epochs=60, batch=256))
    network_: nn.Module = field(init=False, repr=False)
    classes_: int = field(init=False, default=0)
    history_: pd.DataFrame = field(init=False, repr=False)

    def build(self, shape: tuple[int, int], classes: int) -> nn.Module:
        """Return the untrained network for windows of channels x length."""
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind {self.kind!r} is unknown: choose from {', '.join(get_args(Kind))}")
        channels, length = shape
        drop = {} if self.dropout is None else {"dropout": self.dropout}
        makers: dict[str, Callable[[], nn.Module]] = {
            "mlp": lambda: mlp(channels * length, classes, **drop),
            "cnn": lambda: cnn(channels, length, classes, **drop),
            "conv1d": lambda: conv1d(channels, classes),
        }
        return seeded(makers[self.kind], self.settings.seed)

    def fit(
        self,
        values: np.ndarray,
        codes: np.ndarray,
        *,
        classes: int | None = None,
        validation: tuple[np.ndarray, np.ndarray] | None = None,
        checkpoint: Path | None = None,
        progress: bool = True,
        label: str = "classifier",
    ) -> "Classifier":
        """Train on scaled windows.

        Parameters
        ----------
        values : numpy.ndarray of float32, shape (n, channels, length)
            Scaled windows.
        codes : numpy.ndarray of int64, shape (n,)
            Their classes.
        classes : int, optional
            Number of classes, where not all occur.
        validation : tuple of two arrays, optional
            Windows and classes held back.
        checkpoint : pathlib.Path, optional
            File from which an interrupted training goes on, see `training.train`.
        progress : bool
            Show a bar.
        label : str
            What the bar says.

        Returns
        -------
        Classifier
            This one.
        """
        self.classes_ = int(classes or codes.max() + 1)
        self.network_ = self.build((values.shape[1], values.shape[2]), self.classes_)
        held = tuple(map(torch.as_tensor, validation)) if validation is not None else None
        settings = self.settings if held is not None else replace(self.settings, patience=None)
        size = min(settings.batch, len(values))
        self.history_ = train(
            self.network_,
            _step,
            (torch.as_tensor(values), torch.as_tensor(codes)),
            replace(settings, batch=max(size, 2)),
            validation=held,
            checkpoint=checkpoint,
            progress=progress,
            label=label,
        )
        return self

    @torch.no_grad()
    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return the probability of each class, n x classes, float32."""
        device = pick_device(self.settings.device)
        self.network_.to(device).eval()
        size = _CHUNK_CNN if self.kind == "cnn" else _CHUNK
        parts = [
            functional.softmax(self.network_(torch.as_tensor(values[start : start + size]).to(device)), dim=1).cpu()
            for start in range(0, len(values), size)
        ]
        return torch.cat(parts).numpy() if parts else np.zeros((0, self.classes_), dtype=np.float32)

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the most probable class of each window, int64."""
        return self.probabilities(values).argmax(axis=1)


def _step(model: nn.Module, values: Tensor, codes: Tensor) -> CrossEntropy:
    logits = model(values).float()
    right = (logits.argmax(dim=1) == codes).float().mean()
    return CrossEntropy(functional.cross_entropy(logits, codes), right)
