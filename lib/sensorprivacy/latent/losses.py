"""The loss of paper 3 (Equation 2), with an explicit scale for each term."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from sensorprivacy.latent.networks import Output


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


def check_finite(loss: Tensor, epoch: int) -> None:
    """Raise FloatingPointError, naming epoch and remedy, if a loss is infinite or not a number."""
    if not torch.isfinite(loss).all():
        raise FloatingPointError(f"loss {loss.tolist()} in epoch {epoch}: lower the learning rate, or train in float32")
