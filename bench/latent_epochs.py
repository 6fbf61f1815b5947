"""Measure how many epochs paper 3's autoencoders need on MotionSense: accuracies before and after anonymization.

Run: python bench/latent_epochs.py [--epochs 15 30 60 100] [--seed 0] [--threads 1]. Needs MotionSense. Each stage
continues from the checkpoints of the stage before, also after an interruption. Writes one row per stage, part and
activity to --output (bench/results/latent_epochs.csv). CPU seconds count from the start of this process.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch

from compendium.studies import prepare
from sensorprivacy import latent

COLUMNS = ["public_before", "public_after", "private_before", "private_after", "windows"]


def main():
    """Train stage by stage, and measure each stage on validation and test windows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, nargs="+", default=[15, 30, 60, 100])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "latent_epochs.csv")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    study = prepare("motionsense", "gender", epochs=max(asked.epochs), inference_epochs=60, seed=asked.seed)
    models, rows = study.inference_models(), []
    for epochs in sorted(asked.epochs):
        shorter = replace(study, vae=replace(study.vae, epochs=epochs))
        fitted = latent.LatentAnonymizer("gender", alpha=study.alpha, beta=study.beta, vae=shorter.vae)
        fitted.fit(study.train, validation=study.validation, models=models, checkpoints=study.folder)
        for part, windows in (("validation", study.validation), ("test", study.test)):
            published = fitted.transform(windows, latent.SeededSource(0))
            table = latent.inference_table(models, windows, published)[COLUMNS].round(3).reset_index()
            rows.append(table.assign(epochs=epochs, part=part, cpu_seconds=round(time.process_time())))
        print(rows[-1].to_string(index=False), flush=True)
        pd.concat(rows).to_csv(asked.output, index=False)


if __name__ == "__main__":
    main()
