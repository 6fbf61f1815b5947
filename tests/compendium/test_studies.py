"""Studies of the data sets of paper 3."""

from unittest.mock import create_autospec

import pytest

from compendium import studies
from compendium.studies import prepare
from sensorprivacy import latent


@pytest.mark.slow
def test_a_study_of_a_set_keeps_its_networks_in_the_checkout(mirror, monkeypatch, tmp_path):
    monkeypatch.setattr("compendium.studies.build_dir", lambda: tmp_path)
    study = prepare("smartwatch", "side", scheme="tail", most=2)
    assert study.folder.parent == tmp_path / "latent"
    assert study.folder.name.startswith("smartwatch-side-tail-most2-mlp")
    raw = prepare("smartwatch", "side", channels="raw", scheme="tail", most=2)
    assert raw.windows.n_channels == 6
    assert raw.folder != study.folder


def test_a_notebooks_parameters_describe_its_study(monkeypatch):
    monkeypatch.setattr(studies.datasets, "windows", lambda name, **given: (name, given))
    given = create_autospec(latent.prepare)
    monkeypatch.setattr(latent, "prepare", given)
    prepare(**{"dataset": "motionsense", "private": "gender", "epochs": 3, "profile": "quick", "kept": 0.7})
    networks = studies.build_dir() / "latent"
    given.assert_called_once_with(("motionsense", {"channels": "magnitude"}), "gender", networks=networks, epochs=3)
