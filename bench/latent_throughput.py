"""How many windows a second an anonymizer publishes: the whole test set of MotionSense in one call.

Run: python bench/latent_throughput.py [--threads 1]. The networks have the paper's sizes and are trained for one epoch:
speed does not depend on how well they are trained.
"""

import argparse
import time

import numpy as np
import torch

from sensorprivacy import datasets
from sensorprivacy.latent import Codebook, LatentAnonymizer, Settings, Transport, split, train_guesses


def main():
    """Measure three transfers one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    windows = datasets.windows("motionsense", progress=False)
    parts = split(windows, "paper", validation=0)
    train, test = windows.take(parts.train), windows.take(parts.test)
    quick = Settings(epochs=1, batch=512, precision="bfloat16")
    guesses = train_guesses(train, "gender", settings=quick, progress=False)
    fitted = LatentAnonymizer("gender", vae=quick).fit(train, guesses=guesses, progress=False)
    print(f"{test.n_windows:,} windows, {asked.threads} thread(s), median of {asked.repeats}")
    for transfer in (None, Transport(0.7), Codebook(8)):
        chosen = fitted.with_(transfer=transfer, modify="probabilistic")
        seconds = []
        for _ in range(asked.repeats):
            started = time.perf_counter()
            chosen.transform(test)
            seconds.append(time.perf_counter() - started)
        name = transfer.name if transfer else "mean shift (paper's)"
        print(f"{name:24s} {test.n_windows / np.median(seconds):10,.0f} windows a second")


if __name__ == "__main__":
    main()
