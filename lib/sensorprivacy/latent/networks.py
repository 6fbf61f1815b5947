"""Paper 3's variational autoencoders with a layer that predicts the private class: sizes, loss (Equation 2).

The functions below train them, and encode and decode with them.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from sensorprivacy.latent.training import Settings, apply_in_chunks, seeded, train


@dataclass(frozen=True)
class Sizes:
    """Layers of a variational autoencoder; the decoder mirrors the encoder.

    Parameters
    ----------
    hidden : tuple of int
        Neurons of the encoder's hidden layers, from the input on.
    latent : int
        Number of latent variables, d.
    """

    hidden: tuple[int, ...]
    latent: int


# The paper's text gives no sizes (only Figs. 9 and 10 do). These are from the authors' later public code. The keys are
# values per window: 2 magnitudes x 128 samples, or 6 axes x 128 samples.
SPECIFIC = {256: Sizes((512, 512, 256, 128), 10), 768: Sizes((512, 512, 256, 128), 5)}
GENERAL = {256: Sizes((4096, 2048, 1024, 512, 256, 128), 10), 768: Sizes((2048, 1024, 512, 256, 128), 5)}


def sizes_for(values: int, general: bool = False) -> Sizes:
    """Return the paper's layers for the window size nearest to this one.

    Parameters
    ----------
    values : int
        Channels times samples.
    general : bool
        Return the layers of one autoencoder for all activities (the authors' earlier work), not of one per activity.
    """
    table = GENERAL if general else SPECIFIC
    return table[min(table, key=lambda known: abs(known - values))]


_LITTLE = -4.0  # initial log variance of z


class Output(NamedTuple):
    """The output of a variational autoencoder for n windows.

    Attributes
    ----------
    reconstruction : Tensor of shape (n, values)
        Decoded windows.
    mean, log_variance : Tensor of shape (n, d)
        Parameters of the approximate posterior q(z|x).
    logits : Tensor of shape (n, private classes)
        Output of the private classification layer on z.
    """

    reconstruction: Tensor
    mean: Tensor
    log_variance: Tensor
    logits: Tensor


class PrivateVAE(nn.Module):
    """A variational autoencoder with a linear layer on z that predicts the private class (Fig. 3).

    Parameters
    ----------
    values : int
        Number of values in a flattened window.
    sizes : Sizes
        Layers.
    classes : int
        Number of private classes.

    References
    ----------
    Paper 3, section 4.1: q(z|x) = N(mu, diag sigma^2), p(x|z), and the classification layer.
    """

    def __init__(self, values: int, sizes: Sizes, classes: int) -> None:
        super().__init__()
        widths = (values, *sizes.hidden)
        self.encoder = dense(widths)
        self.mean = nn.Linear(widths[-1], sizes.latent)
        self.log_variance = nn.Linear(widths[-1], sizes.latent)
        mirrored = widths[::-1]
        self.decoder = nn.Sequential(dense((sizes.latent, *mirrored[:-1])), nn.Linear(mirrored[-2], values))
        self.classifier = nn.Linear(sizes.latent, classes)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log variance of q(z|x), each n x d. The log variance is clipped to +-10 to avoid overflow."""
        hidden = self.encoder(x)
        return self.mean(hidden), self.log_variance(hidden).clamp(-10, 10)

    def forward(self, x: Tensor) -> Output:
        """Return the output, with one z sampled for each window."""
        mean, log_variance = self.encode(x)
        z = sample(mean, log_variance)
        return Output(self.decoder(z), mean, log_variance, self.classifier(z))


def he_start(network: PrivateVAE) -> PrivateVAE:
    """Give an autoencoder initial weights with which it needs fewer epochs, and return it.

    PyTorch's initial weights shrink a signal in each of ten layers, and z starts with noise of deviation 1. The loss
    then stays for many batches where each class is decoded to its mean. Here signals keep their size, and the noise
    begins at a deviation of 0.14.

    References
    ----------
    He, Zhang, Ren, Sun, Delving deep into rectifiers, ICCV 2015.
    """
    for part in network.modules():
        if isinstance(part, nn.Linear):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
            nn.init.zeros_(part.bias)
    for part in (network.mean, network.decoder[-1], network.classifier):  # no ReLU follows
        nn.init.xavier_normal_(part.weight)  # type: ignore[arg-type]
    nn.init.normal_(network.log_variance.weight, std=0.01)
    nn.init.constant_(network.log_variance.bias, _LITTLE)
    return network


def sample(mean: Tensor, log_variance: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return one draw of N(mean, exp(log_variance)) for each row."""
    noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
    return mean + noise * torch.exp(0.5 * log_variance)


def weights(module: nn.Module) -> int:
    """Return the number of trainable weights, biases included."""
    return sum(part.numel() for part in module.parameters() if part.requires_grad)


def layers(network: nn.Module) -> list[tuple[str, int]]:
    """Return kind and number of outputs of each layer that has weights, from the input on."""
    found = []
    for part in network.modules():
        if isinstance(part, nn.Linear):
            found.append(("dense", part.out_features))
        elif isinstance(part, nn.Conv1d | nn.Conv2d):
            found.append(("conv", part.out_channels))
    return found


def dense(widths: Sequence[int]) -> nn.Sequential:
    """Return linear layers of these widths, each followed by ReLU."""
    parts: list[nn.Module] = []
    for left, right in itertools.pairwise(widths):
        parts += [nn.Linear(left, right), nn.ReLU()]
    return nn.Sequential(*parts)


class Loss(NamedTuple):
    """The three terms of a batch's loss, each a mean over windows, and their weighted sum.

    Attributes
    ----------
    total : Tensor
        reconstruction + beta * divergence + alpha * classification.
    reconstruction : Tensor
        Squared error, **summed** over the window's scaled values. The value of beta only makes sense for this sum.
    divergence : Tensor
        KL(q(z|x) || N(0, I)) in nats, summed over the latent variables.
    classification : Tensor
        Cross-entropy of the private classification layer, in nats.
    """

    total: Tensor
    reconstruction: Tensor
    divergence: Tensor
    classification: Tensor


def divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return KL(N(mean, exp(log_variance)) || N(0, I)) of each row: -1/2 sum_j (1 + log s_j^2 - m_j^2 - s_j^2)."""
    return -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(dim=1)


def vae_loss(output: Output, x: Tensor, private: Tensor, *, beta: float, alpha: float) -> Loss:
    """Return the loss of a batch.

    Parameters
    ----------
    output : Output
        The network's output for the batch.
    x : Tensor of shape (n, values)
        The scaled windows.
    private : Tensor of int64, shape (n,)
        Their private classes.
    beta, alpha : float
        Weights of the divergence and of the classification.

    Returns
    -------
    Loss
        L = ||x - x_hat||^2 + beta KL(q(z|x) || N(0, I)) + alpha CE(softmax(W z), p), mean over windows.

    References
    ----------
    Paper 3, Equation 2.
    """
    # sums are in float32, even if the network ran in lower precision
    error = (output.reconstruction.float() - x.float()).square().sum(dim=1).mean()
    kl = divergence(output.mean.float(), output.log_variance.float()).mean()
    classification = functional.cross_entropy(output.logits.float(), private)
    return Loss(error + beta * kl + alpha * classification, error, kl, classification)


def train_autoencoder(
    data: tuple[np.ndarray, np.ndarray],
    sizes: Sizes,
    classes: int,
    settings: Settings,
    *,
    alpha: float,
    beta: float,
    **options: Any,
) -> tuple[PrivateVAE, pd.DataFrame]:
    """Train one autoencoder by Equation 2.

    Parameters
    ----------
    data : tuple of two arrays
        Scaled, flattened windows (n x values) and their private classes (n).
    sizes : Sizes
        Layers.
    classes : int
        Number of private classes.
    settings : Settings
        How to train.
    alpha, beta : float
        Weights of the private classification and of the divergence.
    **options
        ``validation``, ``checkpoint``, ``progress`` and ``label`` of `training.train`.

    Returns
    -------
    network : PrivateVAE
        The trained network.
    history : pandas.DataFrame
        Its loss curve.
    """

    def untrained() -> PrivateVAE:
        made = PrivateVAE(data[0].shape[1], sizes, classes)
        return he_start(made) if settings.start == "he" else made

    def step(model: PrivateVAE, x: Tensor, private: Tensor) -> Loss:
        return vae_loss(model(x), x, private, beta=beta, alpha=alpha)

    network = seeded(untrained, settings.seed)
    return network, train(network, step, data, settings, **options)


def encode(network: PrivateVAE, x: np.ndarray, device: str) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and log variance of q(z|x), each n x d, for flattened windows."""
    both = apply_in_chunks(network, lambda rows: torch.cat(network.encode(rows), dim=1), x, device)
    mean, log_variance = (np.ascontiguousarray(part) for part in np.split(both, 2, axis=1))
    return mean, log_variance


def decode(network: PrivateVAE, z: np.ndarray, device: str) -> np.ndarray:
    """Return the flattened windows that latents z, n x d, decode to."""
    return apply_in_chunks(network, network.decoder, z, device)
