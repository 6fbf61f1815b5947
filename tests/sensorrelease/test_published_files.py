"""Attack the files that publish wrote: the card's numbers are those that a stranger measures."""

import signal
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier

from compendium.datasets import store
from compendium.readers.smartwatch import read_smartwatch
from sensorprivacy.game.units import share
from sensorprivacy.latent.adversaries import Attacker
from sensorprivacy.latent.classifiers import statistics
from sensorprivacy.latent.networks import Sizes
from sensorprivacy.mechanisms import SeededNoise
from sensorprivacy.minimize import rewrites
from sensorprivacy.windowing import AXES
from sensorrelease import compare, comparison
from sensorrelease.card import measure_table
from sensorrelease.cli import main
from sensorrelease.publishing import recordings as module
from sensorrelease.publishing import tables
from sensorrelease.publishing.anonymizers import Latent
from sensorrelease.publishing.recordings import publish_recordings
from sensorrelease.publishing.tables import publish
from sensorrelease.windows import own_game

TREES, WINDOW, SEED = 25, 100, 0


@pytest.fixture
def watch(mirror):
    return read_smartwatch(store.fetch("smartwatch"))


def features(signal):
    """Return means and deviations of consecutive windows of a recording."""
    windows = signal[: len(signal) // WINDOW * WINDOW].reshape(-1, WINDOW, signal.shape[1])
    return np.hstack([windows.mean(axis=1), windows.std(axis=1)])


def attacked(X, y, known, held):
    """Return which rows a forest predicts that learned from known ones."""
    return RandomForestClassifier(60, random_state=0).fit(X[known], y[known]).predict(X[held]) == y[held]


def result(card, **choice):
    rows = pd.DataFrame(card.facts["measured"])
    (row,) = rows[np.logical_and.reduce([rows[name] == value for name, value in choice.items()])].to_dict("records")
    return row


def agree(told, ours):
    """Check that two measurements on other rows agree within their intervals."""
    assert told["low"] <= ours.high, (told, ours)
    assert told["high"] >= ours.low, (told, ours)
    assert abs(told["score"] - ours.score) < 0.15, (told, ours)


def write_own(watch, folder):
    """Write two exercises as a user's own recordings, with a schema."""
    chosen = [at for at, what in enumerate(watch.table["activity"]) if what in ("PEN", "ABD")]
    (folder / "raw").mkdir()
    for at in chosen:
        row = watch.table.iloc[at]
        name = f"{row['activity']}_{watch.private['side'].iloc[at]}_{row['subject']}.csv"
        table = pd.DataFrame(watch.signal[watch.recording == at][:1400], columns=list(AXES))
        table.to_csv(folder / "raw" / name, index=False)
    words = ["--task", "what", "--user", "who", "--hide", "side", "--rate", "50", "--names", "{what}_{side}_{who}.csv"]
    assert main(["schema", str(folder / "raw"), *words, "--quiet"]) == 0
    assert main(["schema", str(folder / "raw.schema.yaml"), "--confirm"]) == 0
    return folder / "raw"


@pytest.mark.first(1)
@pytest.mark.parametrize("defence", ["minimize:threshold=.01,preselect=4", "noise:epsilon=60"])
def test_attacks_on_a_published_table_reproduce_the_card(watch, tmp_path, monkeypatch, defence):
    monkeypatch.setattr(tables, "measure_table", partial(measure_table, trees=TREES))
    monkeypatch.setattr(rewrites, "SecureNoise", lambda: SeededNoise(SEED))  # one release: intervals miss now and then
    parts = [features(watch.signal[watch.recording == at])[::3] for at in range(len(watch.table))]
    at = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    table = pd.DataFrame(np.concatenate(parts), columns=[f"{kind} {axis}" for kind in ("mean", "std") for axis in AXES])
    labels = watch.table.iloc[at].reset_index(drop=True)
    table = table.assign(exercise=labels["activity"], person=labels["subject"])
    table.to_csv(tmp_path / "watch.csv", index=False)
    words = {"task": "exercise", "user": "person", "accept_draft": True, "although_identifying": True}
    card = publish(tmp_path / "watch.csv", defence=defence, out=tmp_path / "out", in_order=True, **words)
    found = pd.read_csv(tmp_path / "out" / "data.csv")  # in the order of the input: this is the stranger's linkage
    assert "person" not in found
    values = found.drop(columns="exercise").to_numpy()
    with_task = np.column_stack([values, pd.factorize(found["exercise"])[0]])
    order = np.random.default_rng(1).permutation(len(table))
    known, held = order[: len(table) // 2], order[-len(table) // 4 :]  # half of the rows are known, a quarter attacked
    for about, attacker, X, y in (
        ("task exercise", "task model: forest", values, found["exercise"].to_numpy()),
        ("user person", "adaptive forest", with_task, table["person"].to_numpy()),
    ):
        told = result(card, about=about, attacker=attacker, data="published", level="row")
        assert told["unit"] == "rows"
        ours = share(attacked(X, y, known, held))
        agree(told, ours)
        if "noise" in defence:  # a measurement of the original rows would not agree
            assert result(card, about=about, attacker=attacker, data="original", level="row")["low"] > ours.high


@pytest.mark.slow
def test_own_recordings_are_compared_within_the_budget(watch, tmp_path, monkeypatch):
    monkeypatch.setattr(comparison.time, "monotonic", time.process_time)  # other processes may share the cores
    monkeypatch.setattr(signal, "ITIMER_REAL", signal.ITIMER_PROF)
    monkeypatch.setattr(signal, "SIGALRM", signal.SIGPROF)
    start = time.process_time()
    game = own_game(write_own(watch, tmp_path))
    read = time.process_time()
    words = ["noise:epsilon=60", "method:gini_utility,columns=9", "minimize"]
    options = {"model": RandomForestClassifier(10), "draws": 360, "progress": False, "split": game.split}
    compare(game.problem, words[:1], 10, **options)
    two = time.process_time() - read  # the raw table and noise: machines differ more than defences
    began = time.process_time() - (read - start)
    budget = read - start + 2 * two  # reading counts
    found = compare(game.problem, words, budget / 60, began=began, **options)
    assert time.process_time() - began < 1.1 * budget + 4
    assert found.raw.task().measure.score > 0.9
    assert found.raw.task().measure.unit == "groups"
    assert len(found.results) > 2
    assert len(found.results) + len(found.untried) == 4


@pytest.mark.slow
def test_attacks_on_published_recordings_reproduce_the_card(watch, tmp_path, monkeypatch):
    torch.set_num_threads(1)
    monkeypatch.setattr(module, "TASK_MODELS", module.TASK_MODELS[:1])
    monkeypatch.setattr(module.secrets, "randbits", lambda bits: 0)  # numbers of recordings are the stranger's linkage
    drawn = np.random.default_rng(0)
    monkeypatch.setattr(module.secrets, "token_bytes", lambda count=32: drawn.bytes(count))  # one release
    write_own(watch, tmp_path)
    defence = Latent(
        "uniform", epochs=4, inference_epochs=2, batch=128, length=WINDOW, stride=50, sizes=Sizes((64,), 8)
    )
    spies = [Attacker("trees on statistics", "trees")]
    words = {"task": "what", "hide": "side", "adversaries": spies, "out": tmp_path / "out"}
    card = publish_recordings(tmp_path / "raw", defence=defence, **words)
    names = sorted(path.stem for path in (tmp_path / "raw").iterdir())
    order = np.random.default_rng(0).permutation(len(names))
    parts = []
    for place, file in zip(order, sorted((tmp_path / "out").glob("rec*.csv")), strict=True):
        table, (what, side, who) = pd.read_csv(file), names[place].split("_")
        assert set(table["what"]) == {what}
        seen = statistics(table[list(AXES)].to_numpy().reshape(-1, WINDOW, len(AXES)).transpose(0, 2, 1))
        parts.append(
            pd.DataFrame(seen).assign(side=side, what=what, who=who, last=np.arange(len(seen)) / len(seen) >= 0.75)
        )
    found = pd.concat(parts, ignore_index=True)
    X, last = found.drop(columns=["side", "what", "who", "last"]).to_numpy(), found["last"].to_numpy()
    asked = {"side": ("side", "trees on statistics"), "what": ("task what", "task model: boosted trees")}
    for label, (about, model) in asked.items():
        told = result(card, about=about, attacker=model, data="published", level="window")
        right = attacked(X, found[label].to_numpy(), ~last, last)
        agree(told, share(right, found["who"].to_numpy()[last], unit="people"))
