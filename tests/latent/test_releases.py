from dataclasses import replace

import numpy as np
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.game import attack_all
from sensorprivacy.latent import Attacker, Codebook, Donor, LatentAnonymizer, Transport, scenes
from sensorprivacy.latent.releases import SeededRelease, anonymized, moved, shifted, trivial, unrandomized
from sensorprivacy.latent.utility import activity_kept, utility_table


@pytest.fixture(scope="module")
def releases(anonymizer: LatentAnonymizer, windows: Windows) -> dict[str, SeededRelease]:
    raw = {"raw": unrandomized(lambda some: some, trivial=True)}
    ours = moved(anonymizer, [Transport(0.5), Codebook(2), Donor(), Donor(synthetic=True)], redraw=2)
    return raw | trivial(anonymizer, windows) | shifted(anonymizer, redraw=2) | ours


def test_every_release_has_a_name_and_keeps_the_shape(releases: dict[str, SeededRelease], unseen: Windows) -> None:
    assert list(releases) == [
        "raw",
        "inferred label alone",
        "mean window",
        "random training window",
        "deterministic",
        "probabilistic",
        "deterministic, redrawn",
        "probabilistic, redrawn",
        "transport, 0.5 kept",
        "codebook 2",
        "donor",
        "donor, synthetic",
    ]
    for release in releases.values():
        published = release(unseen)
        assert published.values.shape == unseen.values.shape
        assert np.isfinite(published.values).all()


def test_a_release_repeats_itself_for_a_draw_and_differs_between_draws(
    releases: dict[str, SeededRelease], unseen: Windows
) -> None:
    """REVIEW B8: two tables of one run used different publications."""
    for name in ("random training window", "probabilistic", "codebook 2"):
        one, again, other = (releases[name].draw(unseen, at).values for at in (0, 0, 1))
        assert np.array_equal(one, again), name
        assert not np.array_equal(one, other), name
        seeded = replace(releases[name], seed=7)
        assert not np.array_equal(seeded(unseen).values, one)


def test_a_publication_that_several_tables_measure_is_made_once(windows: Windows, unseen: Windows) -> None:
    made = []

    def publisher(some: Windows, source: object) -> tuple[Windows, np.ndarray]:
        made.append(some.n_windows)
        return some, np.full(some.n_windows, -1)

    release = SeededRelease(publisher)
    for some, number in ((unseen, 0), (unseen, 0), (unseen, 1), (unseen, 1), (windows, 0), (unseen, 0)):
        release.draw(some, number)
    few, many = unseen.n_windows, windows.n_windows
    assert made == [few, few, few, many, few]  # other numbers and other windows are published anew


@pytest.mark.slow
def test_running_twice_gives_the_same_tables(
    releases: dict[str, SeededRelease], anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows
) -> None:
    some = {name: releases[name] for name in ("probabilistic", "codebook 2")}
    adversaries = [Attacker("trees", "trees"), Attacker("counts", "counts")]
    one, two = (attack_all(scenes(some, windows, unseen, "gender"), adversaries).table for _ in range(2))
    assert one.equals(two)
    first, second = (activity_kept(some, [anonymizer.models_], unseen) for _ in range(2))
    assert first.equals(second)
    # a release has the same scores, whichever table it is in
    alone = attack_all(scenes({"codebook 2": some["codebook 2"]}, windows, unseen, "gender"), adversaries[:1]).table
    assert (
        alone["score"].tolist()
        == one[(one["release"] == "codebook 2") & (one["attacker"] == "trees")]["score"].tolist()
    )


def test_the_label_alone_is_as_accurate_as_the_models_of_the_device(
    releases: dict[str, SeededRelease], anonymizer: LatentAnonymizer, unseen: Windows
) -> None:
    table = activity_kept(
        {name: releases[name] for name in ("inferred label alone", "mean window")}, [anonymizer.models_], unseen
    )
    models = anonymizer.models_
    right = models.public_model.predict(models.scaled(unseen)) == models.codes(unseen)[0]
    assert table.loc["inferred label alone", "activity"] == pytest.approx(right.mean())
    assert len(np.unique(releases["mean window"](unseen).values, axis=0)) == 2
    usual = utility_table({"inferred label alone": releases["inferred label alone"]}, unseen)
    assert usual["intensity_error"].notna().all()


def test_random_training_windows_are_raw_and_of_others(
    releases: dict[str, SeededRelease], anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows
) -> None:
    published, donor = releases["random training window"].with_donors(unseen)
    known = {one.tobytes() for one in windows.values}
    assert all(one.tobytes() in known for one in published.values)
    assert (donor != anonymizer.people_of(unseen)).all()


def test_donors_are_reported(anonymizer: LatentAnonymizer, unseen: Windows) -> None:
    donor = anonymized(anonymizer.with_(transfer=Donor())).with_donors(unseen)[1]
    assert (donor >= 0).all()
    assert (donor != anonymizer.people_of(unseen)).all()
    own = anonymized(anonymizer.with_(transfer=Donor(own=True), modify="uniform")).with_donors(unseen)[1]
    assert (own == anonymizer.people_of(unseen)).any()
    synthetic = anonymized(anonymizer.with_(transfer=Donor(synthetic=True))).with_donors(unseen)[1]
    assert (synthetic == -1).all()


def test_a_person_who_is_never_a_donor_is_identified_by_that(
    anonymizer: LatentAnonymizer, windows: Windows, unseen: Windows
) -> None:
    """Leaving out a person's own windows is itself a leak, to an attacker who recognizes all donors."""
    adversary = [Attacker("counts", "counts", attribute="subject")]
    some = {
        name: anonymized(anonymizer.with_(transfer=transfer, modify="uniform"))
        for name, transfer in (
            ("without own", Donor()),
            ("with own", Donor(own=True)),
            ("synthetic", Donor(synthetic=True)),
        )
    }
    some["raw windows of others"] = trivial(anonymizer, windows)["random training window"]
    played = scenes(some, windows, unseen, "gender", anonymizer=anonymizer, share_known=1.0)
    found = attack_all(played, adversary).table
    person = found[(found["about"] == "subject") & (found["level"] == "person")].set_index("release")["score"]
    assert person["without own"] > person["synthetic"]
    assert person["without own"] > person["with own"]
    assert person["raw windows of others"] == 1
