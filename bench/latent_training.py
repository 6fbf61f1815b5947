"""How fast paper 3's autoencoders train: the whole set as one tensor, in 32 and 16 bits, against a DataLoader loop.

Run: python bench/latent_training.py [--epochs 2] [--threads 1]. Needs MotionSense (`python -m sensorprivacy data fetch
motionsense`). Prints seconds an epoch over all four autoencoders, and the ratio to the DataLoader loop measured beside
it; and whether 16 bits train to the same loss.
"""

import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from sensorprivacy import datasets
from sensorprivacy.latent import Scaler, Settings, split
from sensorprivacy.latent.losses import vae_loss
from sensorprivacy.latent.networks import PrivateVAE, sizes_for
from sensorprivacy.latent.training import seeded, train
from sensorprivacy.latent.windows import flatten

ALPHA, BETA, BATCH = 10.0, 0.1, 512


def step(model, x, private):
    """Return the loss of a batch."""
    return vae_loss(model(x), x, private, beta=BETA, alpha=ALPHA)


def plain_loop(model, data, epochs):
    """Train as most code does: shuffling DataLoader, default Adam, float32."""
    loader = DataLoader(TensorDataset(*data), batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for x, private in loader:
            optimizer.zero_grad()
            step(model, x, private).total.backward()
            optimizer.step()


def main():
    """Measure the three ways one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    windows = datasets.windows("motionsense", progress=False)
    rows = split(windows, "paper", validation=0).train
    kept = windows.take(rows)
    x = torch.as_tensor(flatten(Scaler.fit(kept.values).apply(kept.values)))
    private = torch.as_tensor((kept.private["gender"] == "male").to_numpy().astype(np.int64))
    sets = [
        (x[mask], private[mask]) for mask in ((kept.public == name).to_numpy() for name in sorted(set(kept.public)))
    ]
    print(f"{len(x):,} windows, batch {BATCH}, {asked.threads} thread(s), {asked.epochs} epoch(s)")

    def fresh():
        return seeded(lambda: PrivateVAE(256, sizes_for(256), 2), 0)

    found = {}
    ways = {
        "DataLoader loop, float32": lambda model, data: plain_loop(model, data, asked.epochs),
        "one tensor, float32": lambda model, data: train(model, step, data, settings("float32"), progress=False),
        "one tensor, bfloat16": lambda model, data: train(model, step, data, settings("bfloat16"), progress=False),
    }

    def settings(precision):
        return Settings(epochs=asked.epochs, batch=BATCH, precision=precision)

    for name, way in ways.items():
        started, last = time.perf_counter(), []
        for data in sets:
            model = fresh()
            way(model, data)
            with torch.no_grad():
                torch.manual_seed(0)
                last.append(step(model.eval(), *data).total.item())
        found[name] = (time.perf_counter() - started) / asked.epochs
        ratio = found["DataLoader loop, float32"] / found[name]
        speed = f"{found[name]:7.2f} s an epoch, {ratio:4.2f} times the loop's speed"
        print(f"{name:26s} {speed}; mean loss {np.mean(last):.2f}")


if __name__ == "__main__":
    main()
