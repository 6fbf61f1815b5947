from itertools import pairwise

import pytest
import torch

from sensorprivacy.latent.classifiers import cnn
from sensorprivacy.latent.networks import (
    GENERAL,
    SPECIFIC,
    PrivateVAE,
    Sizes,
    he_start,
    layers,
    sample,
    sizes_for,
    weights,
)


def by_hand(values: int, sizes: Sizes, classes: int) -> int:
    """Return weights and biases, counted layer by layer."""
    widths = [values, *sizes.hidden]
    one_way = sum(a * b + b for a, b in pairwise(widths))
    heads = 2 * (widths[-1] * sizes.latent + sizes.latent)
    back = [sizes.latent, *widths[::-1]]
    decoder = sum(a * b + b for a, b in pairwise(back))
    return one_way + heads + decoder + sizes.latent * classes + classes


@pytest.mark.parametrize("values", [256, 768])
@pytest.mark.parametrize("general", [False, True])
def test_weights_are_those_of_the_table(values: int, general: bool) -> None:
    sizes = (GENERAL if general else SPECIFIC)[values]
    assert sizes_for(values, general) == sizes
    assert weights(PrivateVAE(values, sizes, 2)) == by_hand(values, sizes, 2)


def test_a_pass_has_the_shapes_it_says() -> None:
    model = PrivateVAE(64, Sizes((16,), 3), 4)
    output = model(torch.zeros(5, 64))
    assert output.reconstruction.shape == (5, 64)
    assert output.mean.shape == output.log_variance.shape == (5, 3)
    assert output.logits.shape == (5, 4)


def test_he_start_keeps_the_size_of_signals_and_adds_little_noise() -> None:
    torch.manual_seed(0)
    x = torch.randn(500, 256)
    usual = PrivateVAE(256, SPECIFIC[256], 2)
    ours = he_start(PrivateVAE(256, SPECIFIC[256], 2))
    with torch.no_grad():
        spread = {name: one.encoder(x).std().item() for name, one in (("pytorch", usual), ("he", ours))}
        deviation = torch.exp(0.5 * ours(x).log_variance)
    assert spread["pytorch"] < 0.1
    assert 0.3 < spread["he"] < 2  # ReLU halves the variance about zero
    assert deviation.mean().item() == pytest.approx(0.14, abs=0.02)


def test_other_window_sizes_get_the_nearest_layers() -> None:
    assert sizes_for(200) == SPECIFIC[256]
    assert sizes_for(600) == SPECIFIC[768]


def test_samples_have_the_mean_and_deviation_asked_for() -> None:
    generator = torch.Generator().manual_seed(0)
    mean, deviation = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 2.0])
    drawn = sample(mean.expand(200_000, 2), 2 * deviation.log().expand(200_000, 2), generator)
    assert torch.allclose(drawn.mean(dim=0), mean, atol=0.02)
    assert torch.allclose(drawn.std(dim=0), deviation, atol=0.02)


def test_layers_are_read_from_the_network() -> None:
    model = PrivateVAE(256, SPECIFIC[256], 2)
    assert layers(model.encoder) == [("dense", width) for width in (512, 512, 256, 128)]
    assert layers(model.decoder) == [("dense", width) for width in (128, 256, 512, 512, 256)]
    assert layers(cnn(6, 128, 3)) == [("conv", 64), ("conv", 64), ("conv", 32), *[("dense", n) for n in (128, 16, 3)]]
