"""Compare the training of released recordings: the earlier 100 epochs, today's 50, and the 300 of paper 3's authors.

Run: python bench/publish_epochs.py [--epochs 100 50 300] [--seed 0] [--threads 1]. Needs MotionSense. Publishes
recordings of two channels (magnitudes of acceleration and rotation) of eight people, 0.5 to 3 minutes each, hiding
gender. Training of 100 epochs starts from PyTorch's initial weights as it did before, the others from He's. Writes the
table of results/publish_epochs.csv: accuracy on held-out ends of recordings, for the activity and for the strongest of
four attackers, and processor seconds of training and in all.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from compendium.datasets import store
from sensorprivacy.latent import attackers
from sensorrelease.publishing.anonymizers import Latent
from sensorrelease.publishing.recordings import publish_recordings
from sensorrelease.schema import draft

PEOPLE, FIRST_TRIAL = 8, 11  # the trials from 11 on are the short ones
ATTACKERS = ("paper's", "trees on statistics", "re-encodes", "identity")


@dataclass(frozen=True)
class Timed(Latent):
    """The settings of `publish` with other initial weights, which note the processor seconds of training."""

    start: str = "he"

    def anonymizer(self, hide, seed):
        """Return the anonymizer with a fit that is timed."""
        made = super().anonymizer(hide, seed)
        made.set_params(vae=replace(made.vae, start=self.start))
        fit = made.fit

        def timed(*words, **options):
            began = time.process_time()
            done = fit(*words, **options)
            SECONDS.append(time.process_time() - began)
            return done

        object.__setattr__(made, "fit", timed)
        return made


SECONDS: list[float] = []


def write_recordings(folder):
    """Write the recordings to a folder, and return the minutes of signal."""
    files, samples = store.fetch("motionsense"), 0
    people = pd.read_csv(files.open("data_subjects_info.csv"))
    (folder / "recordings").mkdir()
    for name in (member for member in files.members if "/sub_" in member):
        trial, person = Path(name).parent.name.split("_"), int(Path(name).stem.removeprefix("sub_"))
        if int(trial[1]) < FIRST_TRIAL or person > PEOPLE:
            continue
        signal = pd.read_csv(files.open(name))
        sizes = {
            kind: np.sqrt((signal[[f"{sensor}.{axis}" for axis in "xyz"]] ** 2).sum(axis=1))
            for kind, sensor in (("acceleration", "userAcceleration"), ("rotation", "rotationRate"))
        }
        pd.DataFrame(sizes).to_csv(folder / "recordings" / f"{trial[0]}_{person}_{trial[1]}.csv", index=False)
        samples += len(signal)
    gender = people["gender"].map({0: "female", 1: "male"})
    pd.DataFrame({"person": people["code"], "gender": gender}).to_csv(folder / "recordings" / "people.csv", index=False)
    return samples / 50 / 60


def strongest(card, about, data):
    """Return the accuracy and chance of the strongest model on windows for one question."""
    rows = [row for row in card.facts["measured"] if row["data"] == data and row["level"] == "window"]
    rows = [row for row in rows if about in row["about"] and row["score"] is not None]
    best = max(rows, key=lambda row: row["score"])
    return round(best["score"], 3), round(best["chance"], 3)


def main():
    """Publish with each number of epochs, and write what it cost and hid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, nargs="+", default=[100, 50, 300])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "publish_epochs.csv")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        minutes = write_recordings(folder)
        for epochs in asked.epochs:
            start, began = "pytorch" if epochs == 100 else "he", time.process_time()
            card = publish_recordings(
                folder / "recordings",
                schema=draft(folder / "recordings", "activity", "person", rate=50),
                accept_draft=True,
                out=folder / f"out-{epochs}",
                defence=Timed(epochs=epochs, start=start),
                hide="gender",
                adversaries=attackers(names=ATTACKERS),
                seed=asked.seed,
            )
            row = {"epochs": epochs, "start": start, "minutes of signal": round(minutes, 1)}
            for about in ("activity", "gender", "person"):
                for data in ("original", "published"):
                    row[f"{about}, {data}"], row[f"{about}, chance"] = strongest(card, about, data)
            row["training seconds"], row["seconds"] = round(SECONDS[-1]), round(time.process_time() - began)
            rows.append(row)
            print(pd.DataFrame(rows).T.to_string(header=False), flush=True)
            pd.DataFrame(rows).to_csv(asked.output, index=False)


if __name__ == "__main__":
    main()
