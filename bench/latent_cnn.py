"""Measure how fast the paper's CNN trains and classifies windows.

Training: our network pools before ReLU and stores channels last, and is compared with the layers as the paper draws
them. Classification: our classifier takes few windows at a time, compares neighbouring samples itself, and multiplies
in 16 bits if it was trained so. It is compared with all windows at once through PyTorch's layers in 32 bits.

Both variants run in turn in one process, on the same batches of random windows in MobiAct's shape. The values of the
windows do not matter for speed. Results are ratios of processor seconds, medians over rounds.

    python bench/latent_cnn.py --rounds 1    # a look
    python bench/latent_cnn.py --full        # writes the results
"""

import argparse
import statistics
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from torch import nn
from torch.nn import functional

from forest_cases import machine
from sensorprivacy.latent import Settings
from sensorprivacy.latent.classifiers import Classifier, cnn
from sensorprivacy.latent.training import seeded, train

RESULTS = Path(__file__).resolve().parent / "results"
SHAPE, CLASSES, WINDOWS = (6, 128), 4, 2048


def drawn():
    """Return the CNN with its layers in the order of Fig. 10b and torch's usual memory."""
    parts = list(seeded(lambda: cnn(*SHAPE, CLASSES), 0).to(memory_format=torch.contiguous_format))
    for number in [number for number, part in enumerate(parts) if isinstance(part, nn.MaxPool2d)]:
        parts[number], parts[number + 1] = parts[number + 1], nn.MaxPool2d((1, 2))
    return nn.Sequential(*parts)


def ours():
    """Return the compendium's."""
    return seeded(lambda: cnn(*SHAPE, CLASSES), 0)


class Loss(NamedTuple):
    """Terms of the loss."""

    total: torch.Tensor


def step(model, x, codes):
    """Return the loss of a batch."""
    return Loss(functional.cross_entropy(model(x).float(), codes))


def faster(before, after, rounds):
    """Return the processor time of the first variant divided by that of the second; calls prepare what is timed."""
    spent = {before: [], after: []}
    for _ in range(rounds):
        for way, times in spent.items():
            work = way()
            begun = time.process_time()
            work()
            times.append(time.process_time() - begun)
    return round(statistics.median(spent[before]) / statistics.median(spent[after]), 2)


def trained(build, data, settings):
    """Return a way that trains a fresh network."""
    return lambda: partial(train, build(), step, data, settings, progress=False)


def classified_at_once(windows):
    """Return the pass of all windows through the network as drawn."""
    return partial(torch.no_grad()(drawn().eval()), torch.as_tensor(windows))


def classified_by_ours(windows, precision):
    """Return the compendium's classifier's judging."""
    classifier = Classifier("cnn", settings=Settings(precision=precision))
    classifier.network_, classifier.classes_ = ours().eval(), CLASSES
    return partial(classifier.probabilities, windows)


def main():
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    data = torch.randn(WINDOWS, *SHAPE), torch.randint(0, CLASSES, (WINDOWS,))
    rows = []
    for batch in (128, 512):
        for precision in ("float32", "bfloat16"):
            settings = Settings(epochs=1, batch=batch, precision=precision, device="cpu")
            ratio = faster(trained(drawn, data, settings), trained(ours, data, settings), asked.rounds)
            rows.append({"what": "training", "batch": batch, "precision": precision, "times as fast": ratio})
            print(rows[-1], flush=True)
    windows = data[0].numpy()
    for precision in ("float32", "bfloat16"):
        judging = partial(classified_by_ours, windows, precision)
        ratio = faster(partial(classified_at_once, windows), judging, asked.rounds)
        rows.append({"what": "judging", "batch": "all", "precision": precision, "times as fast": ratio})
        print(rows[-1], flush=True)
    if asked.full:
        table = pd.DataFrame(rows)
        table.to_csv(RESULTS / "latent_cnn.csv", index=False, lineterminator="\n")
        (RESULTS / "latent_cnn.md").write_text(
            f"# The paper's CNN\n\n`python bench/latent_cnn.py --full`: {WINDOWS} windows of {SHAPE[0]} x "
            f"{SHAPE[1]}, {asked.threads} thread(s), processor time, medians of {asked.rounds} rounds; how many times "
            f"as fast as the layers in drawn order and torch's usual memory. {machine()}\n\n"
            f"{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
