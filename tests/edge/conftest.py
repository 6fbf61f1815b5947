"""A small anonymizer of sine waves, trained briefly, and its bundle."""

import numpy as np
import pandas as pd
import pytest
import torch

from sensorprivacy.data import Windows
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.export import export, networks_of, signal_of
from sensorprivacy.latent import LatentAnonymizer, Settings, train_inference_models
from sensorprivacy.latent.networks import Sizes

LENGTH, STRIDE, RATE = 32, 8, 50.0


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def windows():
    generator = np.random.default_rng(0)
    gender = ("female", "male")
    table = pd.DataFrame(
        [(act, gender[who % 2], who, trial) for who in range(4) for act in ("jog", "walk") for trial in range(16)],
        columns=["activity", "gender", "subject", "trial"],
    )
    height = table["gender"].map({"female": 0.5, "male": 1.5}).to_numpy()[:, None, None]
    speed = table["activity"].map({"jog": 4.0, "walk": 2.0}).to_numpy()[:, None, None]
    phase = generator.random((len(table), 2, 1))
    wave = height + np.sin(2 * np.pi * (speed * np.arange(LENGTH) / LENGTH + phase))
    return Windows(
        wave + generator.normal(0, 0.1, wave.shape) + np.array([0, 3])[:, None],
        table["activity"],
        table[["gender"]],
        table["subject"],
        table["trial"],
        name="sines",
        provenance={"length": LENGTH, "stride": STRIDE, "rate": RATE, "channels": ["turn", "shake"]},
    )


@pytest.fixture(scope="session")
def anonymizer(windows):
    few = Settings(epochs=8, batch=32, rate=3e-3)
    models = train_inference_models(windows, "gender", settings=few, progress=False)
    fresh = LatentAnonymizer("gender", vae=few, sizes=Sizes((48, 24), 3))
    return fresh.fit(windows, models=models, progress=False)


@pytest.fixture(scope="session")
def bundle(anonymizer, windows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("edge") / "sines-gender"
    return export(networks_of(anonymizer), signal_of(windows, "gender"), folder, samples=windows.values[:20])


@pytest.fixture(scope="session")
def pipeline(bundle):
    return Pipeline(bundle)
