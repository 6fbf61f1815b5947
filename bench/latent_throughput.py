"""Measure how many windows per second an anonymizer publishes: the whole test set of MotionSense in one call.

The networks have the paper's sizes and are trained for one epoch, because the training does not change the speed. The
same windows are also published one by one in a plain loop. The ratio of the two times is the main result, because
windows per second depend on the machine.

    python bench/latent_throughput.py [--threads 1] [--full]    # with --full writes the results
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from compendium import datasets
from forest_cases import machine
from sensorprivacy.latent import Donor, LatentAnonymizer, Settings, Transport, split, train_inference_models

RESULTS = Path(__file__).resolve().parent / "results"


def main():
    """Measure three transfers one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="write the results")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    windows = datasets.windows("motionsense")
    parts = split(windows, "paper", validation=0)
    train, test = windows.take(parts.train), windows.take(parts.test)
    quick = Settings(epochs=1, batch=512, precision="bfloat16")
    models = train_inference_models(train, "gender", settings=quick, progress=False)
    fitted = LatentAnonymizer("gender", vae=quick).fit(train, models=models, progress=False)
    print(f"{test.n_windows:,} windows, {asked.threads} thread(s), median of {asked.repeats}")
    rows = []
    for transfer in (None, Transport(0.7), Donor()):
        chosen = fitted.with_(transfer=transfer, modify="probabilistic")
        chosen.transform(test.take(np.arange(64)))
        together, apart = [], []
        for _ in range(asked.repeats):
            started = time.perf_counter()
            chosen.transform(test)
            together.append((time.perf_counter() - started) / test.n_windows)
            some = [test.take([row]) for row in range(0, test.n_windows, test.n_windows // 200)]
            started = time.perf_counter()
            for one in some:
                chosen.transform(one)
            apart.append((time.perf_counter() - started) / len(some))
        rate, ratio = 1 / np.median(together), np.median(apart) / np.median(together)
        name = transfer.name if transfer else "mean shift (paper's)"
        rows.append(
            {"transfer": name, "windows a second": round(rate), "one by one takes": f"{ratio:.1f} times as long"}
        )
        print(rows[-1], flush=True)
    if asked.full:
        table = pd.DataFrame(rows)
        table.to_csv(RESULTS / "latent_throughput.csv", index=False, lineterminator="\n")
        (RESULTS / "latent_throughput.md").write_text(
            "# Publishing MotionSense's test windows\n\n`python bench/latent_throughput.py --full`: "
            f"{test.n_windows:,} windows in one call, inference of both classes included, {asked.threads} thread(s), "
            f"medians of {asked.repeats}. {machine()}\n\n{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
