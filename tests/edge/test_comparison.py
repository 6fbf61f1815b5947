"""The pipeline agrees with eager torch, and both are timed in turns."""

import numpy as np
import torch

from sensorprivacy.edge import comparison
from sensorprivacy.edge.export import networks_of
from sensorprivacy.latent import SeededSource


def test_eager_torch_and_the_pipeline_publish_the_same(anonymizer, windows, pipeline):
    chosen = anonymizer.with_(sampled=False)
    call = comparison.eager(networks_of(chosen), SeededSource(0))
    theirs = chosen.anonymize(windows, SeededSource(0)).windows.values
    for at in range(0, windows.n_windows, 9):
        np.testing.assert_allclose(call(windows.values[at]), theirs[at], atol=1e-4)


def test_eager_torch_and_pipelines_are_timed_in_turns(anonymizer, windows, pipeline, terminal, capsys):
    before = torch.get_num_threads()
    found = comparison.against_eager(
        networks_of(anonymizer), {"float32": pipeline}, windows.values, rounds=2, seconds=0.01
    )
    assert list(found.index) == ["eager torch", "float32"]
    assert found.loc["eager torch", ["times", "least", "most"]].tolist() == [1, 1, 1]
    # in small networks, torch spends its time around the arithmetic
    assert found.loc["float32", "times"] > 2
    assert torch.get_num_threads() == before
    assert "eager torch and pipelines: " in capsys.readouterr().err


def test_windows_are_routed_by_their_inferred_class(anonymizer, windows):
    found = comparison.routed(anonymizer, windows)
    assert found.sum() == windows.n_windows
    assert list(found.index) == ["jog", "walk"]
