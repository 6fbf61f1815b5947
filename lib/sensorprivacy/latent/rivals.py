"""The autoencoders that paper 3 compares itself with (its rivals), written from the descriptions in their papers.

The third rival is one general variational autoencoder for all activities: `LatentAnonymizer(general=True)`. It is the
authors' earlier work (Hajihassani, Ardakanian, Khazaei, Latent representation learning and manipulation for
privacy-preserving sensor data analytics, 2020).
"""

import itertools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from torch import Tensor, nn
from torch.nn import functional

from sensorprivacy.data import Windows
from sensorprivacy.latent import devices, training
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.networks import dense
from sensorprivacy.latent.training import Settings, apply_in_chunks, seeded
from sensorprivacy.latent.windows import Coding, Scaler, flatten, private_labels, replace_values


class Error(NamedTuple):
    """The loss of an autoencoder: squared error, summed over a window's values, mean over windows."""

    total: Tensor


@dataclass(eq=False, repr=False)
class ReplacementAutoencoder(BaseEstimator):
    """Learn to replace sensitive windows by neutral ones, and to leave the others as they are.

    Parameters
    ----------
    sensitive : sequence of str
        Public classes to hide. If empty, the autoencoder only copies, as it must where every activity is needed.
    neutral : sequence of str
        Public classes whose windows replace the sensitive ones.
    hidden : tuple of int
        Neurons of the encoder; the decoder mirrors it.
    settings : Settings, optional
        How to train.

    References
    ----------
    Malekzadeh, Clegg, Haddadi, Replacement AutoEncoder: a privacy-preserving algorithm for sensory data analysis,
    IoTDI 2018.
    """

    sensitive: Sequence[str] = ()
    neutral: Sequence[str] = ()
    _: KW_ONLY
    hidden: tuple[int, ...] = (256, 128, 32)
    settings: Settings | None = None

    def fit(
        self, windows: Windows, y: object = None, *, progress: bool = True, checkpoint: Path | None = None
    ) -> "ReplacementAutoencoder":
        """Train on windows whose public class is known.

        The parameters are those of `AnonymizationAutoencoder.fit`.

        Raises
        ------
        ValueError
            If classes are unknown or in both lists, or there are sensitive classes but no neutral ones.
        """
        known = set(windows.public.astype(str))
        if unknown := sorted({*self.sensitive, *self.neutral} - known):
            raise ValueError(f"public class {unknown[0]!r} is not in {windows.name}: it has {', '.join(sorted(known))}")
        if both := sorted(set(self.sensitive) & set(self.neutral)):
            raise ValueError(f"public class {both[0]!r} is both sensitive and neutral: remove it from one list")
        if self.sensitive and not self.neutral:
            raise ValueError("sensitive windows need neutral ones to replace them: name a neutral public class")
        settings = self.settings or Settings(epochs=30, batch=256)
        self.scaler_ = Scaler.fit(windows.values)
        x = flatten(self.scaler_.apply(windows.values))
        wanted = x.copy()
        hide = np.flatnonzero(windows.public.isin(list(self.sensitive)))
        if len(hide):
            donors = np.flatnonzero(windows.public.isin(list(self.neutral)))
            wanted[hide] = x[np.random.default_rng(settings.seed).choice(donors, len(hide))]
        widths = (x.shape[1], *self.hidden, *self.hidden[-2::-1], x.shape[1])
        self.network_ = seeded(lambda: dense(widths)[:-1], settings.seed)

        def step(model: nn.Module, given: Tensor, target: Tensor) -> Error:
            return Error((model(given).float() - target).square().sum(dim=1).mean())

        options: Any = {"progress": progress, "label": "Replacement Autoencoder", "checkpoint": checkpoint}
        self.history_ = training.train(self.network_, step, (x, wanted), settings, **options)
        return self

    def transform(self, windows: Windows) -> Windows:
        """Return the windows as the autoencoder reconstructs them."""
        return _reconstruct(self.network_, self.scaler_, windows, self.settings, flat=True)


@dataclass(eq=False, repr=False)
class AnonymizationAutoencoder(BaseEstimator):
    """Learn, against an adversary, to keep the activity, hide the private class and change little else.

    Adversary and autoencoder are trained in turns, batch by batch. Two classifiers learn to predict the public and the
    private class of published windows. The autoencoder is trained so that the first succeeds, the second predicts all
    classes with equal probability, and windows change little.

    Parameters
    ----------
    private : str
        The private attribute, or ``subject``.
    keep, hide, change : float
        Weights of the public cross-entropy, of the divergence of the adversary's predictions from equal probabilities
        (both in nats), and of the mean squared change.
    filters : tuple of int
        Filters of the encoder's convolutions, each of which halves the length; the decoder mirrors it.
    settings : Settings, optional
        How to train all three networks.

    References
    ----------
    Malekzadeh, Clegg, Cavallaro, Haddadi, Mobile sensor data anonymization, IoTDI 2019 (multi-objective loss,
    adversarial training).
    """

    private: str = "gender"
    _: KW_ONLY
    keep: float = 1.0
    hide: float = 2.0
    change: float = 1.0
    filters: tuple[int, ...] = (32, 64)
    settings: Settings | None = None

    def fit(
        self, windows: Windows, y: object = None, *, progress: bool = True, checkpoint: Path | None = None
    ) -> "AnonymizationAutoencoder":
        """Train autoencoder and adversaries in turns.

        Parameters
        ----------
        windows : Windows
            Windows whose classes are known.
        y : object
            Not used.
        progress : bool
            Show a progress bar.
        checkpoint : pathlib.Path, optional
            File to which the state is written every few minutes and at the end. If it exists, training continues from
            it.

        Raises
        ------
        ValueError
            If the attribute is unknown or has one class, or the windows' length cannot be halved once per layer.
        CheckpointError
            If the file belongs to other windows or settings, or was changed.
        FloatingPointError
            If the loss becomes infinite or not a number.
        """
        settings = self.settings or Settings(epochs=20, batch=256)
        if windows.length % 2 ** len(self.filters):
            raise ValueError(f"{windows.length} samples cannot be halved {len(self.filters)} times: change filters")
        labels = private_labels(windows, self.private)
        codings = Coding.fit(windows.public, "public class"), Coding.fit(labels, self.private)
        self.scaler_ = Scaler.fit(windows.values)
        device = devices.pick_device(settings.device)
        arrays = self.scaler_.apply(windows.values), codings[0].codes(windows.public), codings[1].codes(labels)
        data = [torch.as_tensor(array).to(device) for array in arrays]
        shape, untrained = (windows.n_channels, windows.length), Classifier("mlp", 0.0, settings)
        self.network_ = seeded(lambda: _convolutional(windows.n_channels, self.filters), settings.seed)
        adversaries = [untrained.build(shape, len(coding.classes)) for coding in codings]
        networks = nn.ModuleList([self.network_, *adversaries]).to(device)
        mark = f"{self.keep} {self.hide} {self.change} {training.fingerprint(networks, data, settings)}"
        state = training.State(networks, training.adam(networks.parameters(), settings), mark)
        how: Any = {"checkpoint": checkpoint, "progress": progress, "label": "Anonymization Autoencoder"}
        with devices.by_onednn():
            training.make_epochs(state, lambda: self._epoch(state, data, settings), settings, **how)
        self.network_.eval()
        self.history_ = pd.DataFrame(state.rows, columns=["epoch", "public", "private", "change"])
        return self

    def _epoch(self, state: training.State, data: Sequence[Tensor], settings: Settings) -> None:
        """Train one epoch and record the mean loss terms."""
        epoch, state.model = len(state.rows), state.model.train()
        torch.manual_seed(settings.seed * 1_000_003 + epoch)
        order = torch.randperm(len(data[0]), device=data[0].device)
        losses = [
            self._step(state, *(part[batch] for part in data))
            for batch in order.tensor_split(-(-len(order) // settings.batch))
        ]
        mean = torch.stack(losses).mean(dim=0)
        training.check_finite(mean, epoch + 1)
        names = ("epoch", "public", "private", "change")
        state.add(dict(zip(names, [epoch + 1, *mean.tolist()], strict=True)), None)

    def transform(self, windows: Windows) -> Windows:
        """Return the windows as the autoencoder publishes them."""
        return _reconstruct(self.network_, self.scaler_, windows, self.settings, flat=False)

    def _step(self, state: training.State, x: Tensor, public: Tensor, private: Tensor) -> Tensor:
        """Train the adversaries on one published batch, then the autoencoder against them; return its three terms.

        The optimizer leaves alone what has no gradient.
        """
        network, *adversaries = state.model.children()
        precision = devices.multiplying(x.device, (self.settings or Settings()).precision)
        state.optimizer.zero_grad()
        with precision:
            published = network(x)
            predicted = [adversary(published.detach()).float() for adversary in adversaries]
            loss = functional.cross_entropy(predicted[0], public) + functional.cross_entropy(predicted[1], private)
        loss.backward()
        state.optimizer.step()
        state.optimizer.zero_grad()
        with precision:
            predicted = [adversary(published).float() for adversary in adversaries]
            kept = functional.cross_entropy(predicted[0], public)
            logs = functional.log_softmax(predicted[1], dim=1)
            leaked = -logs.mean() - np.log(logs.shape[1])  # KL(equal probabilities || the adversary's)
            changed = functional.mse_loss(published.float(), x)
        loss = self.keep * kept + self.hide * leaked + self.change * changed
        loss.backward(inputs=list(network.parameters()))
        state.optimizer.step()
        return torch.stack([kept.detach(), leaked.detach(), changed.detach()])


def _convolutional(channels: int, filters: Sequence[int]) -> nn.Module:
    """Return an autoencoder that halves the length with each layer, and doubles it again."""
    widths = (channels, *filters)
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(widths):
        layers += [nn.Conv1d(left, right, 5, stride=2, padding=2), nn.ReLU()]
    for left, right in itertools.pairwise(widths[::-1]):
        layers += [nn.ConvTranspose1d(left, right, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _reconstruct(
    network: nn.Module, scaler: Scaler, windows: Windows, settings: Settings | None, *, flat: bool
) -> Windows:
    """Return the windows that an autoencoder of flattened or unflattened windows reconstructs."""
    scaled = scaler.apply(windows.values)
    given = flatten(scaled) if flat else scaled
    published = apply_in_chunks(network, network, given, (settings or Settings()).device)
    return replace_values(windows, scaler.undo(published.reshape(scaled.shape)))
