"""Measure what the quick profile of notebook 30 keeps of MotionSense's activities after the paper's shift.

A short training loses stairs down first, and would mislead about the method. Each seed trains the inference models and
the autoencoders with the parameters of the run in ``runs.yaml``, and is judged on the test windows. A test compares the
written results with the floors of the quick profile, and their settings with those of the run. Needs MotionSense.

    python bench/latent_floors.py --seeds 0       # a look, two minutes of processor time
    python bench/latent_floors.py --full          # three seeds; writes the lines of this precision to the results
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import pandas as pd

from compendium import studies as study
from compendium.run.parameters import complete, read_parameters
from compendium.run.runs import read_runs
from sensorprivacy import latent

RESULTS = Path(__file__).resolve().parent / "results"
RUN = "30_vae_anonymization-motionsense-gender"
CHOICES = ("every", "epochs", "inference_epochs", "batch", "start", "alpha", "beta", "precision", "network", "modify")


def settings():
    """Return the parameters of the quick run that its networks depend on."""
    run = read_runs()[RUN]
    values = complete(read_parameters(run.notebook), run.values("quick"))
    return {name: values[name] for name in CHOICES}


def measured(seed, choices):
    """Return accuracy before and after, by activity, and processor seconds."""
    begun, modify = time.process_time(), choices["modify"]
    rest = {name: value for name, value in choices.items() if name != "modify"}
    known = study.prepare("motionsense", "gender", **rest, seed=seed)
    models = known.inference_models()
    published = known.anonymizer(models, modify=modify).anonymize(known.test, latent.SeededSource(seed))
    table = latent.inference_table(models, known.test, published.windows)
    columns = ["public_before", "public_after", "private_before", "private_after"]
    table = table[columns].rename_axis("activity").reset_index()
    return table.assign(seed=seed, multiplied_in=known.vae.precision), time.process_time() - begun


def main():
    """Measure all seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    asked = parser.parse_args()
    found = []
    for seed in asked.seeds:
        with tempfile.TemporaryDirectory() as folder:
            study.build_dir = lambda folder=folder: Path(folder)  # networks are trained anew
            table, seconds = measured(seed, settings())
        print(f"seed {seed}: {seconds:.0f} s of processor time\n{table.round(3).to_string(index=False)}")
        found.append(table)
    if asked.full:
        rows = pd.concat(found).assign(settings=json.dumps(settings(), sort_keys=True))
        known = pd.read_csv(RESULTS / "latent_floors.csv")
        other = known[~known["multiplied_in"].isin(rows["multiplied_in"])]  # of processors that multiply otherwise
        pd.concat([other, rows.round(4)]).to_csv(RESULTS / "latent_floors.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
