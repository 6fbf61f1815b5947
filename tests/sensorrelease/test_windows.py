"""Windows in the game of tables: their statistics, whole recordings, and releases as transformers."""

import dataclasses
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from compendium.readers.motion import cut_windows, dense_statistics, join_recordings
from sensorprivacy.data import Windows
from sensorprivacy.game import play
from sensorprivacy.latent.comparison import ReleaseSettings
from sensorprivacy.latent.releases import unrandomized
from sensorprivacy.latent.study import Study
from sensorprivacy.latent.training import Settings
from sensorprivacy.latent.windows import recording_of, replace_values, split
from sensorprivacy.windowing import AXES
from sensorrelease.compare_page import page
from sensorrelease.comparison import compare
from sensorrelease.windows import WindowsDefence, own_game, statistics_of, windows_game

LENGTH, STRIDE = 16, 8
FEW = RandomForestClassifier(10)


@pytest.fixture(scope="module")
def recordings():
    """Return recordings of four people: the frequency gives the activity, the height of the first axis the person."""
    generator = np.random.default_rng(0)
    rows = [(who, what, trial) for who in range(4) for what in ("jog", "walk") for trial in (1, 2, 3)]
    time = np.arange(160)
    parts = []
    for who, what, _ in rows:
        wave = np.sin(2 * np.pi * time * (0.25 if what == "jog" else 0.1) + generator.random())
        signal = generator.normal(0, 0.3, (len(time), len(AXES))) + wave[:, None]
        signal[:, 0] += 3 * who
        parts.append(signal.astype(np.float32))
    table = pd.DataFrame(rows, columns=["subject", "activity", "trial"])
    table["name"] = [f"{who}-{what}-{trial}" for who, what, trial in rows]
    private = pd.DataFrame({"side": np.where(table["subject"] % 2, "left", "right")})
    return join_recordings(parts, table, private, "waves")


@pytest.fixture(scope="module")
def windows(recordings) -> Windows:
    return cut_windows(recordings, "raw", LENGTH, STRIDE, "file")


def study_of(windows: Windows, scheme: str) -> Study:
    parts = split(windows, scheme, test=0.34)
    pieces = {name: windows.take(parts.part(name)) for name in ("train", "validation", "test")}
    return Study(
        "waves", "waves", "subject", windows, **pieces, network="mlp", alpha=1, beta=1, vae=Settings(),
        inference=Settings(),
    )  # fmt: skip


def test_the_statistics_of_windows_are_those_of_the_table_of_paper_1(recordings, windows):
    table = dense_statistics(recordings, LENGTH, STRIDE).drop(
        columns=["label_activity", "label_subject", "label_recording"]
    )
    found = statistics_of(windows)
    assert found.shape[1] == 135
    pd.testing.assert_frame_equal(found, table, rtol=1e-4, atol=1e-5)


def test_whole_recordings_are_held_out_and_each_person_keeps_some_of_each_activity(windows):
    found, recording = split(windows, "recordings", test=0.34), recording_of(windows)
    assert not set(recording[found.test]) & set(recording[np.r_[found.train, found.validation]])
    keys = pd.DataFrame({"who": windows.subject, "what": windows.public, "recording": recording})
    held = keys.iloc[found.test].drop_duplicates().groupby(["who", "what"]).size()
    assert held.tolist() == [1] * 8
    assert len(keys.iloc[found.train].groupby(["who", "what"])) == 8


def test_a_game_of_windows_keeps_the_parts_of_its_study(windows):
    study = study_of(windows, "recordings")
    game = windows_game(study)
    for name in ("train", "validation", "test"):
        rows = game.split.part(name)
        assert np.array_equal(game.windows.take(rows).values, getattr(study, name).values)
    assert play(game.problem, split=game.split, model=FEW).adversary.unit == "groups"


def test_intervals_count_people_for_an_attribute_of_people(windows, tmp_path):
    """A tester: n = 36 groups with 12 people."""
    game = windows_game(dataclasses.replace(study_of(windows, "recordings"), private="side"))
    options = {"split": game.split, "model": FEW, "draws": 360, "progress": False, "store": tmp_path / "store"}
    found, again = (compare(game.problem, [], **options) for _ in range(2))
    raw = found.frame.iloc[0]
    assert (raw["unit"], raw["n"], raw["row_unit"], raw["row_n"]) == ("people", 4, "people", 4)
    assert found.raw.task().measure.n == 4
    assert found.raw.task().measure.chance < 0.7  # all do the same in the same order: recordings are permuted
    assert len(found.raw.strongest().right) == 8  # recordings are pooled, and their intervals count people
    for first, second in zip(found.raw.judged, again.raw.judged, strict=True):
        assert np.array_equal(first.clusters, second.clusters)
    text = page(found)
    assert "2 classes of side" in text
    assert "whose side is inferred" in " ".join(text.split())
    assert "users" not in text


def test_an_attribute_that_changes_has_recordings_as_unit(windows):
    worn = windows.private.assign(side=np.where(windows.trial == 1, "left", "right"))
    changing = dataclasses.replace(study_of(dataclasses.replace(windows, private=worn), "recordings"), private="side")
    assert windows_game(changing).split.unit == "groups"


def test_ends_of_recordings_are_held_out_if_nobody_has_two(tmp_path, declare):
    """A tester: the layout of the guide was refused."""
    draw, rows = np.random.default_rng(0), []
    for who in range(4):
        for what in ("jog", "walk"):
            signal = draw.normal(size=900) + who % 2 * 5
            rows.append(pd.DataFrame({"ax": signal, "who": who, "what": what, "sex": "fm"[who % 2]}))
    (tmp_path / "own").mkdir()
    pd.concat(rows).to_csv(tmp_path / "own" / "all.csv", index=False)
    declare(tmp_path / "own", "--hide", "sex", "--rate", 50, task="what", user="who")
    with pytest.warns(UserWarning, match="nobody in recordings has two recordings of one what: the last fifth of each"):
        game = own_game(tmp_path / "own", "sex")
    assert game.split.how.startswith("ends of recordings, ")
    assert (game.problem.name, game.split.unit) == ("recordings", "people")
    assert len(np.unique(game.split.clusters(game.split.test))) == 4


@pytest.mark.parametrize("sessions", [1, 2])
@pytest.mark.parametrize("rate", [10, 50, 100])
def test_the_seconds_that_a_comparison_needs_are_those_that_suffice(sessions, rate, tmp_path, declare):
    """The remedy was a longer stride, which no command has, or another scheme."""
    folder = tmp_path / "own"
    folder.mkdir()

    def answer(samples):
        draw, rows = np.random.default_rng(0), []
        for at in range(4 * sessions):
            signal = {"ax": draw.normal(size=samples), "who": at // 2 % 2, "what": at % 2, "day": at // 4}
            rows.append(pd.DataFrame(signal))
        pd.concat(rows).to_csv(folder / "all.csv", index=False)
        declare(folder, "--recording", "day", "--rate", rate, task="what", user="who")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return own_game(folder)

    with pytest.raises(ValueError, match=r"longest recording of recordings has 1\d+ seconds|has \d seconds") as caught:
        answer(150)
    needed = int(re.search(r"needs (\d+): record longer", str(caught.value))[1])
    assert answer((needed + 1) * rate).problem.n_records
    with pytest.raises(ValueError, match="record longer"):
        answer((needed - 1) * rate)


def test_torn_recordings_are_refused(windows):
    with pytest.raises(
        ValueError, match=r"24 recordings of waves have training and test windows: .*scheme='recordings'"
    ):
        windows_game(study_of(windows, "tail"))


def game_with(windows, **releases):
    """Return a game whose releases need no networks."""
    game = windows_game(study_of(windows, "recordings"))
    game.__dict__["releases"] = {name: unrandomized(change) for name, change in releases.items()}
    return game


@pytest.mark.slow
def test_releases_of_windows_and_defences_of_tables_meet_the_same_judge(windows):
    game = game_with(
        windows,
        same=lambda some: some,
        flat=lambda some: replace_values(some, some.values * 0),
        still=lambda some: replace_values(some, some.values - some.values.mean(axis=2, keepdims=True)),
    )
    ours = [WindowsDefence(game, name) for name in ("same", "flat", "still")]
    found = compare(game.problem, ["noise:epsilon=16", *ours], split=game.split, model=FEW, draws=360, progress=False)
    table = found.frame.set_index("defence")
    raw = table.loc["none"]
    assert table.loc["same", "attack"] == raw["attack"] > 0.9
    assert table.loc["flat", "attack"] == pytest.approx(raw["chance"], abs=0.1)
    assert table.loc["flat", "accuracy"] < 0.7
    assert table.loc["still", "accuracy"] > 0.9  # the offset gives the person, the rest the activity
    assert found.recommend(0.03).defence == "still"
    most = game.windows.subject.value_counts().max()
    assert table.loc["noise:epsilon=16", "epsilon_person"] == 16 * most


@pytest.mark.slow
def test_attackers_who_have_the_networks_see_whose_window_was_published(windows):
    few = Settings(epochs=30, batch=16)
    study = dataclasses.replace(study_of(windows, "recordings"), vae=few, inference=few, beta=0.01)
    game = windows_game(study, ReleaseSettings(amounts=[0.0]))
    for name, least in {"donor": 0.9, "random training window": 1}.items():
        published = WindowsDefence(game, name).publish(game.problem, game.split.train)
        donors = game.releases[name].with_donors(game.windows)[1]
        assert np.mean(published.codes[:, -1] - 1 == donors) >= least, name
    assert WindowsDefence(game, "inferred label alone").publish(game.problem, game.split.train).codes is None


def test_the_defences_of_a_game_are_listed_without_training(windows):
    game = windows_game(study_of(windows, "recordings"), ReleaseSettings(keeps=(0.5, 0.7)))
    names = [one.name for one in game.defences]
    assert "releases" not in game.__dict__
    assert {"inferred label alone", "shift, probabilistic", "guaranteed, per window"} <= set(names)
    assert len(names) == len(set(names))
    assert [one.trivial for one in game.defences[:3]] == [True, True, False]
