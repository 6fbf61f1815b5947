"""A bundle publishes the same windows as the anonymizer in torch."""

import numpy as np
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.edge import comparison
from sensorprivacy.edge.board.bundle import MANIFEST
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.export import anonymizer_bundle, export, networks_of, signal_of
from sensorprivacy.latent import Transport
from sensorprivacy.latent.networks import weights

TOLERANCE = 1e-4  # greatest allowed difference from torch, in standard deviations of each channel


@pytest.mark.parametrize("modify", ["deterministic", "probabilistic"])
@pytest.mark.parametrize("sampled", [True, False])
def test_published_windows_agree_with_torch(anonymizer, windows, tmp_path, modify, sampled):
    chosen = anonymizer.with_(modify=modify, sampled=sampled)
    made = export(networks_of(chosen), signal_of(windows, "gender"), tmp_path / "b")
    found = comparison.parity(chosen, Pipeline(made), windows)
    assert found["agree"].min() == 1
    assert found.loc["published", "largest"] < TOLERANCE


@pytest.mark.slow
def test_parity_holds_on_real_windows(mirror, tmp_path):
    from compendium.studies import prepare
    from sensorprivacy.latent import LatentAnonymizer, Settings, train_inference_models

    known = prepare("motionsense", "gender")
    few, once = known.validation.take(np.arange(0, known.validation.n_windows, 100)), Settings(epochs=1, batch=16)
    models = train_inference_models(few, "gender", settings=once, progress=False)
    fitted = LatentAnonymizer("gender", vae=once).fit(few, models=models, progress=False)
    made = anonymizer_bundle(fitted, few, tmp_path)
    found = comparison.parity(fitted, Pipeline(made), known.test.take(np.arange(0, known.test.n_windows, 40)))
    assert found["agree"].min() == 1
    assert found.loc["published", "largest"] < TOLERANCE
    assert (made.rate, made.stride, made.budget) == (50, 10, 0.2)


def test_the_manifest_is_complete_and_the_same_anonymizer_gives_the_same_files(anonymizer, windows, bundle, tmp_path):
    again = export(networks_of(anonymizer), signal_of(windows, "gender"), tmp_path / "again")
    assert [step.sha256 for step in again.steps] == [step.sha256 for step in bundle.steps]
    assert (bundle.public, bundle.private, bundle.mapping) == (("jog", "walk"), ("female", "male"), (1, 0))
    assert bundle.budget == pytest.approx(8 / 50)
    assert [step.title for step in bundle.steps] == [
        "public", "private", "encoder 0", "encoder 1", "transformation", "decoder 0", "decoder 1",
    ]  # fmt: skip
    known = anonymizer.models_
    assert bundle.step("public").weights == weights(known.public_model.network_)
    assert {step.kind for step in bundle.steps} == {"MLP", "-"}
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.txt").write_text("x")
    with pytest.raises(FileExistsError, match="exists and is not a bundle"):
        export(networks_of(anonymizer), signal_of(windows, "gender"), tmp_path / "own")


def test_options_that_a_device_does_not_support_are_refused(anonymizer):
    with pytest.raises(
        ValueError, match=r"transport, redraw=0, spectral_noise=0\.0, second_reader=None: a device runs the paper's"
    ):
        networks_of(anonymizer.with_(transfer=Transport()))
    with pytest.raises(ValueError, match="redraw=3"):
        networks_of(anonymizer.with_(redraw=3))
    with pytest.raises(ValueError, match=r"spectral_noise=0\.5"):
        networks_of(anonymizer.with_(spectral_noise=0.5))
    with pytest.raises(ValueError, match="second_reader=Classifier"):
        networks_of(anonymizer.with_(second_reader=anonymizer.models_.public_model))


def test_a_bundle_stores_windows_for_timing(bundle, windows):
    np.testing.assert_array_equal(bundle.samples(20), windows.values[:20])
    assert bundle.samples(50).shape == (50, 2, 32)
    assert (bundle.folder / MANIFEST).is_file()


def test_windows_need_a_rate_in_their_provenance(windows):
    silent = Windows(windows.values, windows.public, windows.private, windows.subject, windows.trial, name="silent")
    with pytest.raises(ValueError, match="the provenance of silent lacks rate, stride, channels"):
        signal_of(silent, "gender")
