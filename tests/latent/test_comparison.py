from pathlib import Path

import pytest

from sensorprivacy.data import Windows
from sensorprivacy.latent import LatentAnonymizer, ReleaseSettings, Settings
from sensorprivacy.latent.comparison import CHAIN
from sensorprivacy.latent.study import Study


@pytest.fixture
def study(windows: Windows, unseen: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Study:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    quick = Settings(epochs=1, batch=64, patience=2)
    return Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, "mlp", 10.0, 0.1, quick, quick)


def test_printed_trivial_own_and_guaranteed_releases_are_compared(study: Study, anonymizer: LatentAnonymizer) -> None:
    ways = ReleaseSettings(cells=(2,), epsilons=(2.0, 0.5), redraw=1)
    found = ways.releases(study, anonymizer)
    found |= ways.rivals(study, anonymizer.models_, general_epochs=1, rival_epochs=1)
    assert [name for name, release in found.items() if release.trivial] == [
        "raw",
        "inferred label alone",
        "mean window",
        "random training window",
    ]
    printed = {"deterministic", "probabilistic", "general VAE, probabilistic", CHAIN}
    ours = {"transport, 0.7 kept", "codebook 2", "codebook 2, synthetic", "donor", "donor, synthetic"}
    assert printed | ours | {"guaranteed, per window", "guaranteed, per recording"} <= set(found)
    for release in found.values():
        assert release(study.test).values.shape == study.test.values.shape
    assert set(ways.rivals(study, anonymizer.models_, general_epochs=0, rival_epochs=1)) == {CHAIN}


def test_budgets_of_both_guaranteed_releases(study: Study, anonymizer: LatentAnonymizer) -> None:
    """16 windows in a recording and four recordings of a person, at 2.5 for a response."""
    table = ReleaseSettings(cells=(2,), epsilons=(2.0, 0.5)).budget(study, anonymizer)
    assert table["epsilon"].tolist() == [2.5, 40, 160, 2.5, 2.5, 10]
