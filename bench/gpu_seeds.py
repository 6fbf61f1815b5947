"""Train paper 3's networks with more seeds on a second machine, and compare them with the trainings of the tables.

The tables come from CPUs. A GPU adds in another order and draws other random numbers, so its trainings differ as other
seeds do, if the code is right on both. Three steps, because the second machine has neither the data nor the notebooks:

    python bench/gpu_seeds.py --pack FILE                         # here: windows and parameters of each run, compressed
    python bench/gpu_seeds.py --train FILE --output CSVS          # there: each run with each seed, side by side
    python bench/gpu_seeds.py --report CSVS                       # here: beside the committed trainings

Without an option, it trains one seed of the smartwatch for two epochs and throws the result away.
"""

import argparse
import inspect
import itertools
import json
import lzma
import multiprocessing
import pickle
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch

from compendium.papers.paper3 import rivals, tuning
from sensorprivacy.latent.study import prepare
from sensorprivacy.latent.trainings import read_all

RESULTS = Path(__file__).resolve().parent / "results"
RUNS = (
    "30_vae_anonymization-motionsense-gender",
    "30_vae_anonymization-mobifall-gender-raw",
    "30_vae_anonymization-mobifall-weight-raw",
)
SHORT = "30_vae_anonymization-smartwatch-side-tail"
KNOWN = {*inspect.signature(prepare).parameters} - {"windows", "networks"}
CHOICES = ("modify", "shifts", "redraws")
SHARES = ["public_before", "public_after", "private_before", "private_after"]


def packed(name):
    """Return the study and the parameters of a run of the paper profile."""
    from compendium.run.parameters import complete, read_parameters
    from compendium.run.runs import read_runs
    from compendium.studies import prepare as prepare_of_set

    run = read_runs()[name]
    parameters = complete(read_parameters(run.notebook), run.values("paper"))
    study = prepare_of_set(**parameters)
    return replace(study, windows=study.test), parameters


def pack(path):
    """Write the studies of all runs; two runs on the same windows cost little more than one."""
    wide = {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**27}
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wb", filters=[wide]) as file:
        for name in RUNS:
            pickle.dump(packed(name), file)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def trained(study, parameters, seed, networks, output):
    """Train a run's networks with one seed; then its rivals, whose search takes longer. Write each table as it ends."""
    begun, study = time.perf_counter(), replace(study, networks=networks)
    how = {name: parameters[name] for name in ("modify", "redraws")} | {"scales": parameters["shifts"]}
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    stem = f"{study.variant}-{seed}"
    again = tuning.repeat_over_seeds(study, [seed], **how)
    again = again.assign(study=study.variant, device=where, seconds=round(time.perf_counter() - begun))
    again.to_csv(output / f"{stem}.csv", index=False)
    print(f"{stem}: networks after {time.perf_counter() - begun:.0f} s", flush=True)
    own, every = study.with_seed(seed), parameters["search_every"]
    _, weights = rivals.search_rival(
        own.thinned(every),
        own.inference_models(),
        hides=parameters["hides"],
        changes=parameters["changes"],
        epochs=parameters["search_epochs"],
    )
    budget = {name: parameters[name] for name in ("rival_epochs", "general_epochs")}
    made = rivals.with_rivals(study, [seed], **how, **budget, thinned=every, weights=weights)
    rows = [
        {"study": study.variant, "seed": seed, "method": method, "public": float(one.public.mean())}
        | {"private": float(one.private.mean()), **weights, "device": where}
        for method, one in read_all(made).items()
    ]
    pd.DataFrame(rows).to_csv(output / f"{stem}-rivals.csv", index=False)
    print(f"{stem}: rivals after {time.perf_counter() - begun:.0f} s", flush=True)


def _job(job):
    torch.set_num_threads(1)
    path, at, seed, networks, output = job
    with lzma.open(path, "rb") as file:
        for _ in range(at + 1):
            study, parameters = pickle.load(file)
    trained(study, parameters, seed, networks, output)


def train(path, seeds, output):
    """Train all packed runs with all seeds, a process for each, and print what fails without stopping the others."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as networks:
        jobs = [(path, *pair, Path(networks), output) for pair in itertools.product(range(len(RUNS)), seeds)]
        processes = [multiprocessing.get_context("spawn").Process(target=_job, args=(job,)) for job in jobs]
        for process in processes:
            process.start()
        for process in processes:
            process.join()


def report(folder):
    """Write these trainings beside the committed ones, with the interval in which one more of those would lie."""
    from compendium.paths import figures_dir
    from compendium.verdicts.prediction import prediction_interval

    parts = [pd.read_csv(file) for file in sorted(folder.glob("*.csv"))]
    here = pd.concat([part for part in parts if "public class" in part])
    here.to_csv(RESULTS / "gpu_seeds.csv", index=False)
    others = [part for part in parts if "method" in part]
    if others:
        pd.concat(others).to_csv(RESULTS / "gpu_seeds_rivals.csv", index=False)
    rows = []
    for name in RUNS:
        study, parameters = packed(name)
        made_with = json.loads((figures_dir("paper") / name / "run.json").read_text())["parameters"]
        if changed := sorted(key for key in (*KNOWN, *CHOICES) if made_with.get(key) != parameters.get(key)):
            print(f"{name} is left out: the committed run had other values of {', '.join(changed)}")
            continue
        table = pd.read_csv(figures_dir("paper") / name / "seeds.csv")
        for change, share in itertools.product(table["change"].unique(), SHARES):
            pick = "change == @change and `public class` == 'all'"
            ours = table.query(pick)[share]
            theirs = here.query(f"{pick} and study == @study.variant")[share]
            low, high = prediction_interval(ours)
            inside = int(theirs.between(low, high).sum())
            rows.append(
                {"study": study.variant, "change": change, "share": share, "committed": ours.mean(), "low": low}
                | {"high": high, "second machine": theirs.mean(), "least": theirs.min(), "greatest": theirs.max()}
                | {"inside": f"{inside} of {len(theirs)}"}
            )
    found = pd.DataFrame(rows).round(3)
    found.to_csv(RESULTS / "gpu_seeds_spread.csv", index=False)
    print(found.to_string(index=False))


def main():
    """Do the step that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, metavar="FILE")
    parser.add_argument("--train", type=Path, metavar="FILE")
    parser.add_argument("--report", type=Path, metavar="CSVS")
    parser.add_argument("--output", type=Path, metavar="CSVS", default=Path("build/gpu_seeds"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[5, 6, 7])
    asked = parser.parse_args()
    if asked.pack:
        pack(asked.pack)
    elif asked.train:
        train(asked.train, asked.seeds, asked.output)
    elif asked.report:
        report(asked.report)
    else:
        study, parameters = packed(SHORT)
        study = replace(study, vae=replace(study.vae, epochs=2), inference=replace(study.inference, epochs=2))
        few = {"rival_epochs": 1, "general_epochs": 0, "hides": [2.0], "changes": [1.0]}
        with tempfile.TemporaryDirectory() as folder:
            trained(study, parameters | few, asked.seeds[0], Path(folder), Path(folder))
            print(*(file.read_text() for file in sorted(Path(folder).glob("*.csv"))), sep="\n")


if __name__ == "__main__":
    main()
