"""Compare the ways to multiply in training paper 3's networks, on this machine's processor.

Each network makes a few updates in each way, in turn in one process, on the same random windows. The values of the
windows do not matter for speed. A result is the processor time as a multiple of that of float32 by PyTorch's default
library, MKL: below 1, the way is faster. `training.by_onednn` chooses between MKL and oneDNN, and the precision `auto`
between 32 and 16 bits. The processor decides, so run it on yours. The greatest error of a product shows whether oneDNN
really multiplies in 32 bits.

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
from sensorprivacy.latent.devices import by_onednn, faster_precision, multiplying
from sensorprivacy.latent.networks import PrivateVAE, sizes_for, vae_loss
from sensorprivacy.latent.training import Settings, adam, seeded

RESULTS = Path(__file__).resolve().parent / "results"
CLASSES, UPDATES = 4, 6
PHONE, AXES = (2, 128), (6, 128)  # channels and samples of the windows of MotionSense, and of MobiAct


def vae(shape, general):
    """Return one of paper 3's autoencoders."""
    values = shape[0] * shape[1]
    return PrivateVAE(values, sizes_for(values, general), CLASSES)


NETWORKS = {
    "autoencoder": (lambda: vae(PHONE, False), PHONE, (64, 128, 512)),
    "general autoencoder": (lambda: vae(PHONE, True), PHONE, (128, 512)),
    "general autoencoder, six axes": (lambda: vae(AXES, True), AXES, (64,)),
    "MLP": (lambda: mlp(PHONE[0] * PHONE[1], CLASSES), PHONE, (64, 256)),
    "CNN, six axes": (lambda: cnn(*AXES, CLASSES), AXES, (64, 256)),
    "1-D CNN": (lambda: conv1d(PHONE[0], CLASSES), PHONE, (256,)),
}
WAYS = ("MKL", "oneDNN", "bfloat16")


def way(name):
    """Return a context in which PyTorch multiplies in this way, whatever the processor."""
    setting = torch.backends.mkldnn.matmul
    setting.fp32_precision = "bf16" if name == "oneDNN" else "none"
    return multiplying(torch.device("cpu"), "bfloat16" if name == "bfloat16" else "float32")


def loss(model, x, codes):
    """Return the loss of a batch: an autoencoder's or a classifier's."""
    if isinstance(model, PrivateVAE):
        x = x.flatten(1)
        return vae_loss(model(x), x, codes, beta=0.1, alpha=10.0).total
    return functional.cross_entropy(model(x).float(), codes)


def seconds(make, shape, batch, name):
    """Return the processor seconds of some updates."""
    torch.manual_seed(0)
    x, codes = torch.randn(batch, *shape), torch.randint(0, CLASSES, (batch,))
    model = seeded(make, 0).train()
    optimizer = adam(model.parameters(), Settings(device="cpu"))
    for update in range(UPDATES + 2):
        if update == 2:  # the first updates prepare memory
            begun = time.process_time()
        with way(name):
            found = loss(model, x, codes)
        optimizer.zero_grad(set_to_none=True)
        found.backward()
        optimizer.step()
    return time.process_time() - begun


def error(name):
    """Return the greatest error of a product of two matrices, as a share of the greatest value."""
    torch.manual_seed(0)
    left, right = torch.randn(512, 512), torch.randn(512, 512)
    exact = left.double() @ right.double()
    with way(name):
        return float((left @ right - exact).abs().max() / exact.abs().max())


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
    with by_onednn():
        library = "oneDNN" if torch.backends.mkldnn.matmul.fp32_precision == "bf16" else "MKL"
    choices = {"processor": here, "float32 by": library, "auto": faster_precision("cpu")}
    rows = [choices | {"what": "error of a product"} | {name: f"{error(name):.1e}" for name in WAYS}]
    for network, (make, shape, batches) in NETWORKS.items():
        for batch in batches:
            rounds = [{name: seconds(make, shape, batch, name) for name in WAYS} for _ in range(asked.rounds)]
            row = choices | {"what": f"{network}, batch {batch}"}
            row["ms"] = round(1000 / UPDATES * min(times["MKL"] for times in rounds), 1)
            for name in WAYS:
                row[name] = f"{statistics.median(times[name] / times['MKL'] for times in rounds):.2f}"
            rows.append(row)
            print(rows[-1], flush=True)
    if asked.full:
        path = RESULTS / "latent_precision.csv"
        known = pd.read_csv(path, dtype=str).query("processor != @here")  # other processors keep their lines
        table = pd.concat([known, pd.DataFrame(rows)], ignore_index=True)
        table.to_csv(path, index=False, lineterminator="\n")
        shown = table.astype(str).replace("nan", "").to_markdown(index=False, disable_numparse=True)
        (RESULTS / "latent_precision.md").write_text(
            "# Ways to multiply\n\n`python bench/latent_precision.py --full`: processor time of updates, as a multiple "
            f"of that of float32 by MKL in the same process, medians of {asked.rounds} rounds, 1 thread; ms: the least "
            "time of an update with MKL. `float32 by` and `auto`: what the library chooses here. The first line of a "
            "processor is the greatest error of a product of two matrices, 512 x 512, as a share of the greatest "
            "value: with 24 bits about 1e-6, with bfloat16 about 4e-3. The old lines of the Intel processor have "
            "neither. The last "
            f"lines: {machine()}\n\n{shown}\n"
        )


if __name__ == "__main__":
    main()
