"""Paper 3's runs side by side, against what a hand adds up."""

import pandas as pd
import pytest

from compendium.papers.paper3.summary import aims, attack_intervals, inference_intervals, problem


@pytest.fixture
def told():
    ends = {"_low": -0.1, "_high": 0.05}

    def table(run, after):
        values = {"public_before": 0.9, "public_after": 0.8, "private_before": 0.7, "private_after": after}
        row = {f"{name}{end}": value + by for name, value in values.items() for end, by in (ends | {"": 0}).items()}
        other = dict.fromkeys(row, 0.0)
        fixed = {"run": run, "chance": 0.5}
        return [{**fixed, "public class": "walk", **other}, {**fixed, "public class": "all", **row}]

    return {
        "tables-1-3": pd.DataFrame([*table("30_x-home-side", 0.3), *table("30_x-home-side-tail", 0.4)]),
        "chosen-shift": pd.DataFrame(table("30_x-home-side", 0.1)),
    }


def test_a_run_is_named_in_words():
    assert problem("30_vae_anonymization-motionsense-gender-tail") == "MotionSense, gender, ends of recordings"


def test_all_windows_of_each_run_before_and_after(told):
    found = inference_intervals(told).set_index(["measure", "problem", "option"])
    private = found.loc["accuracy on the private attribute"]
    assert private["value"].to_dict() == {
        ("home, side", "raw"): 0.7,
        ("home, side", "the paper's shift"): 0.3,
        ("home, side", "chance"): 0.5,
        ("home, side, ends of recordings", "raw"): 0.7,
        ("home, side, ends of recordings", "the paper's shift"): 0.4,
        ("home, side, ends of recordings", "chance"): 0.5,
        ("home, side", "chosen on validation"): 0.1,
    }
    assert private.loc[("home, side", "raw"), ["low", "high"]].tolist() == pytest.approx([0.6, 0.75])
    assert found.loc[("accuracy on the activity", "home, side", "raw"), "value"] == 0.9
    assert len(found.loc["accuracy on the activity"]) == 5


def test_attacks_are_counted_from_chance():
    row = {"run": "31_x-home-side", "release": "deterministic", "level": "window", "score": 0.9, "low": 0.8}
    rows = [row | {"high": 0.95, "chance": 0.6}, row | {"level": "person", "score": 1.0, "high": 1.0, "chance": 0.5}]
    found = attack_intervals(pd.DataFrame(rows)).set_index("measure")
    assert found.loc["window: accuracy above chance", ["value", "low", "high"]].tolist() == pytest.approx(
        [0.3, 0.2, 0.35]
    )
    assert found.loc["person: accuracy above chance", "value"] == 0.5
    assert set(found["option"]) == {"deterministic"}
    assert set(found["problem"]) == {"home, side"}


def frontier(run, **releases):
    kept = [{"release": "raw", "activity": 0.9}]
    kept += [{"release": name, "activity": activity} for name, (activity, *_) in releases.items()]
    attacks = [
        {
            "release": name,
            "about": about,
            "level": level,
            "score": score,
            "low": score - 0.05,
            "high": high,
            "chance": 0.5,
        }
        for name, (_, score, high) in releases.items()
        for about in ("side", "subject")
        for level in ("window", "recording", "person")
    ]
    return (pd.DataFrame(rows).assign(run=run, cadence_error=1.0) for rows in (kept, attacks))


def test_an_aim_is_reached_if_little_is_lost_and_the_attack_is_near_chance():
    kept, attacks = frontier(
        "31_x-home", both=(0.895, 0.52, 0.58), blunt=(0.85, 0.5, 0.55), leaky=(0.9, 0.7, 0.8), few=(0.9, 0.52, 0.9)
    )
    other, others = frontier("31_x-away", better=(0.95, 0.4, 0.5))
    other = other.replace({"activity": {0.9: 0.93}})
    found = aims(pd.concat([kept, other]), pd.concat([attacks, others]), lost=0.01, above=0.1)
    assert found["reached"].to_dict() == {
        ("home", "both"): "yes",
        ("home", "blunt"): "no",
        ("home", "leaky"): "no",
        ("home", "few"): "undecided",
        ("away", "better"): "yes",
    }
    assert found.loc[("home", "blunt"), "prevented"] == "yes"
    assert found.loc[("home", "blunt"), "lost"] == pytest.approx(0.05)
    assert found.loc[("away", "better"), ["lost", "identity, person"]].tolist() == pytest.approx([-0.02, -0.1])


def test_without_runs_there_are_no_rows():
    none = pd.DataFrame(columns=["run"])
    assert inference_intervals({"tables-1-3": none, "chosen-shift": none}).empty
    assert attack_intervals(none).empty
    assert aims(none, none, lost=0.01, above=0.1).empty
