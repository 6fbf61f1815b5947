"""One window, all steps, one thread: eager torch against onnxruntime in float32 and in 8 bits, in turns in one process.

Run: python bench/edge_speed.py [--rounds 15]. Networks of the shapes of MotionSense and MobiAct with random weights:
speed does not depend on what they have learnt. Writes bench/results/edge_speed.csv.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from sensorprivacy.edge import prepared
from sensorprivacy.edge.bundle import Bundle
from sensorprivacy.edge.export import Networks, Signal, export, quantize
from sensorprivacy.edge.pipeline import Pipeline
from sensorprivacy.latent.classifiers import Classifier
from sensorprivacy.latent.networks import PrivateVAE, sizes_for
from sensorprivacy.latent.training import seeded
from sensorprivacy.latent.windows import Scaler

SHAPES = {"motionsense": ("mlp", 2, 50.0), "mobiact": ("cnn", 6, 20.0)}
RESULTS = Path(__file__).parent / "results"


def random_networks(kind: str, channels: int) -> Networks:
    """Return untrained networks of four activities and two private classes."""
    shape, values = (channels, 128), channels * 128
    vaes = [seeded(lambda: PrivateVAE(values, sizes_for(values), 2), code) for code in range(4)]
    means = np.random.default_rng(0).standard_normal((4, 2, sizes_for(values).latent))
    scaler = Scaler((0.0,) * channels, (1.0,) * channels)
    models = Classifier(kind).build(shape, 4), Classifier(kind).build(shape, 2)
    return Networks(*models, vaes, means, scaler, tuple("abcd"), ("f", "m"), trained=False)


def bundles(networks: Networks, name: str, folder: Path) -> tuple[Bundle, Bundle]:
    """Return bundles of networks of a data set's shape, in float32 and int8."""
    _, channels, rate = SHAPES[name]
    signal = Signal(name, "gender", rate, 10, tuple(f"c{at}" for at in range(channels)), 128)
    full = export(networks, signal, folder / name)
    return full, quantize(full, folder / f"{name}-int8")


def main():
    """Measure both shapes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each turn")
    asked = parser.parse_args()
    tables = {}
    for name, (kind, channels, _) in SHAPES.items():
        networks = random_networks(kind, channels)
        with tempfile.TemporaryDirectory() as folder:
            full, short = bundles(networks, name, Path(folder))
            pipelines, windows = {"float32": Pipeline(full), "int8": Pipeline(short)}, full.samples(200)
            tables[name] = prepared.against_eager(
                networks, pipelines, windows, rounds=asked.rounds, seconds=asked.seconds
            )
    load = round(os.getloadavg()[0], 1)
    table = pd.concat(tables, names=["networks"]).round(4).assign(load=load)
    print(table.to_string())
    print(f"one thread, median of {asked.rounds} turns; load of the machine {load} on {os.cpu_count()} cores")
    table.to_csv(RESULTS / "edge_speed.csv", lineterminator="\n")


if __name__ == "__main__":
    main()
