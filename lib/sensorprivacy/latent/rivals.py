"""The autoencoders that paper 3 compares itself with, written from the ideas of their papers.

The third rival, the one general variational autoencoder of the authors' earlier work (Hajihassani, Ardakanian, Khazaei,
Latent representation learning and manipulation for privacy-preserving sensor data analytics, 2020), is
`LatentAnonymizer(general=True)`.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn
from torch.nn import functional

from sensorprivacy.datasets.types import Windows
from sensorprivacy.latent.anonymizer import replace_values
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.losses import finite
from sensorprivacy.latent.training import Settings, pick_device, seeded, train
from sensorprivacy.latent.windows import Coding, Scaler, flatten, private_labels
from sensorprivacy.progress import tqdm

_CHUNK = 4096


class Error(NamedTuple):
    """The loss of an autoencoder: squared error summed over a window's values, mean over windows."""

    total: Tensor


class ReplacementAutoencoder(BaseEstimator):
    """Learns to put neutral windows in the place of sensitive ones, and to leave the rest as they are.

    Parameters
    ----------
    sensitive : sequence of str
        Public classes that nobody is to know of. None of them: the autoencoder merely copies, as it must where every
        activity is wanted.
    neutral : sequence of str
        Public classes whose windows take their place.
    hidden : tuple of int
        Neurons of the encoder; the decoder mirrors it.
    settings : Settings, optional
        How it is trained.

    References
    ----------
    Malekzadeh, Clegg, Haddadi, Replacement AutoEncoder: a privacy-preserving algorithm for sensory data analysis,
    IoTDI 2018.
    """

    def __init__(
        self,
        sensitive: Sequence[str] = (),
        neutral: Sequence[str] = (),
        *,
        hidden: tuple[int, ...] = (256, 128, 32),
        settings: Settings | None = None,
    ) -> None:
        self.sensitive = sensitive
        self.neutral = neutral
        self.hidden = hidden
        self.settings = settings

    def fit(self, windows: Windows, y: object = None, *, progress: bool = True) -> "ReplacementAutoencoder":
        """Train on windows whose public class is known.

        Raises
        ------
        ValueError
            If classes are unknown or in both lists, or sensitive windows have no neutral ones to replace them.
        """
        known = set(windows.public.astype(str))
        if unknown := sorted({*self.sensitive, *self.neutral} - known):
            raise ValueError(
                f"public class {unknown[0]!r} does not occur: {windows.name} has {', '.join(sorted(known))}"
            )
        if both := sorted(set(self.sensitive) & set(self.neutral)):
            raise ValueError(f"public class {both[0]!r} is both sensitive and neutral")
        if self.sensitive and not self.neutral:
            raise ValueError("sensitive windows need neutral ones in their place: name a neutral public class")
        settings = self.settings or Settings(epochs=30, batch=256)
        self.scaler_ = Scaler.fit(windows.values)
        x = flatten(self.scaler_.apply(windows.values))
        wanted = x.copy()
        hide = np.flatnonzero(windows.public.isin(list(self.sensitive)))
        if len(hide):
            donors = np.flatnonzero(windows.public.isin(list(self.neutral)))
            wanted[hide] = x[np.random.default_rng(settings.seed).choice(donors, len(hide))]
        widths = (x.shape[1], *self.hidden, *self.hidden[-2::-1], x.shape[1])
        self.network_ = seeded(lambda: _perceptron(widths), settings.seed)

        def step(model: nn.Module, given: Tensor, asked: Tensor) -> Error:
            return Error((model(given).float() - asked).square().sum(dim=1).mean())

        data = torch.as_tensor(x), torch.as_tensor(wanted)
        self.history_ = train(self.network_, step, data, settings, progress=progress, label="Replacement Autoencoder")
        return self

    def transform(self, windows: Windows) -> Windows:
        """Return the windows as the autoencoder gives them back."""
        return _through(self.network_, self.scaler_, windows, self.settings)


class AnonymizationAutoencoder(BaseEstimator):
    """Learns, against an adversary, to keep the activity, hide the private class and change little else.

    Adversary and autoencoder take turns batch by batch: two classifiers learn to tell public and private class of what
    is published; the autoencoder is trained so that the first succeeds, the second is left with equal odds, and windows
    change little.

    Parameters
    ----------
    private : str
        The private attribute, or ``subject``.
    keep, hide, change : float
        Weights of the public cross-entropy, of the divergence of the adversary's odds from equal odds (both nats), and
        of the mean squared change.
    filters : tuple of int
        Filters of the encoder's convolutions, each halving the length; the decoder mirrors it.
    settings : Settings, optional
        How all three are trained.

    References
    ----------
    Malekzadeh, Clegg, Cavallaro, Haddadi, Mobile sensor data anonymization, IoTDI 2019 (multi-objective loss,
    adversarial training).
    """

    def __init__(
        self,
        private: str = "gender",
        *,
        keep: float = 1.0,
        hide: float = 2.0,
        change: float = 1.0,
        filters: tuple[int, ...] = (32, 64),
        settings: Settings | None = None,
    ) -> None:
        self.private = private
        self.keep = keep
        self.hide = hide
        self.change = change
        self.filters = filters
        self.settings = settings

    def fit(self, windows: Windows, y: object = None, *, progress: bool = True) -> "AnonymizationAutoencoder":
        """Train autoencoder and adversaries in turns.

        Raises
        ------
        ValueError
            If the attribute is unknown or single, or the windows' length cannot be halved once for every layer.
        FloatingPointError
            If the loss is no number any more.
        """
        settings = self.settings or Settings(epochs=20, batch=256)
        if windows.length % 2 ** len(self.filters):
            raise ValueError(
                f"windows of {windows.length} samples cannot be halved {len(self.filters)} times: change filters"
            )
        labels = private_labels(windows, self.private)
        public, private = Coding.fit(windows.public, "public class"), Coding.fit(labels, self.private)
        self.scaler_ = Scaler.fit(windows.values)
        device = pick_device(settings.device)
        arrays = self.scaler_.apply(windows.values), public.codes(windows.public), private.codes(labels)
        data = [torch.as_tensor(array).to(device) for array in arrays]
        shape = (windows.n_channels, windows.length)
        judges = [
            Classifier("mlp", 0.0, settings).build(shape, len(coding.classes)).to(device)
            for coding in (public, private)
        ]
        self.network_ = seeded(lambda: _convolutional(windows.n_channels, self.filters), settings.seed).to(device)
        own = torch.optim.Adam(self.network_.parameters(), lr=settings.rate)
        other = torch.optim.Adam([part for judge in judges for part in judge.parameters()], lr=settings.rate)
        rows = []
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            for epoch in tqdm(range(settings.epochs), "Anonymization Autoencoder", disable=not progress, leave=False):
                torch.manual_seed(settings.seed * 1_000_003 + epoch)
                order = torch.randperm(len(data[0]), device=device)
                losses = [
                    self._turn(judges, own, other, *(part[batch] for part in data))
                    for batch in order.tensor_split(-(-len(order) // settings.batch))
                ]
                found = torch.stack(losses).mean(dim=0)
                finite(found, epoch + 1)
                rows.append(
                    {"epoch": epoch + 1, **dict(zip(("public", "private", "change"), found.tolist(), strict=True))}
                )
        self.network_.eval()
        self.history_ = pd.DataFrame(rows)
        return self

    def transform(self, windows: Windows) -> Windows:
        """Return the windows as the autoencoder publishes them."""
        return _through(self.network_, self.scaler_, windows, self.settings)

    def _turn(
        self,
        judges: list[nn.Module],
        own: torch.optim.Optimizer,
        other: torch.optim.Optimizer,
        x: Tensor,
        public: Tensor,
        private: Tensor,
    ) -> Tensor:
        """Train the judges on one published batch, then the autoencoder against them; return its three terms."""
        with torch.no_grad():
            published = self.network_(x)
        other.zero_grad()
        (
            functional.cross_entropy(judges[0](published), public)
            + functional.cross_entropy(judges[1](published), private)
        ).backward()
        other.step()
        own.zero_grad()
        published = self.network_(x)
        kept = functional.cross_entropy(judges[0](published), public)
        odds = functional.log_softmax(judges[1](published), dim=1)
        told = -odds.mean() - np.log(odds.shape[1])  # KL(equal odds || the adversary's)
        changed = functional.mse_loss(published, x)
        (self.keep * kept + self.hide * told + self.change * changed).backward()
        own.step()
        return torch.stack([kept.detach(), told.detach(), changed.detach()])


class Chain(BaseEstimator):
    """Several fitted anonymizers, one after the other, as the Replacement and the Anonymization Autoencoder are used.

    Parameters
    ----------
    steps : sequence
        Objects with ``transform``, in order.
    """

    def __init__(self, steps: Sequence[object]) -> None:
        self.steps = steps

    def transform(self, windows: Windows) -> Windows:
        """Return the windows after all steps."""
        for step in self.steps:
            windows = step.transform(windows)  # type: ignore[attr-defined]
        return windows


def _perceptron(widths: Sequence[int]) -> nn.Module:
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(widths):
        layers += [nn.Linear(left, right), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _convolutional(channels: int, filters: Sequence[int]) -> nn.Module:
    """Return an autoencoder that halves the length with each layer, and doubles it again."""
    widths = (channels, *filters)
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(widths):
        layers += [nn.Conv1d(left, right, 5, stride=2, padding=2), nn.ReLU()]
    for left, right in itertools.pairwise(widths[::-1]):
        layers += [nn.ConvTranspose1d(left, right, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


@torch.no_grad()
def _through(network: nn.Module, scaler: Scaler, windows: Windows, settings: Settings | None) -> Windows:
    """Return windows passed through an autoencoder that takes them flat or as they are."""
    device = pick_device((settings or Settings()).device)
    network.to(device).eval()
    scaled = scaler.apply(windows.values)
    given = flatten(scaled) if isinstance(next(network.children()), nn.Linear) else scaled
    parts = [network(torch.as_tensor(given[at : at + _CHUNK]).to(device)).cpu() for at in range(0, len(given), _CHUNK)]
    return replace_values(windows, scaler.undo(torch.cat(parts).numpy().reshape(scaled.shape)))
