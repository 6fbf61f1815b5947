"""What the notebook builds on: the paper's shapes, the rivals, eager torch."""

import numpy as np
import pytest

from sensorprivacy.edge import prepared
from sensorprivacy.edge.export import networks_of
from sensorprivacy.latent import SeededSource


@pytest.mark.parametrize(("attribute", "classes"), [("gender", 2), ("weight", 3)])
def test_mobiacts_networks_have_the_papers_shapes(tmp_path, attribute, classes):
    made = prepared.mobiact_bundle(attribute, tmp_path)
    assert made.shape == (6, 128)
    assert (made.budget, made.trained, len(made.private)) == (0.5, False, classes)
    kinds = {step.name: step.kind for step in made.steps}
    assert kinds == {"public": "CNN", "private": "CNN", "encoder": "MLP", "transformation": "-", "decoder": "MLP"}
    per_class = 768 * 512 + 512 * 512 + 512 * 256 + 256 * 128
    assert made.step("encoder", 0).macs == per_class + 128 * 2 * 5
    assert made.step("decoder", 3).macs == per_class + 5 * 128


def test_weights_of_general_and_specific_autoencoders():
    found = prepared.weight_counts()
    assert found.loc["motionsense", "specific"] == 1_121_066
    assert found["times"].round(1).to_dict() == {"motionsense": 5.5, "mobiact": 1.3}


def test_the_rivals_are_those_of_table_7(windows, tmp_path):
    made = prepared.rivals_bundle(windows, "gender", tmp_path)
    assert [step.title for step in made.steps] == ["public", "private", "anonymization", "replacement"]
    assert not made.anonymizes
    assert {step.name: step.kind for step in made.steps}["anonymization"] == "CNN"


def test_eager_torch_and_the_pipeline_publish_the_same(anonymizer, windows, pipeline):
    chosen = anonymizer.with_(sampled=False)
    call = prepared.eager(networks_of(chosen), SeededSource(0))
    theirs = chosen.anonymize(windows, SeededSource(0)).windows.values
    for at in range(0, windows.n_windows, 9):
        np.testing.assert_allclose(call(windows.values[at]), theirs[at], atol=1e-4)


def test_eager_torch_and_pipelines_are_timed_in_turns(anonymizer, windows, pipeline):
    import torch

    before = torch.get_num_threads()
    found = prepared.against_eager(
        networks_of(anonymizer), {"float32": pipeline}, windows.values, rounds=2, seconds=0.01
    )
    assert list(found.index) == ["eager torch", "float32"]
    assert found.loc["eager torch", ["times", "least", "most"]].tolist() == [1, 1, 1]
    # small networks: what is left is what torch does around them
    assert found.loc["float32", "times"] > 2
    assert torch.get_num_threads() == before


def test_windows_are_routed_by_their_inferred_class(anonymizer, windows):
    found = prepared.routed(anonymizer, windows)
    assert found.sum() == windows.n_windows
    assert list(found.index) == ["jog", "walk"]


def test_windows_must_say_at_which_rate_they_were_cut(windows):
    from sensorprivacy.datasets.types import Windows

    silent = Windows(windows.values, windows.public, windows.private, windows.subject, windows.trial, name="silent")
    with pytest.raises(ValueError, match="silent does not say its rate, stride, channels"):
        prepared.signal_of(silent, "gender")
