"""Compare searches over alpha and beta on all training windows and on one in four, with batches a quarter as large.

Neighbouring windows share 92 % of their samples, and `Study.thinned` keeps the number of updates in an epoch. The
question is whether the search chooses the same cell, and how far losses and accuracies move.

    python bench/latent_every.py [--epochs 15] [--every 4]

It needs MotionSense, and writes bench/results/latent_every.csv.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch

from compendium.papers.paper3.tuning import grid_search
from compendium.studies import prepare

RESULTS = Path(__file__).resolve().parent / "results" / "latent_every.csv"


def main() -> None:
    """Search the same grid twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--every", type=int, default=4)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    study = prepare("motionsense", "gender", epochs=asked.epochs, inference_epochs=10, batch=512, precision="auto")
    models, tables = study.inference_models(), []
    for every in (1, asked.every):
        few, begun = study.thinned(every), time.process_time()
        # both are judged on all validation windows, and no network is taken up
        few = replace(few, validation=study.validation, networks=Path(tempfile.mkdtemp()))
        found = grid_search(few, models, alphas=[0, 1, 10], betas=[0.1, 1])
        tables.append(found.assign(every=every, seconds=time.process_time() - begun, precision=study.vae.precision))
    table = pd.concat(tables, ignore_index=True).drop(columns="transfer").round(4)
    table.to_csv(RESULTS, index=False)
    print(table.to_string(index=False))
    for measure in ("loss", "private_after"):
        best = table.loc[table.groupby("every")[measure].idxmin(), ["every", "alpha", "beta", measure]]
        print(f"least {measure}:", best.to_dict("records"))


if __name__ == "__main__":
    main()
