"""How much spectral noise to add, and whether to use a second reader: activity kept on validation windows.

Paper 3's autoencoders publish smooth windows, which a convolutional network trained on raw ones misreads. The networks
are those of notebook 31 in the paper profile, and are trained only if they do not exist yet. Test windows are not used.

    python bench/latent_spectral_noise.py            # a look
    python bench/latent_spectral_noise.py --full     # writes the results
"""

import argparse
from pathlib import Path

import pandas as pd
import torch

from compendium.studies import prepare
from sensorprivacy.latent import Codebook, Donor, SeededSource, Transport, activity_kept

RESULTS = Path(__file__).resolve().parent / "results"
AMOUNTS = (0.0, 0.3, 0.5, 0.7, 0.9)


def main():
    """Measure each transfer with each amount of noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    study = prepare("motionsense", "gender", epochs=asked.epochs)
    models = [study.independent_model(kind) for kind in ("mlp", "conv1d")]
    paper = study.anonymizer(study.inference_models(), modify="uniform", redraw=20)
    readers = {"none": None, "conv1d": study.second_reader("conv1d")}
    rows = []
    for transfer in (Transport(0.7), Codebook(32), Donor()):
        for reader, model in readers.items():
            for amount in AMOUNTS if reader != "none" else (0.0, 0.5):
                one = paper.with_(transfer=transfer, spectral_noise=amount, second_reader=model)
                kept = activity_kept(
                    {"it": lambda windows, one=one: one.transform(windows, SeededSource(0))}, models, study.validation
                ).loc["it"]
                shares = (
                    kept[["activity", "by mlp", "by conv1d", "worst", "distortion"]].astype(float).round(4).to_dict()
                )
                rows.append({"transfer": transfer.name, "second_reader": reader, "spectral_noise": amount} | shares)
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    if asked.full:
        table.to_csv(RESULTS / "latent_spectral_noise.csv", index=False, lineterminator="\n")
        (RESULTS / "latent_spectral_noise.md").write_text(
            "# How much spectral noise to add\n\n`python bench/latent_spectral_noise.py --full`: accuracy on the "
            "activity of models that no anonymizer uses, "
            f"on MotionSense's validation windows ({asked.epochs} epochs, seed 0). Notebook 31 takes "
            f"the amount that keeps most of it.\n\n{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
