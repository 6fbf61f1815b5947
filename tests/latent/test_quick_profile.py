"""The quick profile must not mislead: short trainings lost most of *stairs down* (REVIEW: 0.90 and 0.41)."""

from pathlib import Path

import pytest

from sensorprivacy import latent
from sensorprivacy.latent.study import prepare
from sensorprivacy.runner.parameters import read_parameters, resolve
from sensorprivacy.runner.runs import read_runs

CHOICES = ("every", "epochs", "inference_epochs", "batch", "start", "alpha", "beta", "precision", "seed")


@pytest.mark.slow
@pytest.mark.mirror
def test_motionsense_keeps_its_activities_in_the_quick_profile(
    mirror: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sensorprivacy.latent.study.build_dir", lambda: tmp_path)
    run = read_runs()["30_vae_anonymization-motionsense-gender"]
    values = resolve(read_parameters(run.notebook), run.values("quick"))
    study = prepare(values["dataset"], values["private"], **{name: values[name] for name in CHOICES})
    models = study.inference_models()
    published = study.anonymizer(models).transform(study.test, latent.SeededSource(0))
    table = latent.inference_table(models, study.test, published)
    assert table.loc["all", "public_after"] >= 0.93
    assert table.loc["dws", "public_after"] >= 0.80
    assert table.loc["all", "private_after"] < 0.5  # and the shift still hides
    assert latent.activity_lost(table) == ""
