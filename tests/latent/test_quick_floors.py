"""The quick profile must not mislead: short trainings kept .90 of the activity, and .41 of stairs down (issue 15)."""

import json

import pandas as pd
import pytest

from compendium.run.parameters import complete, read_parameters
from compendium.run.runs import read_runs


@pytest.fixture(scope="module")
def measured(root):
    return pd.read_csv(root / "bench/results/latent_floors.csv")


def test_the_quick_run_keeps_every_activity_after_the_papers_shift(measured):
    """In both precisions that `precision: auto` takes, on three seeds."""
    after = measured.pivot_table(index=["multiplied_in", "seed"], columns="activity", values="public_after")
    assert after.groupby(level=0).size().to_dict() == {"bfloat16": 3, "float32": 3}
    assert after["all"].min() >= 0.93
    assert after["dws"].min() >= 0.80


def test_the_shift_still_hides_the_gender(measured):
    assert measured.query("activity == 'all'")["private_after"].max() < 0.5


def test_it_was_measured_with_the_settings_of_the_run(measured):
    """After a change of these settings, run: python bench/latent_floors.py --full."""
    run = read_runs()["30_vae_anonymization-motionsense-gender"]
    now = complete(read_parameters(run.notebook), run.values("quick"))
    (written,) = measured["settings"].unique()
    then = json.loads(written)
    assert then == {name: now[name] for name in then}
