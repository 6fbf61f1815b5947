"""Attack releases of other people's windows, by who is missing among the donors.

Releases of other people's windows (*random training window*, *donor*, codebooks) leave the person out. An attacker who
recognizes donors counts who is missing. `own` allows the person's own windows too: if they are as likely as others, a
publication depends on the person no more than on anybody else. Synthetic latents have no donor.

Networks and settings are those of notebook 31 in the paper profile; networks are trained only if they do not exist yet.
The two attackers count codes, see `latent.adversaries.Mechanism`. One looks for the private attribute, one
for the person.

    python bench/missing_donor.py --only smartwatch
    python bench/missing_donor.py --full                 # all sets; writes the results
"""

import argparse
import inspect
from pathlib import Path

import pandas as pd

from compendium.run.runs import read_runs
from compendium.studies import prepare
from sensorprivacy.game import attack_all
from sensorprivacy.latent import Codebook, Donor, attackers, scenes
from sensorprivacy.latent.releases import moved, trivial, unrandomized
from sensorprivacy.latent.study import prepare as prepare_windows

RESULTS = Path(__file__).resolve().parent / "results"
RUNS = {
    "motionsense": "31_reidentification_attack-motionsense-gender",
    "smartwatch": "31_reidentification_attack-smartwatch-side-tail",
    "mobifall": "31_reidentification_attack-mobifall-weight-raw",
}
LEVELS = ["recording", "person"]
COLUMNS = ["set", "release", "about", "level", "attacker", "score", "low", "high", "chance", "n"]


def releases(study, paper, values):
    """Return the releases to compare, by name."""
    reader = values.get("second_reader", "none")
    late = {"redraw": 20, "second_reader": study.second_reader(reader) if reader != "none" else None}
    found = {"raw": unrandomized(lambda windows: windows, trivial=True)}
    found["random training window"] = trivial(paper, study.train)["random training window"]
    cells = values["cells"][0]
    for own in (False, True):
        ours = moved(paper, [Donor(own=own), Codebook(cells, own=own)], **late)
        found |= {f"{name}, own too" if own else name: release for name, release in ours.items()}
    return found | moved(paper, [Donor(synthetic=True), Codebook(cells, synthetic=True)], **late)


def measure(name):
    """Attack the releases of a set, and return the stronger of the two attackers for each attribute and level."""
    values = read_runs()[RUNS[name]].values("paper")
    named = {"dataset", "private", "channels", *inspect.signature(prepare_windows).parameters}
    study = prepare(**{key: values[key] for key in named & values.keys()})
    paper = study.anonymizer(study.inference_models())
    adversaries = attackers(names=["recovers the code", "recovers the code, identity"])
    parts = study.train, study.test, study.private
    table = attack_all(scenes(releases(study, paper, values), *parts, anonymizer=paper), adversaries).table
    table = table[table["level"].isin(LEVELS)].sort_values("score", kind="stable", ascending=False)
    best = table.drop_duplicates(["release", "about", "level"]).assign(set=name)
    return best.sort_values(["about", "level", "score"], ascending=[False, False, True])[COLUMNS]


def main():
    """Measure the sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all sets; write the results")
    parser.add_argument("--only", choices=RUNS, default="smartwatch")
    asked = parser.parse_args()
    parts = []
    for name in RUNS if asked.full else [asked.only]:
        parts.append(measure(name).round(4))
        print(parts[-1].to_string(index=False), flush=True)
    if asked.full:
        table = pd.concat(parts)
        table.to_csv(RESULTS / "missing_donor.csv", index=False, lineterminator="\n")
        report(table)


def report(table):
    """Write the page: who is identified from a whole recording."""
    own = table.query("about == 'subject' and level == 'recording'")
    shown = [f"{row.score:.2f} [{row.low:.2f}, {row.high:.2f}]" for row in own.itertuples()]
    sets = own["set"] + ", chance " + own["chance"].round(2).astype(str)
    cells = own.assign(shown=shown, sets=sets).pivot_table(
        index="release", columns="sets", values="shown", aggfunc="first"
    )
    (RESULTS / "missing_donor.md").write_text(
        "# Whoever is never among the published people can be identified\n\n`python bench/missing_donor.py "
        "--full`: networks and settings of notebook 31 in the paper profile. Share of recordings whose person the "
        "stronger of two attackers that count codes identifies, with 95 % intervals over people. *own too*: a person's "
        "own windows may be published. Other levels and attributes are in `missing_donor.csv`.\n\n"
        f"{cells.sort_values(cells.columns[0]).reset_index().to_markdown(index=False)}\n"
    )


if __name__ == "__main__":
    main()
