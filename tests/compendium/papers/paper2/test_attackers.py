"""Attackers of a publication, on tables whose answer is known by construction."""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from compendium import datasets
from compendium.papers.paper2.attackers import average, infer
from sensorprivacy import threeway

FOREST = RandomForestClassifier(10, random_state=0)


def shares(found, name):
    return found[found["inferred"] == name].set_index("from")["share"].to_dict()


def test_a_dropped_column_is_inferred_from_the_columns_that_give_it_away():
    rng = np.random.default_rng(0)
    door = rng.integers(0, 2, 600)
    table = pd.DataFrame({"door": door, "copy": 1 - door, "other": rng.integers(0, 2, 600)})
    found = infer(table, table[["other"]], {"door": table["door"]}, FOREST)
    of = shares(found, "door")
    assert of["all other columns"] == 1
    chance = found["chance"].iloc[0]
    for seen in (
        "published columns, before noise",
        "unchanged columns",
        "published columns",
    ):  # without the copy, nothing shows the door
        assert abs(of[seen] - chance) < 0.1
    assert found["columns"].tolist() == [2, 1, 1, 1]


def test_a_noisy_column_is_seen_only_as_published():
    rng = np.random.default_rng(1)
    lamp = pd.DataFrame({"lamp": rng.integers(0, 2, 400), "door": rng.integers(0, 2, 400)})
    of = shares(infer(lamp, lamp, {"lamp": lamp["lamp"]}, FOREST), "lamp")
    assert of["published columns"] == 1, "a release without noise shows the column itself"
    assert of["published columns, before noise"] < 0.65


def test_texts_missing_cells_and_recordings_are_accepted():
    table = pd.DataFrame({"room": ["hall", "bath", None, "bath"] * 50, "light": [0.5, np.nan, 2.0, 1.0] * 50})
    found = infer(table, table, {"person": list("abcd") * 50}, FOREST, groups=np.arange(200) // 8)
    assert shares(found, "person")["published columns"] == 1
    assert set(found["unit"]) == {"groups"}


def test_averages_undo_noise_on_states_that_last_but_not_on_states_that_change():
    rng = np.random.default_rng(2)
    slow, fast = np.repeat([0, 1, 0, 1], 250), rng.integers(0, 2, 1000)
    states = pd.DataFrame({"slow": slow, "fast": fast})
    noisy = states + rng.laplace(0, 0.5, (1000, 2))
    found = average(states, noisy, [1, 25])
    assert found.loc["slow", "one constant"] == 0.5
    # by hand: a Laplace noise of scale .5 stays on the right side of .5 with probability 1 - exp(-1) / 2
    assert abs(found.loc["slow", "1 row"] - (1 - np.exp(-1) / 2)) < 0.05
    assert found.loc["slow", "25 rows"] > 0.95
    assert found.loc["fast", "25 rows"] < 0.65


def test_the_kitchens_withheld_sensor_is_given_back_by_those_that_are_kept(mirror):
    """Entropy withholds the door of the fridge, which is nearest to one half; what it shows stands in other columns."""
    kitchen = datasets.table("smart-home-kitchen")
    nearest = (kitchen.mean() - 0.5).abs().idxmin()
    division = threeway.find_thresholds(threeway.Appraiser(kitchen)).appraisal.division
    assert division.sensitive == (nearest,) == ("frigo",)
    assert set(division.non_sensitive) == {"kettle", "coffe_maker", "microwave"}, "the rarest events are published"
    kept = kitchen[list(division.kept)]
    stretches = np.arange(len(kitchen)) // 100
    of = shares(infer(kitchen, kept, {"frigo": kitchen["frigo"]}, FOREST, groups=stretches), "frigo")
    assert of["published columns, before noise"] > 0.9
    assert of["published columns, before noise"] > kitchen["frigo"].mean() + 0.3
