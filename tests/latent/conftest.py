"""Small windows in which frequency gives the activity, and height the gender."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from filelock import FileLock

from sensorprivacy.data import Windows
from sensorprivacy.latent import Classifier, InferenceModels, LatentAnonymizer, Settings, train_inference_models
from sensorprivacy.latent.networks import Sizes

LENGTH, STRIDE = 32, 8
ACTIVITIES = {"jog": 4.0, "walk": 2.0}
HEIGHT = {"female": 0.5, "male": 1.5}


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def made(*, subjects: int = 6, trials: int = 2, per_recording: int = 16, seed: int = 0) -> Windows:
    """Return windows of sines: 2 channels, subjects alternating between the genders."""
    generator = np.random.default_rng(seed)
    time = np.arange(LENGTH + STRIDE * (per_recording - 1)) / LENGTH
    values, rows = [], []
    for subject in range(subjects):
        gender = list(HEIGHT)[subject % 2]
        for activity, frequency in ACTIVITIES.items():
            for trial in range(1, trials + 1):
                wave = HEIGHT[gender] + np.sin(2 * np.pi * (frequency * time + generator.random()))
                signal = np.stack([wave, 3 + 2 * np.roll(wave, 3)]) + generator.normal(0, 0.1, (2, len(time)))
                cuts = np.lib.stride_tricks.sliding_window_view(signal, LENGTH, axis=1)[:, ::STRIDE]
                values.append(cuts.transpose(1, 0, 2))
                rows += [(activity, gender, subject, trial)] * per_recording
    table = pd.DataFrame(rows, columns=["activity", "gender", "subject", "trial"])
    return Windows(
        np.concatenate(values),
        table["activity"],
        table[["gender"]],
        table["subject"],
        table["trial"],
        name="sines",
        provenance={"length": LENGTH, "stride": STRIDE, "rate": LENGTH},
    )


@pytest.fixture(scope="session")
def windows() -> Windows:
    return made()


@pytest.fixture(scope="session")
def unseen() -> Windows:
    return made(seed=1)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of trained networks; the workers of a test run share it, and wait for whoever trains."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sines"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def models(windows: Windows, trained: Path) -> InferenceModels:
    settings = Settings(epochs=30, batch=64)
    with FileLock(trained / "lock"):
        return train_inference_models(windows, "gender", settings=settings, checkpoints=trained, progress=False)


@pytest.fixture(scope="session")
def second_reader(windows: Windows, models: InferenceModels) -> Classifier:
    """A second model of the activity, of another kind of network."""
    model = Classifier("conv1d", settings=Settings(epochs=6, batch=64, seed=9))
    return model.fit(models.scaled(windows), models.public.codes(windows.public), progress=False)


@pytest.fixture(scope="session")
def anonymizer(windows: Windows, models: InferenceModels, trained: Path) -> LatentAnonymizer:
    vae = Settings(epochs=150, batch=64, rate=3e-3)
    fresh = LatentAnonymizer("gender", vae=vae, sizes=Sizes((64, 32), 4))
    with FileLock(trained / "lock"):
        return fresh.fit(windows, models=models, checkpoints=trained, progress=False)
