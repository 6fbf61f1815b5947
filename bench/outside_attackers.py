"""Attack releases with common models, and compare the best of them with the strongest attack that the card states.

Extra trees, boosting, logistic regression, 1 and 15 nearest rows of scikit-learn learn from the released training rows,
as the card's attackers do. "before" is the card without the tuned model. An attack is outside if its score exceeds the
upper end of the card's interval.

    python bench/outside_attackers.py           # IoT-23, three releases
    python bench/outside_attackers.py --full    # three tables, two sets of recordings; writes bench/results
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compendium import datasets
from compendium.paths import mirror
from compendium.studies import prepare_for
from sensorprivacy.data import Problem
from sensorprivacy.game import TABLE_ATTACKERS, TableScene, attack
from sensorprivacy.game.outcome import Attack, strongest
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import TASK, as_numbers, with_task
from sensorrelease import Defence, parse
from sensorrelease.checks import split_of
from sensorrelease.tables import own_problem
from sensorrelease.windows import WindowsGame, windows_game

HERE = Path(__file__).resolve().parent
WORDS = ("none", "minimize", "minimize+noise:threshold=.03,epsilon=16", "noise:epsilon=16", "threeway:epsilon=4")
WORDS += ("method:pca", "method:shap_ratio", "prediction")
ROWS = 3000
OUTSIDE = {
    "extra trees": ExtraTreesClassifier(100, random_state=1),
    "extra trees, 3 rows in a leaf": ExtraTreesClassifier(100, min_samples_leaf=3, random_state=1),
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=1),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "1 nearest row": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "15 nearest rows": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
}
ADULT = "age workclass fnlwgt education education_num marital occupation relationship race sex gain loss hours country "


def adult() -> Problem:
    """Return census rows: the income is the task, the occupation is hidden."""
    names = (ADULT + "income").split()
    folder = mirror()
    assert folder is not None, "set SENSORPRIVACY_MIRROR to a folder with the sets of paper 2"
    table = pd.read_csv(folder / "adult" / "adult.data", header=None, names=names, skipinitialspace=True)
    return own_problem(table.sample(ROWS, random_state=0), task="income", user="occupation")


def set_of(name: str) -> Problem:
    """Return a table of the compendium, at most `ROWS` rows of it if they are independent."""
    whole = datasets.problem(name)
    if whole.groups is not None and name != "iot-23":
        return whole
    rows = np.sort(np.random.default_rng(0).choice(whole.n_records, ROWS, replace=False))
    features = whole.features.iloc[rows].reset_index(drop=True)
    return Problem(features, whole.task.to_numpy()[rows], whole.users.to_numpy()[rows], name=name)


TABLES: dict[str, Callable[[], Problem]] = {
    "iot-23": lambda: set_of("iot-23"),
    "adult": adult,
    "smartwatch": lambda: set_of("smartwatch"),
}
RECORDINGS = {"motionsense": "recordings", "mobifall": "tail"}  # on MobiFall, nobody repeats an activity
OF_TABLES = ("none", "minimize:threshold=.01,preselect=7", "noise:epsilon=16", "threeway:epsilon=4", "method:pca")
OF_WINDOWS = ("shift, probabilistic", "codebook 8, synthetic", "guaranteed, per recording")


def recordings(name: str) -> WindowsGame:
    """Return the windows of a set, at most twelve of each recording in each part."""
    training = {"most": 12, "epochs": 10, "inference_epochs": 10, "batch": 32, "seed": 0}
    protocol = {"dataset": name, "private": "subject", "scheme": RECORDINGS[name], "channels": "raw"}
    return windows_game(prepare_for(protocol | training), ends=RECORDINGS[name] == "tail")


def releases(name: str, tables: Sequence[str]) -> Iterator[tuple[Problem, Split, Defence]]:
    """Yield the releases of a set, with what they are releases of."""
    if name in TABLES:
        problem = replace(TABLES[name](), name=name)
        yield from ((problem, split_of(problem, None, 42, None), parse(word)) for word in tables)
        return
    game = recordings(name)
    of_windows = [one for one in game.defences if one.name in OF_WINDOWS]
    for one in [*map(parse, OF_TABLES), *of_windows]:
        yield replace(game.problem, name=name), game.split, one


def model_of(model: Any) -> Callable[[TableScene], np.ndarray]:
    """Return an attacker that trains a model on the released rows."""

    def predict(scene: TableScene) -> np.ndarray:
        matrix = scene.table.to_numpy(float)
        return np.asarray(model.fit(matrix[scene.train], scene.known).predict_proba(matrix[scene.held]))

    return predict


def best(found: list[Attack], level: str) -> Attack:
    """Return the strongest attack at a level, with the interval that allows for the choice."""
    return strongest([one for one in found if one.level == level])


def row(problem: Problem, split: Split, defence: Defence) -> dict[str, Any]:
    """Attack one release from inside and from outside."""
    problem, began = problem.filled(split.train), time.process_time()
    released = defence.publish(problem, split.train, 42)
    fitted = time.process_time()
    forest = RandomForestClassifier(random_state=42)
    scene = TableScene(problem, as_numbers(released.values), split, forest, released.codes)
    if released.with_task:
        known = with_task(problem)
        scene = replace(scene, problem=known, table=scene.table.assign(**{TASK: known.features[TASK]}))
    levels = ["row"] if split.groups is None else ["group"]
    old = {name: one for name, one in TABLE_ATTACKERS.items() if name != "tuned model"}
    inside = attack(scene, old, levels=levels, draws=0)
    middle = time.process_time()
    more = attack(scene, {"tuned model": TABLE_ATTACKERS["tuned model"]}, levels=levels, draws=0)
    ended = time.process_time()
    before, card = best(inside, levels[0]), best(inside + more, levels[0])
    outside = attack(scene, {name: model_of(one) for name, one in OUTSIDE.items()}, levels=levels, draws=0)
    top = max(outside, key=lambda one: one.measure.score)
    found = {"table": problem.name, "release": defence.name, "n": f"{card.measure.n} {card.measure.unit}"}
    found |= {"before": before.measure.score, "before_high": before.measure.high, "card": card.measure.score}
    found |= {"low": card.measure.low, "high": card.measure.high, "attacker": card.attacker}
    found |= {"outside": top.measure.score, "model": top.attacker}
    found |= {name: bool(top.measure.score > end) for name, end in (("outside_before", before.measure.high),)}
    found["outside_now"] = bool(top.measure.score > card.measure.high)
    return found | {"publish_s": fitted - began, "before_s": middle - fitted, "tuned_s": ended - middle}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="all sets and all releases")
    parser.add_argument("--tables", nargs="*", default=[*TABLES, *RECORDINGS], help="only these sets")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "outside_attackers.csv", help="with --full")
    chosen, rows = parser.parse_args(), []
    warnings.simplefilter("ignore")
    for name in chosen.tables if chosen.full else ["iot-23"]:
        for release in releases(name, WORDS if chosen.full else ("threeway:epsilon=4", "method:pca", "none")):
            rows.append(row(*release))
            print(pd.Series(rows[-1]).to_frame().T.to_string(index=False, header=len(rows) == 1), flush=True)
            if chosen.full:
                pd.DataFrame(rows).round(4).to_csv(chosen.out, index=False)


if __name__ == "__main__":
    main()
