from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sensorprivacy.data import Windows
from sensorprivacy.latent import (
    Classifier,
    Codebook,
    Donor,
    InferenceModels,
    LatentAnonymizer,
    MeanShift,
    SeededSource,
    Settings,
    Transport,
    inference_table,
)
from sensorprivacy.latent.anonymizer import Anonymized
from sensorprivacy.latent.networks import Sizes, sizes_for, weights
from sensorprivacy.latent.windows import replace_values

SMALL = {"vae": Settings(epochs=2, batch=64), "sizes": Sizes((16,), 2)}


def test_the_activity_stays_and_the_gender_turns(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    published = anonymizer.transform(unseen, SeededSource(0))
    table = inference_table(anonymizer.models_, unseen, published).loc["all"]
    assert table["private_before"] > 0.9
    assert table["public_after"] > 0.9
    assert table["private_after"] < 0.1


def test_algorithm_1_step_by_step(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    """One window, by the paper's steps and the networks alone."""
    import torch

    plain = anonymizer.with_(sampled=False)
    one = unseen.take([5])
    x = plain.models_.scaler.apply(one.values)
    public, private = (int(codes[0]) for codes in plain.infer(one))
    network = plain.vaes_[public]
    training = anonymizer.latents_[public]
    average = [training[0][training[1] == code].mean(axis=0) for code in (0, 1)]
    with torch.no_grad():
        z = network.encode(torch.as_tensor(x.reshape(1, -1)))[0].numpy()
        shifted = z - average[private] + average[1 - private]
        decoded = network.decoder(torch.as_tensor(shifted)).numpy().reshape(x.shape)
    expected = plain.models_.scaler.undo(decoded)
    assert np.allclose(plain.transform(one).values, expected, atol=1e-4)


def test_labels_of_the_windows_are_not_looked_at(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    hidden = Windows(
        unseen.values,
        np.full(unseen.n_windows, "?"),
        pd.DataFrame({"gender": ["?"] * unseen.n_windows}),
        np.zeros(unseen.n_windows),
        np.zeros(unseen.n_windows),
    )
    seen, blind = (anonymizer.transform(some, SeededSource(3)).values for some in (unseen, hidden))
    assert np.array_equal(seen, blind)


def test_probabilistic_moves_half_the_windows(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    coin = anonymizer.with_(modify="probabilistic")
    found = coin.anonymize(unseen, SeededSource(0))
    assert isinstance(found, Anonymized)
    assert (found.donor == -1).all()  # a shift publishes nobody's latent
    assert abs(np.mean(found.target != found.private) - 0.5) < 0.1
    always = anonymizer.anonymize(unseen, SeededSource(0))
    assert np.array_equal(always.target, 1 - always.private)
    # without a source two runs differ: nobody can repeat the coins
    assert not np.array_equal(coin.anonymize(unseen).target, coin.anonymize(unseen).target)


@pytest.mark.parametrize("transfer", [MeanShift(1.5), Transport(), Transport(0.5), Donor(), Codebook(2)])
def test_other_transfers_share_the_networks(anonymizer: LatentAnonymizer, unseen: Windows, transfer: MeanShift) -> None:
    other = anonymizer.with_(transfer=transfer)
    assert other.vaes_ is anonymizer.vaes_
    published = other.transform(unseen, SeededSource(0))
    table = inference_table(anonymizer.models_, unseen, published).loc["all"]
    assert table["public_after"] > 0.85
    assert table["private_after"] < 0.2
    assert anonymizer.statistics_[0].keys() == {"means"}  # the original is as it was


def test_what_is_trained_cannot_be_changed(anonymizer: LatentAnonymizer) -> None:
    with pytest.raises(ValueError, match="alpha, private cannot change without a new training"):
        anonymizer.with_(alpha=1, private="subject")


def test_redrawing_keeps_more_of_the_activity(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    drawn = anonymizer.with_(transfer=Codebook(1, synthetic=True))
    once, again = (
        inference_table(anonymizer.models_, unseen, some.transform(unseen, SeededSource(0))).loc["all"]
        for some in (drawn, drawn.with_(redraw=20))
    )
    assert once["public_after"] < 1
    assert again["public_after"] > once["public_after"]


def test_redrawing_can_insist_on_the_private_class(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    near = anonymizer.with_(transfer=MeanShift(0.5))
    once, again = (
        inference_table(anonymizer.models_, unseen, some.transform(unseen, SeededSource(0))).loc["all"]
        for some in (near, near.with_(redraw=20, insist="both"))
    )
    assert once["private_after"] > 0.1
    assert again["private_after"] < once["private_after"] - 0.05
    with pytest.raises(ValueError, match="insist 'all' is unknown: choose from public, both"):
        near.with_(redraw=1, insist="all").transform(unseen)


def test_a_second_reader_helps_to_infer_and_to_redraw(
    anonymizer: LatentAnonymizer, second_reader: Classifier, unseen: Windows
) -> None:
    scaled = anonymizer.models_.scaled(unseen)
    both = anonymizer.models_.public_model.probabilities(scaled) + second_reader.probabilities(scaled)
    seen = anonymizer.with_(second_reader=second_reader)
    assert np.array_equal(seen.infer(unseen)[0], both.argmax(axis=1))
    far = anonymizer.with_(transfer=MeanShift(2))
    found = [one.anonymize(unseen, SeededSource(0)) for one in (far, far.with_(second_reader=second_reader, redraw=20))]
    read = [np.mean(second_reader.predict(anonymizer.models_.scaled(one.windows)) == one.public) for one in found]
    assert read[0] < read[1]


def test_a_window_is_redrawn_if_any_reader_misreads_it_and_read_on_until_one_does(
    anonymizer: LatentAnonymizer, second_reader: Classifier, unseen: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, far = anonymizer.models_, anonymizer.with_(transfer=MeanShift(2)).anonymize(unseen, SeededSource(0))
    scaled = known.scaled(far.windows)
    each = [
        reader.predict(scaled) != wanted
        for reader, wanted in (
            (known.public_model, far.public),
            (second_reader, far.public),
            (known.private_model, far.target),
        )
    ]
    assert len({mask.sum() for mask in each}) == 3
    read: list[int] = []
    predict = Classifier.predict
    monkeypatch.setattr(Classifier, "predict", lambda self, x: read.append(len(x)) or predict(self, x))
    for chosen, masks in (
        ({}, each[:1]),
        ({"second_reader": second_reader}, each[:2]),
        ({"second_reader": second_reader, "insist": "both"}, each),
    ):
        read.clear()
        other = anonymizer.with_(**chosen)
        found = other.models_.misread(scaled, far.public, far.target, other.second_reader, other.insist)
        assert np.array_equal(found, np.any(masks, axis=0))
        assert read == [(~np.any([[False] * len(scaled), *masks[:at]], axis=0)).sum() for at in range(len(masks))]


def test_one_autoencoder_for_all_activities(windows: Windows, models: InferenceModels, unseen: Windows) -> None:
    general = LatentAnonymizer("gender", general=True, **SMALL).fit(windows, models=models, progress=False)
    assert general.vaes_[0] is general.vaes_[1]
    assert set(general.history_["public"]) == {"all"}
    assert general.transform(unseen).values.shape == unseen.values.shape
    assert weights(general.vaes_[0]) > 0


def test_layers_are_the_papers_unless_given(windows: Windows, models: InferenceModels) -> None:
    fitted = LatentAnonymizer("gender", vae=Settings(epochs=1, batch=64)).fit(windows, models=models, progress=False)
    assert fitted.vaes_[0].mean.out_features == sizes_for(64).latent == 10


def test_a_fit_repeats_itself(windows: Windows, models: InferenceModels, unseen: Windows) -> None:
    one, two = (LatentAnonymizer("gender", **SMALL).fit(windows, models=models, progress=False) for _ in range(2))
    pd.testing.assert_frame_equal(one.history_, two.history_)
    published = [some.transform(unseen, SeededSource(4)).values for some in (one, two)]
    assert np.array_equal(*published)


def test_interrupted_trainings_are_taken_up(windows: Windows, models: InferenceModels, tmp_path: Path) -> None:
    whole = LatentAnonymizer("gender", **SMALL).fit(windows, models=models, progress=False)
    fresh = LatentAnonymizer("gender", vae=Settings(epochs=1, batch=64), sizes=SMALL["sizes"])
    fresh.fit(windows, models=models, checkpoints=tmp_path, progress=False)
    again = LatentAnonymizer("gender", **SMALL).fit(windows, models=models, checkpoints=tmp_path, progress=False)
    pd.testing.assert_frame_equal(again.history_, whole.history_)
    assert len(list(tmp_path.iterdir())) == 2


def test_identity_can_be_hidden(windows: Windows) -> None:
    hide = LatentAnonymizer("subject", inference=Settings(epochs=2, batch=64), **SMALL)
    hide.fit(windows, progress=False)
    assert hide.models_.private.classes == ("0", "1", "2", "3", "4", "5")
    found = hide.anonymize(windows, SeededSource(0))
    assert np.array_equal(found.target, (found.private + 1) % 6)


def test_it_is_a_scikit_learn_object() -> None:
    made = LatentAnonymizer("weight", alpha=3, transfer=Transport(0.5))
    copied = clone(made)
    assert copied.get_params() == made.get_params()
    assert not hasattr(copied, "models_")


def test_a_class_absent_from_one_activity_is_named(windows: Windows, models: InferenceModels) -> None:
    some = windows.take(((windows.public != "jog") | (windows.private["gender"] != "male")).to_numpy())
    with pytest.raises(ValueError, match=r"'jog' has 0 training window\(s\) of gender 'male'"):
        LatentAnonymizer("gender", **SMALL).fit(some, models=models, progress=False)


def test_an_unseen_class_in_validation_is_named(windows: Windows, unseen: Windows) -> None:
    odd = Windows(unseen.values, ["swim"] * unseen.n_windows, unseen.private, unseen.subject, unseen.trial)
    with pytest.raises(ValueError, match="public class 'swim' was not seen in training: known are jog, walk"):
        LatentAnonymizer("gender", **SMALL).fit(windows, validation=odd, progress=False)


def test_windows_that_are_wrong_are_refused(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    with pytest.raises(ValueError, match="trained on 2 channels x 32 samples"):
        anonymizer.transform(replace_values(unseen, unseen.values[:, :1]))
    broken = unseen.values.copy()
    broken[3, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"missing or infinite values \(first: window 3\)"):
        replace_values(unseen, broken)


def test_too_few_windows_for_the_batch(windows: Windows, models: InferenceModels) -> None:
    with pytest.raises(ValueError, match="autoencoder of jog: 192 windows are too few for a batch of 512"):
        LatentAnonymizer("gender").fit(windows, models=models, progress=False)


def test_inference_models_of_another_attribute_are_refused(windows: Windows, models: InferenceModels) -> None:
    with pytest.raises(ValueError, match="models of 'gender', but private='subject'"):
        LatentAnonymizer("subject").fit(windows, models=models, progress=False)
