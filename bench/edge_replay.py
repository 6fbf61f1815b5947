"""Replay thirty minutes of samples at twenty times real time (90 s): deadlines and memory, in float32 and 8 bits.

Run: python bench/edge_replay.py [FOLDER] [--minutes 30] [--speed 20]. FOLDER holds bundles, as `python -m sensorrelease
edge export` writes them. Without FOLDER, random networks of both data sets' shapes are replayed. Writes
bench/results/edge_replay.csv.

`late_windows` counts by the clock, including waiting and other programs. `overrun` counts by the processor time of the
window itself.
"""

import argparse
import os
import tempfile
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from edge_speed import RESULTS, SHAPES, bundles
from sensorprivacy.edge.board.bundle import find_bundles, read_bundle
from sensorprivacy.edge.board.pipeline import Pipeline
from sensorprivacy.edge.board.stream import recording, replay


def replayed(folders: list[Path], minutes: float, speed: float) -> pd.DataFrame:
    """Return counts and times of each bundle that holds a whole pipeline."""
    rows = {}
    for bundle in map(read_bundle, folders):
        if not bundle.anonymizes:
            continue
        signal = recording(bundle, 60 * minutes)
        with tqdm(total=len(signal), desc=bundle.folder.name, leave=False) as bar:
            found = replay(Pipeline(bundle), signal, speed=speed, progress=bar.update)
        rows[bundle.folder.name] = {"deadline_ms": 1000 * bundle.budget / speed} | found
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("bundle")


def main():
    """Replay one bundle after the other and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--speed", type=float, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        if not arguments.folder:
            for name in SHAPES:
                bundles(name, Path(made))
        table = replayed(find_bundles(arguments.folder or made), arguments.minutes, arguments.speed)
    table = table.assign(load=os.getloadavg()[0]).round(4)
    print(table.T.to_string())
    table.to_csv(RESULTS / "edge_replay.csv", lineterminator="\n")


if __name__ == "__main__":
    main()
