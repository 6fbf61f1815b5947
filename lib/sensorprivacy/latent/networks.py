"""Paper 3's networks: variational autoencoders with a private classification layer, and their sizes."""

import itertools
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
        Latent variables, d.
    """

    hidden: tuple[int, ...]
    latent: int


# The paper's text gives no sizes (Figs. 9 and 10 do, as pictures): these are the authors' later public code's. The
# key is how many values a window has: 2 magnitudes x 128 samples, or 6 axes x 128.
SPECIFIC = {256: Sizes((512, 512, 256, 128), 10), 768: Sizes((512, 512, 256, 128), 5)}
GENERAL = {256: Sizes((4096, 2048, 1024, 512, 256, 128), 10), 768: Sizes((2048, 1024, 512, 256, 128), 5)}


def sizes_for(values: int, general: bool = False) -> Sizes:
    """Return the layers for windows of so many values: the nearest of the two that the paper has.

    Parameters
    ----------
    values : int
        Channels times samples.
    general : bool
        The one autoencoder for all activities of the authors' earlier work, instead of one an activity.
    """
    table = GENERAL if general else SPECIFIC
    return table[min(table, key=lambda known: abs(known - values))]


class Output(NamedTuple):
    """What a pass through a variational autoencoder gives; n windows.

    Attributes
    ----------
    reconstruction : Tensor of shape (n, values)
        Decoded windows.
    mean, log_variance : Tensor of shape (n, d)
        Of the approximate posterior q(z|x).
    logits : Tensor of shape (n, private classes)
        Of the private classification layer on z.
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
        Values of a flattened window.
    sizes : Sizes
        Layers.
    classes : int
        Private classes.

    References
    ----------
    Paper 3, section 4.1: q(z|x) = N(mu, diag sigma^2), p(x|z), and the classification layer.
    """

    def __init__(self, values: int, sizes: Sizes, classes: int) -> None:
        super().__init__()
        widths = (values, *sizes.hidden)
        self.encoder = _dense(widths)
        self.mean = nn.Linear(widths[-1], sizes.latent)
        self.log_variance = nn.Linear(widths[-1], sizes.latent)
        mirrored = widths[::-1]
        self.decoder = nn.Sequential(_dense((sizes.latent, *mirrored[:-1])), nn.Linear(mirrored[-2], values))
        self.classifier = nn.Linear(sizes.latent, classes)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log variance of q(z|x), each n x d; the latter within +-10, so that exp cannot overflow."""
        hidden = self.encoder(x)
        return self.mean(hidden), self.log_variance(hidden).clamp(-10, 10)

    def forward(self, x: Tensor) -> Output:
        """Return the pass with one z sampled for each window."""
        mean, log_variance = self.encode(x)
        z = sample(mean, log_variance)
        return Output(self.decoder(z), mean, log_variance, self.classifier(z))


def sample(mean: Tensor, log_variance: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return one draw of N(mean, exp(log_variance)) for each row."""
    noise = torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)
    return mean + noise * torch.exp(0.5 * log_variance)


def weights(module: nn.Module) -> int:
    """Return the number of trainable weights, biases included."""
    return sum(part.numel() for part in module.parameters() if part.requires_grad)


def layers(network: nn.Module) -> list[tuple[str, int]]:
    """Return kind and number of outputs of each layer of a sequential network that has weights, from its input on."""
    parts = [part for part in network.modules() if isinstance(part, nn.Linear | nn.Conv1d | nn.Conv2d)]
    widths = [part.out_features if isinstance(part, nn.Linear) else part.out_channels for part in parts]
    return [
        ("dense" if isinstance(part, nn.Linear) else "conv", width) for part, width in zip(parts, widths, strict=True)
    ]


def _dense(widths: tuple[int, ...]) -> nn.Sequential:
    """Return linear layers of these widths, each followed by ReLU."""
    layers: list[nn.Module] = []
    for left, right in itertools.pairwise(widths):
        layers += [nn.Linear(left, right), nn.ReLU()]
    return nn.Sequential(*layers)
