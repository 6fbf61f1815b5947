"""How much of the lost detail to fill in with noise, and whether to ask a witness: activity kept on validation windows.

Paper 3's autoencoders publish smooth windows, and a convolutional judge trained on raw ones misreads them. Networks are
those of notebook 31 in the paper profile (taken up where they are trained); nothing here looks at test windows.

    python bench/latent_detail.py            # a look
    python bench/latent_detail.py --full     # writes the results
"""

import argparse
from pathlib import Path

import pandas as pd
import torch

from sensorprivacy.latent import Codebook, Donor, SeededSource, Transport
from sensorprivacy.latent.frontier import activity_kept
from sensorprivacy.latent.study import prepare

RESULTS = Path(__file__).resolve().parent / "results"
DETAILS = (0.0, 0.3, 0.5, 0.7, 0.9)


def main():
    """Judge each transfer with each share of the detail."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    study = prepare("motionsense", "gender", epochs=asked.epochs)
    judges = [study.judge(kind) for kind in ("mlp", "conv1d")]
    paper = study.anonymizer(study.guesses(), modify="uniform", redraw=20)
    readers = {"none": None, "conv1d": study.witness("conv1d")}
    rows = []
    for transfer in (Transport(0.7), Codebook(32), Donor()):
        for witness, model in readers.items():
            for detail in DETAILS if witness != "none" else (0.0, 0.5):
                one = paper.with_(transfer=transfer, detail=detail, witness=model)
                kept = activity_kept(
                    {"it": lambda windows, one=one: one.transform(windows, SeededSource(0))}, judges, study.validation
                ).loc["it"]
                shares = kept[["activity", "by mlp", "by conv1d", "worst", "distortion"]].round(4).to_dict()
                rows.append({"transfer": transfer.name, "witness": witness, "detail": detail} | shares)
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    if asked.full:
        table.to_csv(RESULTS / "latent_detail.csv", index=False, lineterminator="\n")
        (RESULTS / "latent_detail.md").write_text(
            "# How much detail to fill in\n\n`python bench/latent_detail.py --full`: activity told by judges that no "
            f"anonymizer uses, on MotionSense's validation windows ({asked.epochs} epochs, seed 0). Notebook 31 takes "
            f"the share that keeps most of it.\n\n{table.to_markdown(index=False)}\n"
        )


if __name__ == "__main__":
    main()
