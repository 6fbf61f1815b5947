from itertools import pairwise

import numpy as np
import pytest
import torch

from sensorprivacy.data import Windows
from sensorprivacy.latent import InferenceModels, train_inference_models
from sensorprivacy.latent.classifiers import Classifier, Dropout, Pool, cnn, mlp
from sensorprivacy.latent.networks import weights
from sensorprivacy.latent.training import Settings


def test_the_papers_mlp() -> None:
    widths = [256, 512, 256, 256, 128, 16, 4]
    assert weights(mlp(256, 4)) == sum(a * b + b for a, b in pairwise(widths))
    drops = [part.p for part in mlp(256, 4) if type(part).__name__ == "Dropout"]
    assert drops == [0.5] * 4


def test_the_papers_cnn() -> None:
    convolutions = (1 * 64 + 64 * 64 + 64 * 32) * 2 * 5 + 64 + 64 + 32
    norms = 2 * (64 + 64 + 32)
    dense = 32 * 6 * 16 * 128 + 128 + 128 * 16 + 16 + 16 * 3 + 3
    assert weights(cnn(6, 128, 3)) == convolutions + norms + dense


def test_the_cnn_pools_before_relu_without_changing_the_output() -> None:
    """The order of the paper's figure, block by block, on the same weights."""
    network, windows = cnn(6, 32, 3).train(), torch.randn(16, 6, 32)
    parts = [part for part in network if not isinstance(part, torch.nn.Dropout)]
    pooled = [number for number, part in enumerate(parts) if isinstance(part, torch.nn.MaxPool2d)]
    assert len(pooled) == 3
    ours = torch.nn.Sequential(*parts)(windows)
    for number in pooled:
        assert isinstance(parts[number + 1], torch.nn.ReLU)
        parts[number], parts[number + 1] = parts[number + 1], parts[number]
    torch.testing.assert_close(torch.nn.Sequential(*parts)(windows), ours)


@pytest.mark.parametrize("length", [2, 7, 16])
@pytest.mark.parametrize("training", [False, True])
def test_pooling_is_pytorchs(length: int, training: bool) -> None:
    windows = torch.randn(5, 3, 2, length).to(memory_format=torch.channels_last)
    torch.testing.assert_close(
        Pool().train(training)(windows), torch.nn.functional.max_pool2d(windows, (1, 2)), rtol=0, atol=0
    )


@pytest.mark.slow
def test_the_cnn_predicts_in_the_precision_of_its_training(windows: Windows) -> None:
    """16 bits change probabilities in the third digit, and almost no class."""
    codes = (windows.public == "walk").to_numpy().astype(np.int64)
    fewer = Classifier("cnn", settings=Settings(epochs=3, batch=64, precision="bfloat16", device="cpu"))
    fewer.fit(windows.values, codes, progress=False)
    whole = Classifier("cnn", settings=Settings(precision="float32", device="cpu"))
    whole.network_, whole.classes_ = fewer.network_, 2
    one, two = fewer.probabilities(windows.values), whole.probabilities(windows.values)
    assert one.dtype == two.dtype == np.float32
    assert 0 < np.abs(one - two).max() < 0.05
    assert (one.argmax(axis=1) == two.argmax(axis=1)).mean() > 0.98


def test_the_cnn_refuses_short_windows() -> None:
    with pytest.raises(ValueError, match="4 samples are too short"):
        cnn(2, 4, 2)


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["mlp", "cnn", "conv1d"])
def test_each_network_learns_an_easy_problem(windows: Windows, unseen: Windows, kind: str) -> None:
    dropout = 0.1 if kind == "mlp" else None
    model = Classifier(kind, dropout, Settings(epochs=20, batch=64, rate=3e-3))  # type: ignore[arg-type]
    x = windows.values - windows.values.mean(axis=(0, 2), keepdims=True)
    codes = (windows.public == "walk").to_numpy().astype(np.int64)
    model.fit(x, codes, progress=False)
    judged = unseen.values - windows.values.mean(axis=(0, 2), keepdims=True)
    assert np.mean(model.predict(judged) == (unseen.public == "walk")) > 0.95
    odds = model.probabilities(judged)
    assert odds.shape == (unseen.n_windows, 2)
    assert np.allclose(odds.sum(axis=1), 1, atol=1e-5)


def test_an_unknown_kind_lists_the_known(windows: Windows) -> None:
    with pytest.raises(ValueError, match="kind 'rnn' is unknown: choose from mlp, cnn, conv1d"):
        Classifier("rnn").build((2, 32), 2)  # type: ignore[arg-type]


def test_inference_models_are_right_on_unseen_windows(models: InferenceModels, unseen: Windows) -> None:
    public, private = models.codes(unseen)
    scaled = models.scaled(unseen)
    assert np.mean(models.public_model.predict(scaled) == public) > 0.9
    assert np.mean(models.private_model.predict(scaled) == private) > 0.9


def test_scales_are_learned_on_training_windows_alone(windows: Windows, unseen: Windows) -> None:
    settings = Settings(epochs=1, batch=64)
    alone = train_inference_models(windows, "gender", settings=settings, progress=False)
    other = unseen.take(np.arange(40))
    with_validation = train_inference_models(windows, "gender", validation=other, settings=settings, progress=False)
    assert alone.scaler == with_validation.scaler


def test_windows_of_another_shape_are_refused(models: InferenceModels, unseen: Windows) -> None:
    from sensorprivacy.latent.windows import replace_values

    short = replace_values(unseen, unseen.values[:, :, :16])
    with pytest.raises(ValueError, match="2 channels x 16 samples, but this was trained on 2 channels x 32 samples"):
        models.scaled(short)


def test_a_single_private_class_is_refused(windows: Windows) -> None:
    women = windows.take((windows.private["gender"] == "female").to_numpy())
    with pytest.raises(ValueError, match="gender has the single class 'female'"):
        train_inference_models(women, "gender", progress=False)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_dropout_silences_a_share_and_keeps_the_mean(share: float) -> None:
    torch.manual_seed(0)
    layer, x = Dropout(share), torch.ones(200, 301, requires_grad=True)
    shown = layer(x)
    assert (shown == 0).float().mean().item() == pytest.approx(share, abs=0.01)
    assert shown.mean().item() == pytest.approx(1, abs=0.02)
    shown.sum().backward()
    assert torch.equal(x.grad, shown.detach())  # silenced values have no gradient
    silenced = (shown == 0).float()
    assert abs(torch.corrcoef(torch.stack([silenced[:, 0], silenced[:, 8]]))[0, 1].nan_to_num()) < 0.3
    assert torch.equal(layer.eval()(x), x)
