"""Let anonymeter attack what `publish` writes, and set its three risks beside the numbers of our card.

Half of the rows are published; the others are anonymeter's control. It needs NumPy below 2, so it runs in an
environment of its own:

    python3 -m venv build/anonymeter && build/anonymeter/bin/pip install anonymeter
    python bench/anonymeter_witness.py --sets iot-23 --attacks 200    # minutes; writes bench/results
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
OUTSIDE = HERE.parent / "build" / "anonymeter" / "bin" / "python"
TABLE = HERE / "results" / "anonymeter_witness.csv"
WORDS = ("minimize:threshold=.01", "threeway:epsilon=4", "noise:epsilon=4", "method:pca")
ROWS = 4000


def attack(folder: Path, attacks: int) -> dict[str, float]:
    """Run the three attacks of anonymeter, in its environment, and return each risk with its interval."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    original, published, control = (
        pd.read_csv(folder / f"{name}.csv") for name in ("original", "published", "control")
    )
    names, task = [name for name in original if name != "task"], "task"
    options = {"ori": original, "syn": published, "control": control, "n_attacks": attacks}
    half = max(1, len(names) // 2)
    found = {}
    for name, make in {
        "singling out": lambda: SinglingOutEvaluator(**options, n_cols=min(3, len(names))).evaluate("multivariate"),
        "linkability": lambda: LinkabilityEvaluator(**options, aux_cols=(names[:half], [*names[half:], task])).evaluate(
            1
        ),
        "inference": lambda: InferenceEvaluator(
            **options, aux_cols=[*names[:-1], task], secret=names[-1], regression=True
        ).evaluate(1),
    }.items():
        try:
            risk = make().risk()
            found |= {name: risk.value, f"{name}, low": risk.ci[0], f"{name}, high": risk.ci[1]}
        except Exception as error:  # anonymeter refuses some tables, such as those of one column
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    return found


def witness(name: str, word: str, attacks: int) -> dict[str, object]:
    """Publish half of a data set, let anonymeter attack it, and return its risks and our numbers as a row."""
    from compendium.datasets import registry
    from sensorrelease.publishing.tables import publish
    from sensorrelease.schema import Constraints, draft
    from sensorrelease.words import parse

    if name == "adult":
        table = registry.table(name, "as_stated").rename(columns={"class": "task", "sex": "user"}).dropna()
        table = table.assign(task=table["task"].str.strip(" ."))
    else:
        problem = registry.problem(name)
        table = problem.features.assign(task=problem.task.astype(str), user=problem.users.astype(str))
    table = table.sample(min(ROWS, len(table)), random_state=0, ignore_index=True)
    texts = table.drop(columns=["task", "user"]).select_dtypes(exclude="number").columns
    table[texts] = table[texts].apply(lambda column: column.astype("category").cat.codes)
    known, others = table.iloc[: len(table) // 2], table.iloc[len(table) // 2 :]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        features = list(table.columns.difference(["task", "user"], sort=False))
        drafted = draft(known, "task", "user", identifying=True)
        ends = {name: {"minimum": float(known[name].min()), "maximum": float(known[name].max())} for name in features}
        kept = {"role": "feature", "type": "number", "step": 1e-9}
        fields = [
            one.model_copy(update=kept | {"constraints": Constraints(**ends[one.name])}) if one.name in ends else one
            for one in drafted.fields
        ]
        schema = drafted.model_copy(update={"fields": fields})
        how = {"schema": schema, "accept_draft": True, "although_identifying": True}
        card = publish(known, defence=word, out=folder / "out", **how)
        published = pd.read_csv(folder / "out" / "data.csv")
        halves = {"original": known, "control": others}
        if not set(published) <= set(known):  # components: what whoever has the transformation computes
            step = parse(word).make(0).fit(known[features], known["task"])
            halves = {
                half: pd.DataFrame(step.transform(rows[features]), columns=step.get_feature_names_out()).assign(
                    task=rows["task"].to_numpy()
                )
                for half, rows in halves.items()
            }
        for half, rows in halves.items():
            rows[list(published)].to_csv(folder / f"{half}.csv", index=False)
        published.to_csv(folder / "published.csv", index=False)
        command = [str(OUTSIDE), __file__, "--inside", str(folder), "--attacks", str(attacks)]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
    print(said.stderr[-2000:], file=sys.stderr)
    matched = {one["by"]: one["share"] for one in card.facts["matched"]["attacks"]}
    users = [one for one in card.facts["measured"] if one["about"] == "user user" and one["data"] == "published"]
    row = {"set": name, "defence": word, "rows": len(known), "attacks": attacks, "columns": len(features)}
    row |= json.loads(said.stdout.splitlines()[-1])
    row |= {f"card: {by}": share for by, share in matched.items()}
    return row | {"card: strongest attack on the user": max(one["score"] for one in users)}


def main() -> None:
    """Attack each release, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["smartwatch", "iot-23", "adult"])
    parser.add_argument("--words", nargs="+", default=WORDS)
    parser.add_argument("--attacks", type=int, default=200)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(
            json.dumps(
                {name: float(np.round(value, 4)) for name, value in attack(options.inside, options.attacks).items()}
            )
        )
        return
    for name in options.sets:
        for word in options.words:
            row = witness(name, word, options.attacks)
            print(row, flush=True)
            before = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=["set", "defence"])
            same = (before["set"] == name) & (before["defence"] == word)
            pd.concat([before[~same], pd.DataFrame([row])]).to_csv(TABLE, index=False)


if __name__ == "__main__":
    main()
