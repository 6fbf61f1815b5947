import numpy as np
import pytest

from compendium.papers.paper3.pictures import latent_picture, layer_sizes, signals
from sensorprivacy.data import Windows
from sensorprivacy.latent import LatentAnonymizer, SeededSource


def test_the_first_direction_is_the_transfer_vector(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    points, means = latent_picture(anonymizer, unseen, "walk", most=60)
    known = anonymizer.statistics_[1]["means"]
    length = np.linalg.norm(known[1] - known[0])
    assert means["x"].diff().iloc[1] == pytest.approx(length)
    assert means["y"].diff().iloc[1] == pytest.approx(0, abs=1e-9)
    shift = points.groupby(["panel", "class"])["x"].mean().unstack("panel")
    # all windows are inferred rightly, so each class moves by the vector, forth or back
    assert (shift["after"] - shift["before"]).to_numpy() == pytest.approx([length, -length], rel=1e-4)


def test_one_median_window_a_class(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    published = anonymizer.transform(unseen, SeededSource(0))
    table = signals(unseen, published)
    assert len(table) == 2 * 2 * 32
    assert table["time"].max() == pytest.approx(31 / 32)
    walk = table[(table["public"] == "walk") & (table["channel"] == "channel 1")]
    matches = (unseen.values[:, 0] == walk["original"].to_numpy(np.float32)).all(axis=1)
    assert matches.sum() == 1
    assert unseen.public[matches.argmax()] == "walk"


def test_layers_are_those_of_the_networks(anonymizer: LatentAnonymizer) -> None:
    (first, vae), *models = layer_sizes(anonymizer).items()
    assert anonymizer.private in first
    latent = [("mean", 4), ("log variance", 4), ("z", 4), ("private", 2)]
    dense = [("dense", 64), ("dense", 32)]
    assert vae == [("input", 64), *dense, *latent, *dense[::-1], ("output", 64)]
    assert [title for title, _ in models] == ["Inference of activity", f"Inference of {anonymizer.private}"]
    for _, sizes in models:
        assert (sizes[0], sizes[-1]) == (("input", 64), ("output", 2))
