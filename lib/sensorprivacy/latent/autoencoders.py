"""Train variational autoencoders on windows, and encode and decode with them."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from sensorprivacy.latent.losses import Loss, vae_loss
from sensorprivacy.latent.networks import PrivateVAE, Sizes, he_start
from sensorprivacy.latent.training import Settings, apply_in_chunks, seeded, train


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
