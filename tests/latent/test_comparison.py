from pathlib import Path

import pytest
import torch

from sensorprivacy.data import Windows
from sensorprivacy.latent import Attacker, LatentAnonymizer, ReleaseSettings, Settings
from sensorprivacy.latent.comparison import ATTACKED, CHAIN
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import attack_trainings, pooled, read_all, rights_of


@pytest.fixture
def study(windows: Windows, unseen: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Study:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    quick = Settings(epochs=1, batch=64, patience=2)
    return Study("sines", "sines-gender", "gender", windows, windows, unseen, unseen, "mlp", 10.0, 0.1, quick, quick)


@pytest.mark.slow
def test_printed_trivial_own_and_guaranteed_releases_are_compared(study: Study, anonymizer: LatentAnonymizer) -> None:
    ways = ReleaseSettings(cells=(2,), epsilons=(2.0, 0.5), redraw=1)
    found = ways.releases(study, anonymizer)
    found |= ways.rivals(study, anonymizer.models_, general_epochs=1, rival_epochs=1, thinned=2)
    assert [name for name, release in found.items() if release.trivial] == [
        "raw",
        "inferred label alone",
        "mean window",
        "random training window",
    ]
    printed = {"deterministic", "probabilistic", "general VAE, probabilistic", CHAIN}
    assert found["general VAE, probabilistic"].anonymizer.alpha == 0  # type: ignore[union-attr]
    ours = {"transport, 0.7 kept", "codebook 2", "codebook 2, synthetic", "donor", "donor, synthetic"}
    assert printed | ours | {"guaranteed, per window", "guaranteed, per recording"} <= set(found)
    for release in found.values():
        assert release(study.test).values.shape == study.test.values.shape
    assert set(ways.rivals(study, anonymizer.models_, rival_epochs=1)) == {"Anonymization AE", CHAIN}


@pytest.mark.slow
def test_figure_8_attacks_the_networks_of_each_seed(study: Study) -> None:
    """REVIEW A9: Table 1 and Fig. 8 came from different networks, and from one training."""
    made = ReleaseSettings().trained(study, [0, 3], rival_epochs=1, general_epochs=5)
    assert [(one.study.vae.seed, tuple(one.releases)) for one in made] == [(0, ATTACKED), (3, ATTACKED)]
    networks = [one.releases["probabilistic"].anonymizer.vaes_ for one in made]  # type: ignore[attr-defined]
    again = study.with_seed(3).anonymizer(study.with_seed(3).inference_models()).vaes_
    for ours, theirs, other in zip(networks[1], again, networks[0], strict=True):
        assert torch.equal(ours.mean.weight, theirs.mean.weight)
        assert not torch.equal(ours.mean.weight, other.mean.weight)
    attacks = attack_trainings(made, [Attacker("paper's", settings=study.inference)], runs=5, share_known=0.5)
    table = pooled(attacks).table
    assert set(table["release"]) == set(ATTACKED)
    assert set(table["runs"]) == {4}
    for name, rights in read_all(made).items():  # the same windows, in the same order
        assert name == "raw" or rights_of(attacks, name, "window").shape == rights.private.shape


def test_budgets_of_both_guaranteed_releases(study: Study, anonymizer: LatentAnonymizer) -> None:
    """16 windows in a recording and four recordings of a person, at 2.5 for a response."""
    table = ReleaseSettings(cells=(2,), epsilons=(2.0, 0.5)).budget(study, anonymizer)
    assert table["epsilon"].tolist() == [2.5, 40, 160, 2.5, 2.5, 10]
