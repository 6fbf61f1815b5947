from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sensorprivacy.data import Windows
from sensorprivacy.game import Attacks, attack, attack_all
from sensorprivacy.latent import Attacker, Settings, WindowScene, fold_scenes
from sensorprivacy.latent.adversaries import Release
from sensorprivacy.latent.releases import anonymized, unrandomized
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.windows import people_folds, replace_values


def test_everybody_is_judged_once(windows: Windows) -> None:
    folds = people_folds(windows, 3, seed=1)
    held = [set(windows.subject.iloc[parts.test]) for parts in folds]
    assert sorted(person for people in held for person in people) == list(range(6))
    for parts, people in zip(folds, held, strict=True):
        assert windows.private["gender"].iloc[parts.test].nunique() == 2
        assert not people & set(windows.subject.iloc[np.r_[parts.train, parts.validation]])
    assert len(people_folds(windows, 99)) == 6  # never more folds than people
    with pytest.raises(ValueError, match="at least two of both"):
        people_folds(windows, 1)


def attacked(release: Release, train: Windows, test: Windows, about: str, by: Attacker, **options: Any) -> Attacks:
    return attack(WindowScene(release, train, test, about, **options), [by], draws=0)


def test_results_of_folds_are_pooled_over_people(windows: Windows) -> None:
    trees = Attacker("trees", "trees")
    attacks: list[Attacks] = []
    for parts in people_folds(windows, 3):
        train, test = windows.take(parts.train), windows.take(parts.test)
        attacks.append(attacked(lambda some: some, train, test, "gender", trees, runs=1))
    table = Attacks(one for some in attacks for one in some).over_folds().table.set_index("level")
    assert table["n"].tolist() == ["6 people"] * 3
    assert table.loc["person", "score"] == 1
    assert table.loc["window", "chance"] == pytest.approx(0.5)
    means = np.mean([attack.at("window").score for attack in attacks])  # folds of equal size
    assert table.loc["window", "score"] == pytest.approx(means)


def test_chance_of_people_held_out_one_by_one_is_that_of_the_most_frequent_class(windows: Windows) -> None:
    """Whoever is held out is of the class that is rarer in training: chance was 0, and any release looked leaky."""
    blind = Attacker("trees", "trees")
    attacks: list[Attacks] = []
    for parts in people_folds(windows, 6):
        train, test = windows.take(parts.train), windows.take(parts.test)
        attacks.append(attacked(_silent, train, test, "gender", blind, runs=1))
    table = Attacks(one for some in attacks for one in some).over_folds().table.set_index("level")
    assert table.loc["person", "chance"] == 0.5  # three of six people; always guessing the class of the others: 0
    assert table.loc["person", "score"] <= 0.5
    assert table.loc["window", "above"] <= 0
    pair = windows.subject.isin([0, 1]).to_numpy()  # a person of each class, both rarer in training than a third one
    train, test = windows.take(~pair), windows.take(pair)
    found = attacked(_silent, train, test, "gender", blind, runs=1)
    assert test.private["gender"].nunique() == 2
    assert found.at("person").chance == 0.5


def test_chance_of_held_out_people_without_the_usual_class_is_not_0(windows: Windows) -> None:
    """Nine people, three in each weight group: two were held out, and chance was 0."""
    groups = windows.subject.map(lambda person: "abc"[person // 2])
    grouped = replace(windows, private=pd.DataFrame({"weight": groups}))
    held = windows.subject.isin([0, 2]).to_numpy()
    blind = Attacker("trees", "trees")
    found = attacked(_silent, grouped.take(~held), grouped.take(held), "weight", blind, runs=1)
    assert found.at("person").chance == 0.5
    seen = attacked(_silent, grouped, grouped, "weight", blind, runs=1)
    assert seen.at("person").chance == pytest.approx(1 / 3)


@pytest.mark.slow
def test_a_release_without_information_is_at_chance_for_people_held_out_one_by_one(windows: Windows) -> None:
    """The paper's attacker found all people in a constant release (chance 1/3), and 7 % of them in noise."""
    groups = windows.subject.map(lambda person: "abc"[person // 2])
    people = replace(windows, private=pd.DataFrame({"weight": groups}))
    generator = np.random.default_rng(0)

    def noise(some: Windows) -> Windows:
        return replace_values(some, generator.normal(0, 1, some.values.shape))

    blind = Attacker("paper's", settings=Settings(epochs=5, batch=64))
    for release, least, seeds in ((_labelled, 0.0, 1), (noise, 0.15, 3)):
        attacks: list[Attacks] = []
        for seed in range(seeds):
            for parts in people_folds(people, 6, seed=seed):
                held = np.isin(np.arange(people.n_windows), parts.test)
                pair = people.take(~held), people.take(held)
                attacks.append(attacked(release, *pair, "weight", blind, runs=1, seed=seed))
        score = np.mean([attack.at("person").score for attack in attacks])
        assert least <= score <= 0.6


def test_an_attacker_on_people_held_out_has_windows_of_each_class_as_among_all_people(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(attacker: Attacker, learned: np.ndarray, codes: np.ndarray, attacked: np.ndarray, *more: int) -> object:
        seen.append((learned[:, 0, 0], codes))
        return np.full((len(attacked), 2), 0.5)

    monkeypatch.setattr(Attacker, "predict", watched)
    fewer = windows.take((windows.subject != 1).to_numpy() | (windows.public == "walk").to_numpy())
    alone = (fewer.subject == 0).to_numpy()  # three women and three men; a woman is held out, a man does not jog
    attacked(_labelled, fewer.take(~alone), fewer.take(alone), "gender", Attacker("watched"), runs=1)
    activity, codes = seen[0]
    for value in (0, 1):
        assert np.mean(codes[activity == value] == 0) == pytest.approx(0.5, abs=0.01)
    assert len(codes) == pytest.approx((~alone).sum() / 2, abs=4)


def test_an_attacker_on_identity_knows_as_many_people_of_each_class(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the other people of the class of whoever is held out are fewer, or have more windows each."""
    seen = []

    def guesses_the_unknown(
        attacker: Attacker, learned: np.ndarray, codes: np.ndarray, attacked: np.ndarray, classes: int, seed: int
    ) -> np.ndarray:
        seen.append(codes)
        likely = np.where(np.isin(np.arange(classes), codes), 0.1, 0.9)
        likely[0] = 0.3  # the other person of the true class, who is always known
        return np.tile(likely / likely.sum(), (len(attacked), 1))

    monkeypatch.setattr(Attacker, "predict", guesses_the_unknown)
    people = replace(windows, private=pd.DataFrame({"weight": windows.subject.map(lambda person: "abc"[person // 2])}))
    alone = (people.subject == 0).to_numpy()
    who = Attacker("who", attribute="subject")
    found = attacked(_silent, people.take(~alone), people.take(alone), "weight", who, runs=4)
    assert all(len(np.unique(codes)) == 3 and 0 in codes for codes in seen)  # of a, the other person
    assert len({tuple(np.unique(codes)) for codes in seen}) > 1
    assert all(len(codes) == (~alone).sum() // 2 for codes in seen)
    assert all(run == 1 for one in found for run in one.runs)  # people who were not drawn are never the answer


def _silent(some: Windows) -> Windows:
    return replace_values(some, np.zeros_like(some.values))


def _labelled(some: Windows) -> Windows:
    return replace_values(some, np.zeros_like(some.values) + (some.public == "jog").to_numpy()[:, None, None])


def test_a_study_in_folds(windows: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    quick = Settings(epochs=2, batch=64, patience=2)
    study = Study("sines", "sines-gender", "gender", windows, windows, windows, windows, "mlp", 10.0, 0.1, quick, quick)
    folders = [one.folder for one in study.folds(3)]
    assert len(set(folders)) == 3
    calls: list[int] = []

    def raw(some: Windows) -> Windows:
        calls.append(some.n_windows)
        return some

    folds = fold_scenes(
        study.folds(3), lambda study, anonymizer: {"raw": unrandomized(raw), "shift": anonymized(anonymizer)}
    )
    both = [Attacker("trees", "trees"), Attacker("who", "counts", attribute="subject")]
    found = attack_all(folds, both).over_folds().table
    assert len(calls) == 3 * 3  # both attackers see the same attacked publication; theirs are of windows drawn for each
    assert set(found["release"]) == {"raw", "shift"}
    assert set(found["about"]) == {"gender"}
    assert set(found["n"]) == {"6 people"}
    assert set(found["attacker"]) == {"trees", "who, through identity"}


@pytest.mark.slow
def test_folders_tell_divisions_and_general_networks_apart(
    windows: Windows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """REVIEW B9: other training windows, or one autoencoder for all activities, took up the same networks."""
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path))
    quick = Settings(epochs=1, batch=64, patience=2)
    study = Study("sines", "sines-gender", "gender", windows, windows, windows, windows, "mlp", 10.0, 0.1, quick, quick)
    assert study.folder != replace(study, split_seed=1).folder
    models = study.inference_models()
    study.anonymizer(models)
    study.general_vae(models, 1)
    saved = {path.relative_to(study.folder).parts[0] for path in study.folder.rglob("vae-*.safetensors")}
    assert saved == {"vae-0.safetensors", "vae-1.safetensors", "general-1-5"}
