"""Compare 16-bit and 32-bit multiplications in training paper 3's networks, on this machine's processor.

Each network makes a few updates with either precision, in turn in one process, on the same random windows. The values
of the windows do not matter for speed. A result is the processor time of bfloat16 divided by that of float32: above 1,
float32 is faster. The processor's instructions for bfloat16 decide, so run it on yours.

    python bench/latent_precision.py           # a look
    python bench/latent_precision.py --full    # adds this machine's lines to the results
"""

import argparse
import statistics
import time
from pathlib import Path

import pandas as pd
import torch
from torch.nn import functional

from forest_cases import machine
from sensorprivacy.latent.classifiers import cnn, conv1d, mlp
from sensorprivacy.latent.networks import PrivateVAE, sizes_for, vae_loss
from sensorprivacy.latent.training import faster_precision, multiplying, seeded

RESULTS = Path(__file__).resolve().parent / "results"
WINDOW, CLASSES, UPDATES = (2, 128), 4, 12
VALUES = WINDOW[0] * WINDOW[1]
NETWORKS = {
    "autoencoder": (lambda: PrivateVAE(VALUES, sizes_for(VALUES), CLASSES), (64, 128, 512)),
    "MLP": (lambda: mlp(VALUES, CLASSES), (256,)),
    "CNN": (lambda: cnn(*WINDOW, CLASSES), (256,)),
    "1-D CNN": (lambda: conv1d(WINDOW[0], CLASSES), (256,)),
}


def loss(model, x, codes):
    """Return the loss of a batch: an autoencoder's or a classifier's."""
    if isinstance(model, PrivateVAE):
        x = x.flatten(1)
        return vae_loss(model(x), x, codes, beta=0.1, alpha=10.0).total
    return functional.cross_entropy(model(x).float(), codes)


def seconds(make, precision, batch):
    """Return the processor seconds of some updates."""
    torch.manual_seed(0)
    x, codes = torch.randn(batch, *WINDOW), torch.randint(0, CLASSES, (batch,))
    model = seeded(make, 0).train()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for update in range(UPDATES + 3):
        if update == 3:  # the first updates prepare memory
            begun = time.process_time()
        with multiplying(torch.device("cpu"), precision):
            found = loss(model, x, codes)
        optimizer.zero_grad(set_to_none=True)
        found.backward()
        optimizer.step()
    return time.process_time() - begun


def main():
    """Measure all networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="add to the results")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    has = torch.cpu.get_capabilities()
    kind = next((name for name in ("amx_bf16", "avx512_bf16") if has[name]), "no bfloat16")
    here = f"{has['cpu_name']}, {kind}"
    rows = []
    for name, (make, batches) in NETWORKS.items():
        for batch in batches:
            pairs = [(seconds(make, "bfloat16", batch), seconds(make, "float32", batch)) for _ in range(asked.rounds)]
            ratio = statistics.median(half / full for half, full in pairs)
            row = {"processor": here, "auto": faster_precision("cpu"), "network": name, "batch": batch}
            rows.append({**row, "bfloat16 / float32": round(ratio, 2)})
            print(rows[-1], flush=True)
    if asked.full:
        path = RESULTS / "latent_precision.csv"
        known = (
            pd.read_csv(path).query("processor != @here") if path.is_file() else None
        )  # other processors keep their lines
        table = pd.concat([known, pd.DataFrame(rows)], ignore_index=True)
        table.to_csv(path, index=False, lineterminator="\n")
        (RESULTS / "latent_precision.md").write_text(
            "# 16-bit and 32-bit multiplications\n\n`python bench/latent_precision.py --full`: processor time of "
            f"{UPDATES} updates with bfloat16, as a multiple of that with float32, 1 thread, medians of "
            f"{asked.rounds} rounds; above 1, float32 is faster. auto: what `precision: auto` becomes. The last "
            f"lines: {machine()}\n\n"
            f"{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
