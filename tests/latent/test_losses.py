import math

import pytest
import torch
from torch.distributions import MultivariateNormal, kl_divergence

from sensorprivacy.latent.networks import Output, divergence, vae_loss
from sensorprivacy.latent.training import check_finite


def test_divergence_is_that_of_torch_distributions() -> None:
    torch.manual_seed(0)
    mean, log_variance = torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    prior = MultivariateNormal(torch.zeros(3, dtype=torch.float64), torch.eye(3, dtype=torch.float64))
    expected = [
        kl_divergence(MultivariateNormal(m, torch.diag(v.exp())), prior)
        for m, v in zip(mean, log_variance, strict=True)
    ]
    assert torch.allclose(divergence(mean, log_variance), torch.stack(expected))


def test_loss_by_hand() -> None:
    x = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
    output = Output(torch.tensor([[1.0, 4.0], [3.0, 0.0]]), torch.zeros(2, 1), torch.zeros(2, 1), torch.zeros(2, 2))
    loss = vae_loss(output, x, torch.tensor([0, 1]), beta=0.5, alpha=2)
    assert loss.reconstruction.item() == pytest.approx((4 + 9) / 2)  # summed over values, mean over windows
    assert loss.divergence.item() == 0
    assert loss.classification.item() == pytest.approx(math.log(2))
    assert loss.total.item() == pytest.approx(6.5 + 2 * math.log(2))


def test_a_loss_that_is_no_number_names_the_epoch() -> None:
    with pytest.raises(FloatingPointError, match="nan in epoch 3: lower the learning rate"):
        check_finite(torch.tensor(float("nan")), 3)
