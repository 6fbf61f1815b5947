"""Graphs agree with torch: outputs, multiply-adds and trained weights."""

import numpy as np
import onnxruntime as ort
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from sensorprivacy.edge import graphs
from sensorprivacy.latent.classifiers import cnn, mlp
from sensorprivacy.latent.networks import PrivateVAE, Sizes, dense, weights
from sensorprivacy.latent.rivals import _convolutional


def run(graph, **given):
    session = ort.InferenceSession(graph.model().SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, given)


def used(network: nn.Module) -> nn.Module:
    """Return a network in evaluation mode, with random batch norms."""
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.uniform_(part.running_mean), nn.init.uniform_(part.running_var, 0.5, 2)
            nn.init.uniform_(part.weight), nn.init.uniform_(part.bias)
    return network.eval()


NETWORKS = {
    "mlp": (lambda: mlp(2 * 32, 4), (2, 32)),
    "cnn": (lambda: cnn(6, 32, 3), (6, 32)),
    "cnn of one channel": (lambda: cnn(1, 40, 3), (1, 40)),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 5])
def test_a_classifier_gives_the_same_output_as_torch(name, batch):
    build, shape = NETWORKS[name]
    network = used(build())
    x = torch.randn(batch, *shape)
    (ours,) = run(graphs.classifier(network, shape, "logits"), x=x.numpy())
    np.testing.assert_allclose(ours, network(x).detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_multiply_adds_and_weights_agree_with_torch(name):
    build, shape = NETWORKS[name]
    network = used(build())
    graph = graphs.classifier(network, shape, "logits")
    with FlopCounterMode(display=False) as counter:
        network(torch.randn(1, *shape))
    norms = sum(
        part.num_features * size for part, size in zip(_norms(network), _sizes(network, shape), strict=True)
    )  # torch does not count these
    assert 2 * (graph.macs - norms) == counter.get_total_flops()
    assert graph.weights == weights(network)
    assert graph.kind == ("CNN" if "cnn" in name else "MLP")


def _norms(network):
    return [part for part in network.modules() if isinstance(part, nn.BatchNorm2d)]


def _sizes(network, shape):
    found = []
    for part in _norms(network):
        part.register_forward_hook(lambda _, given, __: found.append(given[0][0, 0].numel()))
    network(torch.randn(1, *shape))
    return found


@pytest.mark.parametrize("network", [dense((64, 16, 8, 16, 64))[:-1], _convolutional(2, (4, 8))], ids=["dense", "conv"])
def test_an_autoencoder_gives_the_same_output_as_torch(network):
    x = torch.randn(3, 2, 32)
    graph = graphs.autoencoder(network.eval(), (2, 32))
    (ours,) = run(graph, x=x.numpy())
    theirs = network(x.flatten(1) if isinstance(network[0], nn.Linear) else x).detach().numpy()
    np.testing.assert_allclose(ours, theirs.reshape(3, 2, 32), atol=1e-5)
    with FlopCounterMode(display=False) as counter:
        network(x[:1].flatten(1) if isinstance(network[0], nn.Linear) else x[:1])
    assert 2 * graph.macs == counter.get_total_flops()
    assert graph.weights == weights(network)


def test_encoder_and_decoder_give_the_same_output_as_torch_and_the_variance_is_bounded():
    vae = PrivateVAE(64, Sizes((16, 8), 3), 2).eval()
    nn.init.constant_(vae.log_variance.bias, 50)
    x = torch.randn(4, 2, 32)
    encoder = graphs.encoder(vae.encoder, vae.mean, vae.log_variance, (2, 32), 10.0)
    mean, log_variance = run(encoder, x=x.numpy())
    theirs = [part.detach().numpy() for part in vae.encode(x.flatten(1))]
    np.testing.assert_allclose(mean, theirs[0], atol=1e-5)
    np.testing.assert_allclose(log_variance, theirs[1], atol=1e-5)
    assert log_variance.max() == 10
    z = torch.randn(4, 3)
    decoder = graphs.decoder(vae.decoder, 3, (2, 32))
    (window,) = run(decoder, z=z.numpy())
    np.testing.assert_allclose(window.reshape(4, -1), vae.decoder(z).detach().numpy(), atol=1e-5)
    assert encoder.weights + decoder.weights + weights(vae.classifier) == weights(vae)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 4), st.integers(2, 4), st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_the_transformation_follows_algorithm_1(public, private, size, count, seed):
    generator = np.random.default_rng(seed)
    means = generator.standard_normal((public, private, size))
    mean, log_variance, noise = generator.standard_normal((3, count, size)).astype(np.float32)
    y, p, q = generator.integers(public, size=count), *generator.integers(private, size=(2, count))
    given = {"mean": mean, "log_variance": log_variance, "noise": noise, "public": y, "private": p, "target": q}
    (z,) = run(graphs.transformation(means), **given)
    expected = mean + noise * np.exp(log_variance / 2) - means[y, p] + means[y, q]
    np.testing.assert_allclose(z, expected, atol=1e-5)


def test_the_same_network_gives_the_same_bytes_and_an_unknown_layer_is_named():
    network = mlp(64, 3).eval()
    first, second = (graphs.classifier(network, (2, 32), "logits").model().SerializeToString() for _ in range(2))
    assert first == second
    with pytest.raises(TypeError, match="layer GELU cannot be exported: use only Linear"):
        graphs.classifier(nn.Sequential(nn.Flatten(), nn.GELU()), (2, 32), "logits")
