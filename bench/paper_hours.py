"""Estimate where the hours of a run of paper 3 go, without waiting for them.

Each training makes two epochs. The others are counted with the second one's processor time, up to the greatest number
(early stopping makes fewer). All else is computed. The results of such a run mean nothing: they go to a folder that is
deleted.

    python bench/paper_hours.py 30_vae_anonymization-motionsense-gender
    python bench/paper_hours.py --before 1485870b    writes results/paper_hours.csv: minutes of each run, then and now
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd
import yaml

from compendium.paths import RUN_FILE, figures_dir
from compendium.run.parameters import code_cells
from compendium.run.runs import read_runs
from sensorprivacy.latent import rivals, training

SPENT: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0, 0.0])  # trainings, epochs, seconds not spent
TRAIN = 2


def quick_epoch(state, step, data, validation, settings, real=training._epoch):
    """Train an epoch, or count it without training."""
    number = len(state.rows) + 1
    label = sys._getframe(1).f_locals["label"]
    spent = SPENT[f"{label}, {len(data[0])} windows, batch {settings.batch}"]
    spent[0] += number == 1
    spent[1] += 1
    begun = time.process_time()
    if number <= TRAIN:
        real(state, step, data, validation, settings)
        state.seconds = time.process_time() - begun
    else:
        spent[2] += state.seconds
        state.add({**state.rows[-1], "epoch": number}, state.lowest - 1 if validation else None)


def quick_rival(self, data, classes, settings, progress, real=rivals.AnonymizationAutoencoder._train):
    """Train two epochs of the Anonymization Autoencoder, and count the others."""
    few = min(TRAIN, settings.epochs)
    begun = time.process_time()
    rows = real(self, data, classes, replace(settings, epochs=few), progress)
    each = (time.process_time() - begun) / few
    spent = SPENT[f"Anonymization Autoencoder, {len(data[0])} windows, batch {settings.batch}"]
    spent[0] += 1
    spent[1] += settings.epochs
    spent[2] += each * (settings.epochs - few)
    return rows


def before_and_now(commit):
    """Write the minutes of each run of the paper profile by `runs.yaml`, at a commit and now."""
    text = subprocess.run(["git", "show", f"{commit}:runs.yaml"], capture_output=True, text=True, check=True).stdout
    runs = {"before": yaml.safe_load(text)["runs"], "now": yaml.safe_load(Path("runs.yaml").read_text())["runs"]}
    table = pd.DataFrame(
        {when: {name: run["minutes"].get("paper") for name, run in own.items()} for when, own in runs.items()}
    )
    table["results"] = [(figures_dir("paper") / name / RUN_FILE).is_file() for name in table.index]
    table.rename_axis("run").to_csv(Path(__file__).parent / "results" / "paper_hours.csv")
    print((table.groupby("results")[["before", "now"]].sum() / 60).round(1).to_string())


def main():
    """Estimate one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", default="30_vae_anonymization-mobifall-weight-raw-subjects")
    parser.add_argument("--before", metavar="COMMIT", help="compare the minutes of runs.yaml instead")
    asked = parser.parse_args()
    if asked.before:
        return before_and_now(asked.before)
    run = read_runs()[asked.run]
    values = run.values("paper") | {"profile": "paper"}
    training._epoch, rivals.AnonymizationAutoencoder._train = quick_epoch, quick_rival
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SENSORPRIVACY_OUTPUT"] = folder
        space = {"__name__": "__main__"}
        for at, (source, tags) in enumerate(code_cells(run.notebook)):
            start, counted = time.process_time(), sum(s[2] for s in SPENT.values())
            exec(compile(source, f"cell {at}", "exec"), space)
            if "parameters" in tags:
                space.update(values)
            passed, more = time.process_time() - start, sum(s[2] for s in SPENT.values()) - counted
            print(f"cell {at}: {passed:.0f} s computed, {more:.0f} s of epochs counted", flush=True)
    table = pd.DataFrame(SPENT, index=["trainings", "epochs", "seconds"]).T.sort_values("seconds", ascending=False)
    table.index = table.index.str.replace(r"of \w+, (?=\d+ windows)", "of one activity, ", regex=True)
    print(table.round(0).to_string())
    spent = time.process_time() - begun
    print(f"{asked.run}: {(spent + table['seconds'].sum()) / 60:.0f} minutes of one core ({spent:.0f} s for this)")


if __name__ == "__main__":
    main()
