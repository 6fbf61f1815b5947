"""Our transformations against the strongest attackers: activity kept, and what a vote over a recording tells.

The frontier of notebook 31 in the paper profile for our transformations alone, without the rivals and the paper's 20
runs, which take most of that notebook's hour. Networks are taken up where notebook 30 has trained them. Rows are
written as they come.

    python bench/latent_frontier.py --epochs 12 --attack-epochs 3    # a look
    python bench/latent_frontier.py --full                           # writes the results
"""

import argparse
from pathlib import Path

import pandas as pd
import torch

from forest_cases import machine
from sensorprivacy.latent import Chain, Codebook, Donor, Settings, Transport, attackers
from sensorprivacy.latent.frontier import activity_kept, attack_all, strongest
from sensorprivacy.latent.study import prepare

RESULTS = Path(__file__).resolve().parent / "results"
ATTACKED = ("paper's", "no dropout", "averages 8 anonymizations", "1-D CNN")


def main():
    """Attack each of our transformations, then judge the activity that each keeps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="write the results")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--attack-epochs", type=int, default=20)
    parser.add_argument("--details", type=float, nargs="+", default=[0.5, 0.3])
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    study = prepare("motionsense", "gender", epochs=asked.epochs)
    paper = study.anonymizer(study.guesses())
    judges = [study.judge(kind) for kind in ("mlp", "conv1d")]
    ours = {"modify": "uniform", "redraw": 20, "witness": study.witness("conv1d")}
    adversaries = attackers("mlp", Settings(epochs=asked.attack_epochs, batch=512, precision="bfloat16"))
    adversaries = [one for one in adversaries if one.name in ATTACKED]
    releases = {"raw": Chain([]).transform, "paper's, probabilistic": paper.with_(modify="probabilistic").transform}
    for detail in asked.details:
        for transfer in (Codebook(32), Donor(), Transport(0.7)):
            one = paper.with_(transfer=transfer, detail=detail, **ours)
            releases[f"{transfer.name}, detail {detail:g}"] = one.transform
    kept, attacks = [], []
    for name, release in releases.items():
        kept.append(activity_kept({name: release}, judges, study.test))
        if name != "raw":
            attacks.append(attack_all({name: release}, adversaries, study.train, study.test, "gender", progress=False))
        table = pd.concat(kept)
        if attacks:
            table = table.join(strongest(pd.concat(attacks, ignore_index=True)))
        print(table.tail(1).to_string(), flush=True)
        if asked.full:
            write(table, pd.concat(attacks, ignore_index=True) if attacks else pd.DataFrame(), asked)


def write(table, attacks, asked):
    """Write what there is so far."""
    table = table.astype({"activity": float}).round(4)
    table.to_csv(RESULTS / "latent_frontier.csv", lineterminator="\n")
    attacks.to_csv(RESULTS / "latent_frontier_attacks.csv", index=False, lineterminator="\n", float_format="%.4f")
    (RESULTS / "latent_frontier.md").write_text(
        "# Our transformations against the strongest attackers\n\n`python bench/latent_frontier.py --full`: "
        f"MotionSense, gender, test windows, seed 0, autoencoders of {asked.epochs} epochs, one run of each of "
        f"{', '.join(ATTACKED)}, {asked.attack_epochs} epochs. activity: mean of two judges that no anonymizer uses; "
        f"vote: the strongest attacker's, over a recording. {machine()}\n\n{table.to_markdown(floatfmt='.3f')}\n"
    )


if __name__ == "__main__":
    main()
