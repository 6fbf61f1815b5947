"""The windows and the networks of the tests of `latent`, for what is computed with them here."""

import runpy
from pathlib import Path

import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import Settings
from sensorprivacy.latent.study import Study

_FIXTURES = runpy.run_path(str(Path(__file__).parents[3] / "latent" / "conftest.py"))
windows, unseen = _FIXTURES["windows"], _FIXTURES["unseen"]
trained, models, anonymizer = (_FIXTURES[name] for name in ("trained", "models", "anonymizer"))


@pytest.fixture
def study(windows: Windows, unseen: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path / "build"))
    short = Settings(epochs=2, batch=64)
    trains = {"network": "mlp", "alpha": 10.0, "beta": 0.1, "vae": short, "inference": short}
    return Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, **trains)  # type: ignore[arg-type]
