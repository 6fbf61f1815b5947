"""Compare ways to train paper 3's autoencoders in a short time, by quality and processor time.

All ways train the autoencoder of *stairs down* on MotionSense, the activity that short trainings lose first. A round
trains every way once, in turn in one process, with the round's seed. Quality is measured on validation windows: the
share of the windows recognized as stairs down that are still recognized after the paper's shift (`kept`), and the loss.
The ways differ in initial weights, learning rate, precision, batch, and which windows they see. `warm` starts from one
network that was trained on all activities; its processor time includes a quarter of that training, since four
autoencoders share it. Needs MotionSense (`.venv/bin/compendium data fetch motionsense`).

    python bench/latent_quick.py --rounds 1 --epochs 1    # a look
    python bench/latent_quick.py --full                   # writes the results
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch.optim.lr_scheduler import OneCycleLR

from compendium.studies import prepare
from forest_cases import machine
from sensorprivacy.latent.networks import PrivateVAE, decode, encode, he_start, sizes_for, vae_loss
from sensorprivacy.latent.training import evaluate, seeded
from sensorprivacy.latent.transfers import means
from sensorprivacy.latent.windows import flatten

RESULTS = Path(__file__).resolve().parent / "results"
WARM_EPOCHS = 1
WAYS = {
    "present loop": {},
    "one-cycle": {"cycle": True, "rate": 2e-3},
    "he": {"he": True},
    "he, one-cycle": {"he": True, "cycle": True, "rate": 4e-3},
    "he, float32": {"he": True, "bfloat16": False},
    "he, batch 256": {"he": True, "batch": 256, "rate": 2e-3},
    "he, every 4th window": {"he": True, "every": 4},
    "he, warm": {"he": True, "warm": True},
}


def step(model, x, private):
    """Return the loss of a batch."""
    return vae_loss(model(x), x, private, beta=0.1, alpha=10.0)


def fresh(seed, he):
    """Return an untrained autoencoder."""

    def build():
        made = PrivateVAE(256, sizes_for(256), 2)
        return he_start(made) if he else made

    return seeded(build, seed)


def trained(model, data, epochs, seed, *, rate=1e-3, batch=128, cycle=False, bfloat16=True):
    """Train a network in place: the loop of `latent.training`, and a one-cycle learning rate."""
    torch.manual_seed(seed)
    size, many = len(data[0]), -(-len(data[0]) // batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    schedule = OneCycleLR(optimizer, rate, total_steps=epochs * many) if cycle else None
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(size).tensor_split(many):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bfloat16):
                loss = step(model, *(part[rows] for part in data)).total
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if schedule:
                schedule.step()
    return model


def parts(study, models):
    """Return training windows of all activities, and training and validation windows of stairs down."""
    found = []
    for some in (study.train, study.validation):
        public, private = models.codes(some)
        found.append((flatten(models.scaled(some)), public, private))
    everything = tuple(torch.as_tensor(found[0][at]) for at in (0, 2))
    down = [tuple(torch.as_tensor(part[public == 0]) for part in (x, private)) for x, public, private in found]
    return everything, *down


def quality(model, data, held, models):
    """Return how many recognized validation windows stay recognized after the shift, and the loss."""
    z, private = encode(model, data[0].numpy(), "cpu")[0], data[1].numpy()
    centres, raw = means(z, private, 2), held[0].numpy().reshape(-1, *models.shape)
    public, guess = models.public_model.predict(raw), models.private_model.predict(raw)
    mean, log_variance = encode(model, held[0].numpy(), "cpu")
    z = mean + np.random.default_rng(0).standard_normal(mean.shape) * np.exp(0.5 * log_variance)
    shown = decode(model, (z + centres[1 - guess] - centres[guess]).astype(np.float32), "cpu").reshape(raw.shape)
    kept = (models.public_model.predict(shown) == 0)[public == 0].mean()
    return {"kept": kept, "loss": evaluate(model, step, held)["total"]}


def one(way, seed, epochs, sides, models):
    """Train one way once, and return its quality and processor seconds."""
    choices = dict(way)
    everything, data, held = sides
    every, he, warm = choices.pop("every", 1), choices.pop("he", False), choices.pop("warm", False)
    begun = time.process_time()
    model = fresh(seed, he)
    if warm:
        trained(model, everything, WARM_EPOCHS, seed, **choices)
    shared = (time.process_time() - begun) * (3 / 4 if warm else 0)
    some = tuple(part[::every] for part in data)
    trained(model, some, (epochs - WARM_EPOCHS if warm else epochs) * every, seed, **choices)
    spent = time.process_time() - begun - shared
    return {"seconds": spent} | quality(model, some, held, models)


def summary(rows):
    """Return medians over rounds, with processor time as a multiple of the present loop's at the most epochs."""
    table = rows.groupby(["way", "epochs"], sort=False)[["seconds", "kept", "loss"]].median()
    worst = rows.groupby(["way", "epochs"], sort=False)["kept"].min().rename("least kept")
    table = table.join(worst)
    reference = table["seconds"]["present loop"].iloc[-1]
    table.insert(0, "processor time", table.pop("seconds") / reference)
    return table.round({"processor time": 2, "kept": 3, "least kept": 3, "loss": 1}).reset_index()


def write(rows, rounds):
    """Write all rounds and their medians to the folder of results."""
    rows.round(3).drop(columns="seconds").to_csv(RESULTS / "latent_quick.csv", index=False, lineterminator="\n")
    (RESULTS / "latent_quick.md").write_text(
        "# Short trainings of paper 3's autoencoders\n\n`python bench/latent_quick.py --full`: stairs down on "
        f"MotionSense, validation windows, medians of {rounds} round(s) with different seeds, one thread. "
        "Processor time is a multiple of the present loop's. `kept`: share of recognized windows that are recognized "
        f"after the shift. {machine()}\n\n{summary(rows).to_markdown(index=False)}\n"
    )


def main():
    """Measure all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, nargs="+", default=[4], help="of all windows of stairs down")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    study = prepare("motionsense", "gender", epochs=12, inference_epochs=10, batch=128)
    models, rows = study.inference_models(), []
    sides = parts(study, models)
    for seed in range(asked.rounds):
        for epochs in asked.epochs:
            for name, way in WAYS.items():
                rows.append({"way": name, "epochs": epochs, "round": seed} | one(way, seed, epochs, sides, models))
                print(rows[-1], flush=True)
        if asked.full:
            write(pd.DataFrame(rows), seed + 1)  # a stopped benchmark keeps its finished rounds
    print(summary(pd.DataFrame(rows)).to_string(index=False))


if __name__ == "__main__":
    main()
