import pandas as pd
import pytest

from compendium.papers.paper3.rivals import (
    Repeats,
    compared_over_trainings,
    needed,
    repeat,
    search_rival,
    train_rivals,
    with_and_without_layer,
    with_rivals,
)
from compendium.papers.paper3.tuning import choose_shift, repeat_over_seeds, spread_over_seeds
from sensorprivacy.latent import InferenceModels, inference_table, networks
from sensorprivacy.latent.networks import Sizes
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.trainings import read_all


@pytest.mark.slow
def test_the_weights_of_a_rival_are_chosen_like_our_shift(study: Study, models: InferenceModels) -> None:
    table, chosen = search_rival(study, models, hides=[0.0, 50.0], changes=[1.0, 100.0], epochs=3)
    assert table[["hide", "change"]].to_numpy().tolist() == [[0, 1], [0, 100], [50, 1], [50, 100]]
    acceptable = table[table["public_after"] >= table["public_before"] - 0.02]
    best = acceptable["private_after"].idxmin() if len(acceptable) else table["public_after"].idxmax()
    assert table["chosen"].tolist() == [row == best for row in range(4)]
    assert chosen == table.loc[best, ["hide", "change"]].to_dict()
    again = search_rival(study, models, hides=[0.0, 50.0], changes=[1.0, 100.0], epochs=3)[0]
    assert again.equals(table)
    text = needed({"rival": table, "not searched": table[["hide", "chosen"]]})
    assert text.startswith(
        f"rival hides most with an accuracy of {table['private_after'].min():.0%} on the private class and"
    )
    assert "not searched" not in text


def test_one_pair_of_weights_needs_no_search(study: Study, models: InferenceModels) -> None:
    table, chosen = search_rival(study, models, hides=[2.0], changes=[1.0], epochs=5)
    assert chosen == {"hide": 2, "change": 1}
    assert table["chosen"].all()
    assert not study.folder.exists()


@pytest.mark.slow
def test_ours_and_the_rivals_are_compared_over_trainings(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(networks.GENERAL, 256, Sizes((16,), 2))
    budget = {"rival_epochs": 1, "general_epochs": 1, "thinned": 2}
    made = with_rivals(study, [0, 3], modify="deterministic", scales=[1.0], redraws=[0, 2], **budget)
    found = read_all(made)
    general = "general VAE, deterministic"
    names = ["raw", "mean shift", general, "Anonymization AE", "mean shift, chosen", f"{general}, chosen"]
    assert set(names) <= set(found)
    table = compared_over_trainings(found, "mean shift", study.test.subject.to_numpy())
    assert set(table["trainings"]) == {2}
    ours, rival = table.loc["mean shift"], table.loc["Anonymization AE"]
    assert rival["private_difference"] == pytest.approx(ours["private"] - rival["private"])
    assert rival["public_difference_low"] <= rival["public_difference"] <= rival["public_difference_high"]
    assert pd.isna(ours["private_difference"])
    ends = table[["public_low", "private_low", "public_high", "private_high"]]
    assert ends.to_numpy().min() >= 0
    assert ends.to_numpy().max() <= 1
    alone = inference_table(made[0].models, study.test, made[0].releases["mean shift"](study.test)).loc["all"]
    assert found["mean shift"].private[0].mean() == pytest.approx(alone["private_after"])
    one = compared_over_trainings(read_all(made[:1]), "mean shift", study.test.subject.to_numpy())
    assert one["private_low"].isna().all()


@pytest.mark.slow
def test_repeating_gives_the_tables_that_the_parts_give(
    study: Study, models: InferenceModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notebook 30 made them in four cells; the order of the trainings must not matter."""
    monkeypatch.setitem(networks.GENERAL, 256, Sizes((16,), 2))
    asked = {"hides": [2.0], "changes": [1.0], "search_epochs": 1, "search_every": 2, "seed": 0}
    fair = train_rivals(asked | {"rival_epochs": 1, "general_epochs": 1}, study, models)
    shift, how = {"scales": [1.0, 1.5], "redraws": [0]}, {"trainings": 2, "thinned": 2, "epochs": 1}
    judged, _ = choose_shift(study.anonymizer(models), study.validation, **shift)
    assert repeat(study, [0], fair, judged, modify="deterministic", **shift, **how) == Repeats(study)
    several = repeat(study, [0, 1, 2], fair, judged, modify="deterministic", **shift, **how)

    again = repeat_over_seeds(study, [0, 1, 2], modify="deterministic", **shift)
    found = read_all(with_rivals(study, [0, 1], modify="deterministic", **shift, **fair.budget))
    layer = read_all(with_and_without_layer(study, [0, 1], thinned=2, epochs=1))
    people = study.test.subject.to_numpy()
    expected = {
        "seeds": again,
        "seeds-spread": spread_over_seeds(again),
        "rivals": compared_over_trainings(found, "mean shift", people),
        "layer": compared_over_trainings(layer, "with the term", people),
    }
    assert list(several.tables) == list(expected)
    for name, table in expected.items():
        pd.testing.assert_frame_equal(several.tables[name], table)
    assert set(several.tables["rivals"]["trainings"]) == {2}
    assert several.needs.startswith("mean shift hides most")
    assert "general VAE hides most" in several.needs
    assert several.statements(2) == {}  # the paper treats no such set


@pytest.mark.slow
def test_the_term_is_left_out_of_a_training_of_its_own(study: Study) -> None:
    made = with_and_without_layer(study, [0, 1], thinned=2, epochs=1)
    assert [tuple(one.releases) for one in made] == [("with the term", "without it")] * 2
    weights = [release.anonymizer.alpha for release in made[0].releases.values()]  # type: ignore[attr-defined]
    assert weights == [study.alpha, 0]


def test_a_thin_study_makes_as_many_updates_an_epoch(study: Study) -> None:
    few = study.thinned(4)
    assert few.train.n_windows * 4 == study.train.n_windows
    assert few.vae.batch * 4 == study.vae.batch
    assert few.test is study.test
    assert few.folder != study.folder
    assert study.thinned(1) is study
