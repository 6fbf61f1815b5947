"""Classifiers of windows: the paper's MLP (MotionSense) and CNN (MobiAct), and a stronger 1-D CNN for attackers.

Trees on statistics of a window are a reader that shares no network with any anonymizer.
"""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from torch import Tensor, channels_last, nn
from torch.nn import functional

from sensorprivacy.latent.devices import Precision, multiplying
from sensorprivacy.latent.training import Settings, apply_in_chunks, seeded, train
from sensorprivacy.statistics import window_statistics

Kind = Literal["mlp", "cnn", "conv1d"]
Held = tuple[np.ndarray, np.ndarray] | None  # validation windows and their classes
MLP = (512, 256, 256, 128, 16)
# windows classified at a time: their activations stay in a core's cache, which is three to five times as fast
_CHUNKS = {"mlp": 1024, "cnn": 64, "conv1d": 256}


class Pool(nn.MaxPool2d):
    """Keep the greater one of two neighbouring samples; a CPU predicts with it 1.4 to 2 times as fast."""

    def __init__(self) -> None:
        super().__init__((1, 2))

    def forward(self, input: Tensor) -> Tensor:
        """Return half as many samples. Training keeps PyTorch's pooling, whose gradient is faster."""
        if self.training:
            return super().forward(input)
        pairs = input[..., : input.shape[-1] // 2 * 2]
        return torch.maximum(pairs[..., ::2], pairs[..., 1::2])


class Dropout(nn.Dropout):
    """Dropout that draws 8 bits for a value, which makes a training of the MLP 1.5 times as fast on a CPU.

    Each value is silenced with the probability `p`, rounded to a multiple of 1/256. The paper's are multiples.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the values; in training, some are 0 and the others are scaled up."""
        limit = round(self.p * 256)
        if not self.training or not limit:
            return input
        bits = torch.empty(-(-input.numel() // 8), dtype=torch.int64, device=input.device).random_(-(2**63), None)
        kept = bits.view(torch.uint8)[: input.numel()].view(input.shape) >= limit
        return input * (kept * torch.tensor(256 / (256 - limit), dtype=input.dtype, device=input.device))


class CrossEntropy(NamedTuple):
    """The loss of a classifier.

    Attributes
    ----------
    total : Tensor
        Mean cross-entropy, in nats.
    accuracy : Tensor
        Share of windows whose class is predicted correctly.
    """

    total: Tensor
    accuracy: Tensor


def mlp(values: int, classes: int, dropout: float = 0.5) -> nn.Module:
    """Return the paper's MLP (Fig. 9b): 512-256-256-128-16, dropout after each layer but the last."""
    layers: list[nn.Module] = [nn.Flatten()]
    for left, right in itertools.pairwise((values, *MLP)):
        layers += [nn.Linear(left, right), nn.ReLU(), Dropout(dropout)]
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
        raise ValueError(f"windows of {length} samples are too short for the CNN: give at least 8 samples")
    layers: list[nn.Module] = [nn.Unflatten(1, (1, channels))]  # n x 1 x channels x length, like a picture
    for left, right in itertools.pairwise((1, 64, 64, 32)):
        height = min(2, channels)
        padding = nn.ZeroPad2d((2, 2, 0, height - 1))  # keeps the numbers of channels and samples
        convolution = nn.Conv2d(left, right, (height, 5))
        # pooling before ReLU gives the same result as after it, with half the work
        layers += [padding, convolution, nn.BatchNorm2d(right), Pool(), nn.ReLU(), Dropout(dropout)]
    dense = 32 * channels * (length // 8)
    layers += [nn.Flatten(), nn.Linear(dense, 128), nn.ReLU(), nn.Linear(128, 16), nn.ReLU(), nn.Linear(16, classes)]
    return nn.Sequential(*layers).to(memory_format=channels_last)  # type: ignore[call-overload]  # faster on a CPU


def conv1d(channels: int, classes: int) -> nn.Module:
    """Return a 1-D CNN with global pooling, which ignores where in the window something happens."""
    layers: list[nn.Module] = []
    for at, (left, right) in enumerate(itertools.pairwise((channels, 32, 32, 64, 64))):
        layers += [nn.Conv1d(left, right, 7, stride=min(at + 1, 2), padding=3), nn.BatchNorm1d(right), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, classes))


@dataclass
class Classifier:
    """A network that predicts the class of a window.

    Parameters
    ----------
    kind : {"mlp", "cnn", "conv1d"}
        ``mlp`` and ``cnn`` are the paper's; ``conv1d`` is a stronger one, for attackers.
    dropout : float or None
        Share of neurons silenced in training. None: the paper's. ``conv1d`` has no dropout.
    settings : Settings
        How to train.

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
        makers = {
            "mlp": lambda: mlp(channels * length, classes, **drop),
            "cnn": lambda: cnn(channels, length, classes, **drop),
            "conv1d": lambda: conv1d(channels, classes),
        }
        return seeded(makers[self.kind], self.settings.seed)

    def fit(
        self, values: np.ndarray, codes: np.ndarray, *, classes: int = 0, validation: Held = None, **options: Any
    ) -> "Classifier":
        """Train on scaled windows.

        Parameters
        ----------
        values : numpy.ndarray of float32, shape (n, channels, length)
            Scaled windows.
        codes : numpy.ndarray of int64, shape (n,)
            Their classes.
        classes : int
            Number of classes. 0: all classes occur in `codes`.
        validation : tuple of two arrays, optional
            Validation windows and their classes. Early stopping is off without them.
        **options
            ``checkpoint``, ``progress`` and ``label`` of `training.train`.

        Returns
        -------
        Classifier
        """
        self.classes_ = classes or int(codes.max() + 1)
        self.network_ = self.build((values.shape[1], values.shape[2]), self.classes_)
        batch = max(min(self.settings.batch, len(values)), 2)
        patience = self.settings.patience if validation is not None else None
        settings = replace(self.settings, batch=batch, patience=patience)
        self.history_ = train(self.network_, _step, (values, codes), settings, validation=validation, **options)
        return self

    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return the probability of each class, n x classes, float32.

        The CNN multiplies in the precision of its training. The other networks are small: they always use 32 bits.
        """
        precision: Precision = self.settings.precision if self.kind == "cnn" else "float32"

        def softmax(windows: Tensor) -> Tensor:
            with multiplying(windows.device, precision):
                logits = self.network_(windows)
            return functional.softmax(logits.float(), dim=1)

        return apply_in_chunks(self.network_, softmax, values, self.settings.device, _CHUNKS[self.kind])

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the most probable class of each window, int64."""
        return self.probabilities(values).argmax(axis=1)


def _step(model: nn.Module, values: Tensor, codes: Tensor) -> CrossEntropy:
    logits = model(values).float()
    right = (logits.argmax(dim=1) == codes).float().mean()
    return CrossEntropy(functional.cross_entropy(logits, codes), right)


class Trees:
    """A model of a window's class that learns from 15 statistics of each channel and the channels' correlation.

    Parameters
    ----------
    seed : int
        Seed of the trees.

    Attributes
    ----------
    kind : {"trees"}
        Name in tables, as of `Classifier`.
    """

    kind: Literal["trees"] = "trees"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, values: np.ndarray, codes: np.ndarray) -> "Trees":
        """Learn from windows, n x channels x length, and their classes."""
        self.model_ = HistGradientBoostingClassifier(random_state=self.seed, max_iter=60)
        self.model_.fit(statistics(values), codes)
        return self

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the most probable class of each window, int64."""
        return np.asarray(self.model_.predict(statistics(values)))


def statistics(values: np.ndarray) -> np.ndarray:
    """Return statistics of windows, n x features."""
    names = tuple(f"channel {at}" for at in range(values.shape[1]))
    return window_statistics(values, names, 50, correlated=names).to_numpy()
