"""Paper 3's networks: variational autoencoders with a layer that predicts the private class, and their sizes."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn


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
