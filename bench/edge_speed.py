"""Time one window with all steps on one thread: eager torch against onnxruntime, in turns.

Run: python bench/edge_speed.py [--rounds 15]. The networks have the shapes of MotionSense and MobiAct and random
weights, because times do not depend on the training. Writes bench/results/edge_speed.csv.
"""

import argparse
import os
import tempfile
from pathlib import Path

import pandas as pd

from compendium.papers.paper3.edge_bundles import random_networks
from sensorprivacy.edge.board.bundle import Bundle, Signal
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.comparison import against_eager
from sensorprivacy.edge.export import Networks, export

SHAPES = {"motionsense": ("mlp", 2, 50.0), "mobiact": ("cnn", 6, 20.0)}
RESULTS = Path(__file__).parent / "results"


def bundles(name: str, folder: Path) -> tuple[Networks, Bundle]:
    """Return random networks of a data set's shape, and their bundle."""
    kind, channels, rate = SHAPES[name]
    signal = Signal(name, "gender", rate, 10, tuple(f"c{at}" for at in range(channels)), 128)
    networks = random_networks(kind, signal.shape, tuple("abcd"), ("f", "m"))
    return networks, export(networks, signal, folder / name)


def main():
    """Measure both shapes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="duration of a turn")
    arguments = parser.parse_args()
    tables = {}
    for name in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            networks, full = bundles(name, Path(folder))
            pipelines = {"float32": Pipeline(full)}
            tables[name] = against_eager(
                networks, pipelines, full.samples(200), rounds=arguments.rounds, seconds=arguments.seconds
            )
    load = round(os.getloadavg()[0], 1)
    table = pd.concat(tables, names=["networks"]).round(4).assign(load=load)
    print(table.to_string())
    print(f"one thread, median of {arguments.rounds} turns; load of the machine {load} on {os.cpu_count()} cores")
    table.to_csv(RESULTS / "edge_speed.csv", lineterminator="\n")


if __name__ == "__main__":
    main()
