"""The loss of paper 3 (its Equation 2), with its scale made explicit."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from sensorprivacy.latent.networks import Output


class Loss(NamedTuple):
    """The three terms of a batch, each a mean over windows, and their weighted sum.

    Attributes
    ----------
    total : Tensor
        reconstruction + beta * divergence + alpha * classification.
    reconstruction : Tensor
        Squared error, **summed** over the window's values (scaled by their deviation): beta means nothing without this.
    divergence : Tensor
        KL(q(z|x) || N(0, I)) in nats, summed over the latent variables.
    classification : Tensor
        Cross-entropy of the private classification layer, nats.
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
        What the network made of the batch.
    x : Tensor of shape (n, values)
        The scaled windows.
    private : Tensor of int64, shape (n,)
        Codes of their private class.
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
    # summed in float32 whatever precision the network ran in
    error = (output.reconstruction.float() - x.float()).square().sum(dim=1).mean()
    kl = divergence(output.mean.float(), output.log_variance.float()).mean()
    classification = functional.cross_entropy(output.logits.float(), private)
    return Loss(error + beta * kl + alpha * classification, error, kl, classification)


def finite(loss: Tensor, epoch: int) -> None:
    """Raise if a loss is no number any more.

    Raises
    ------
    FloatingPointError
        Naming the epoch and the remedy.
    """
    if not torch.isfinite(loss).all():
        raise FloatingPointError(
            f"the loss is {loss.item()} in epoch {epoch}: lower the learning rate, or train in float32"
        )
