"""Measure how fast paper 3's autoencoders train: the whole set as one tensor, in 32 and 16 bits, and a DataLoader loop.

Speed: all variants train the four autoencoders for a few epochs, in turn in one process, from the same weights. Results
are ratios of the loop's processor seconds to each variant's, medians over rounds. Quality: trainings in 32 and 16 bits
with several seeds, evaluated in 32 bits on validation windows. 16 bits suffice if they differ no more than seeds do.
Needs MotionSense (`.venv/bin/compendium data fetch motionsense`).

    python bench/latent_training.py --rounds 1 --epochs 1 --quality 2    # a look
    python bench/latent_training.py --full                               # writes the results
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, TensorDataset

from compendium.studies import prepare
from forest_cases import machine
from sensorprivacy.latent import Settings
from sensorprivacy.latent.networks import PrivateVAE, sizes_for, vae_loss
from sensorprivacy.latent.training import evaluate, seeded, train
from sensorprivacy.latent.windows import Coding, Scaler, flatten

RESULTS = Path(__file__).resolve().parent / "results"
ALPHA, BETA, BATCH = 10.0, 0.1, 512


def step(model, x, private):
    """Return the loss of a batch."""
    return vae_loss(model(x), x, private, beta=BETA, alpha=ALPHA)


def fresh(seed=0):
    """Return an untrained autoencoder of the paper's size."""
    return seeded(lambda: PrivateVAE(256, sizes_for(256), 2), seed)


def loop(model, data, epochs):
    """Train as most code does: shuffling DataLoader, default Adam, float32."""
    loader = DataLoader(TensorDataset(*data), batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for x, private in loader:
            optimizer.zero_grad()
            step(model, x, private).total.backward()
            optimizer.step()


def ours(precision, seed=0):
    """Return the compendium's training at a precision."""

    def trained(model, data, epochs):
        settings = Settings(epochs=epochs, batch=BATCH, precision=precision, seed=seed, device="cpu")
        train(model, step, data, settings, progress=False)

    return trained


def parts():
    """Return training and held-back windows of each activity, as tensors."""
    study = prepare("motionsense", "gender")
    scaler, coding = Scaler.fit(study.train.values), Coding.fit(study.train.private["gender"], "gender")
    found = []
    for name in sorted(set(study.train.public)):
        sides = []
        for some in (study.train, study.validation):
            one = some.take(np.flatnonzero((some.public == name).to_numpy()))
            x = flatten(scaler.apply(one.values))
            sides.append((torch.as_tensor(x), torch.as_tensor(coding.codes(one.private["gender"]))))
        found.append(sides)
    return found


def speed(sets, rounds, epochs):
    """Return the ratio of the loop's processor time to each way's."""
    ways = {
        "DataLoader loop, float32": loop,
        "one tensor, float32": ours("float32"),
        "one tensor, bfloat16": ours("bfloat16"),
    }
    spent = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            models = [fresh() for _ in sets]
            begun = time.process_time()
            for model, (data, _) in zip(models, sets, strict=True):
                way(model, data, epochs)
            spent[name].append(time.process_time() - begun)
        print({name: round(times[-1], 1) for name, times in spent.items()}, flush=True)
    typical = {name: statistics.median(times) for name, times in spent.items()}
    first = typical["DataLoader loop, float32"]
    return pd.DataFrame([{"way": name, "times the loop's speed": first / one} for name, one in typical.items()])


def quality(sets, seeds, epochs):
    """Return the mean loss on held-back windows over the four autoencoders, by precision and seed."""
    rows = []
    for seed in range(seeds):
        for precision in ("float32", "bfloat16"):
            losses = []
            for code, (data, held) in enumerate(sets):
                model = fresh(101 * seed + code)
                ours(precision, seed)(model, data, epochs)
                losses.append(evaluate(model, step, held)["total"])
            rows.append({"seed": seed, "precision": precision, "loss": np.mean(losses)})
            print(rows[-1], flush=True)
    return pd.DataFrame(rows).pivot_table(index="seed", columns="precision", values="loss").reset_index()


def main():
    """Measure speed and quality."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2, help="of a round")
    parser.add_argument("--quality", type=int, default=20, help="epochs of the trainings whose quality is measured")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    sets = parts()
    ratios = speed(sets, asked.rounds, asked.epochs).round(2)
    losses = quality(sets, asked.seeds, asked.quality).round(2)
    print(ratios.to_string(index=False), losses.to_string(index=False), sep="\n")
    if asked.full:
        ratios.to_csv(RESULTS / "latent_training.csv", index=False, lineterminator="\n")
        losses.to_csv(RESULTS / "latent_training_quality.csv", index=False, lineterminator="\n")
        (RESULTS / "latent_training.md").write_text(
            "# Training paper 3's autoencoders\n\n`python bench/latent_training.py --full`: all four autoencoders on "
            f"MotionSense, batch {BATCH}, {asked.threads} thread(s), processor time, medians of {asked.rounds} rounds "
            f"of {asked.epochs} epochs. {machine()}\n\n{ratios.to_markdown(index=False)}\n\n"
            f"Loss on windows held back after {asked.quality} epochs, judged in 32 bits, mean over autoencoders:\n\n"
            f"{losses.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
