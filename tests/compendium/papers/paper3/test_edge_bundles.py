"""The bundles behind paper 3's timing tables have the paper's shapes."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from compendium.papers.paper3 import edge_bundles
from sensorprivacy.data import Windows

windows = runpy.run_path(str(Path(__file__).parents[3] / "edge" / "conftest.py"))["windows"]


@pytest.mark.parametrize(("attribute", "classes"), [("gender", 2), ("weight", 3)])
def test_mobiacts_networks_have_the_papers_shapes(tmp_path, attribute, classes):
    made = edge_bundles.mobiact_bundle(attribute, tmp_path)
    assert made.shape == (6, 128)
    assert (made.budget, made.trained, len(made.private)) == (0.5, False, classes)
    kinds = {step.name: step.kind for step in made.steps}
    assert kinds == {"public": "CNN", "private": "CNN", "encoder": "MLP", "transformation": "-", "decoder": "MLP"}
    per_class = 768 * 512 + 512 * 512 + 512 * 256 + 256 * 128
    assert made.step("encoder", 0).macs == per_class + 128 * 2 * 5
    assert made.step("decoder", 3).macs == per_class + 5 * 128


def test_mobiacts_networks_are_timed_on_real_windows_of_their_shape(tmp_path):
    values = np.random.default_rng(0).normal(3, 2, size=(300, 6, 128)).astype(np.float32)
    axes = [f"axis {number}" for number in range(6)]
    known = {"rate": 200, "stride": 10, "channels": axes}
    windows = Windows(values, ["WAL"] * 300, pd.DataFrame({"gender": ["male"] * 300}), [1] * 300, [1] * 300, "x", known)
    made = edge_bundles.mobiact_bundle("gender", tmp_path, windows)
    assert list(made.channels) == axes
    assert made.budget == 0.5
    assert made.mean == pytest.approx([3] * 6, abs=0.1)
    assert np.load(next(made.folder.glob("*.npy"))).shape == (256, 6, 128)


def test_weights_of_general_and_specific_autoencoders():
    found = edge_bundles.weight_counts()
    assert found.loc["motionsense", "specific"] == 1_121_066
    assert found["times"].round(1).to_dict() == {"motionsense": 5.5, "mobiact": 1.3}


@pytest.mark.slow
def test_the_rivals_are_those_of_table_7(windows, tmp_path):
    made = edge_bundles.rivals_bundle(windows, "gender", tmp_path)
    assert [step.title for step in made.steps] == ["public", "private", "anonymization", "replacement"]
    assert not made.anonymizes
    assert {step.name: step.kind for step in made.steps}["anonymization"] == "CNN"
