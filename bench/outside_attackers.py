"""Attack releases with attackers that the card lacks, and compare the best of them with the strongest on the card.

Models of scikit-learn, and LightGBM if it is installed, learn from the released training and validation rows; others
from statistics of whole groups, and from original rows beside the released ones. A matcher pairs rows that occur a
number of times of their own, and regresses once. An attack is outside if its score exceeds the upper end of the card's
interval. ``outside`` is the best of all on the test rows: a maximum of ten scores, which is high by chance. ``blind``
is the one that is best on the validation rows, as an attacker chooses who cannot see the answers.

    python bench/outside_attackers.py           # IoT-23, three releases
    python bench/outside_attackers.py --full    # three tables, two sets of recordings; writes bench/results
"""

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from compendium import datasets
from compendium.paths import mirror
from compendium.studies import prepare
from sensorprivacy.data import Problem
from sensorprivacy.game import RELEASE_ATTACKERS, TABLE_ATTACKERS, TableScene, attack
from sensorprivacy.game.joins import strongest_match
from sensorprivacy.game.outcome import Attack, strongest
from sensorprivacy.game.splits import Split
from sensorprivacy.game.tables import TASK, as_numbers, with_task
from sensorprivacy.game.units import difference
from sensorrelease import Defence, parse
from sensorrelease.checks import identifying, split_of
from sensorrelease.publishing.matching import compared
from sensorrelease.tables import own_problem
from sensorrelease.windows import WindowsGame, windows_game

HERE = Path(__file__).resolve().parent
WORDS = ("none", "minimize", "minimize+noise:threshold=.03,epsilon=16", "noise:epsilon=16", "threeway:epsilon=4")
WORDS += ("method:pca", "method:shap_ratio", "prediction", "round:digits=2")
ROWS = 3000
OUTSIDE = {
    "extra trees": ExtraTreesClassifier(100, random_state=1),
    "extra trees, 3 rows in a leaf": ExtraTreesClassifier(100, min_samples_leaf=3, random_state=1),
    "boosting": HistGradientBoostingClassifier(max_iter=50, l2_regularization=1, random_state=1),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "1 nearest row": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "15 nearest rows": make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
}
FEW_COLUMNS = 50  # with more, gradient boosting takes minutes
SLOW = {"gradient boosting": GradientBoostingClassifier(n_estimators=20, subsample=0.5, random_state=1)}
if importlib.util.find_spec("lightgbm"):
    from lightgbm import LGBMClassifier

    SLOW["LightGBM"] = LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1, random_state=1)
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
    return windows_game(prepare(**protocol, **training), ends=RECORDINGS[name] == "tail")


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


def labelled(scene: TableScene) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows whose users an attacker knows: training rows, and validation rows if these are not attacked."""
    users = scene.problem.users.to_numpy()
    rows = scene.train
    if scene.parts == ("test",):
        rows = np.concatenate([rows, scene.split.validation])
        rows = rows[np.isin(users[rows], users[scene.train])]
    return rows, users[rows]


def model_of(model: Any) -> Callable[[TableScene], np.ndarray]:
    """Return an attacker that trains a model on the released rows."""

    def predict(scene: TableScene) -> np.ndarray:
        matrix, (rows, known) = scene.table.to_numpy(float), labelled(scene)
        return np.asarray(model.fit(matrix[rows], known).predict_proba(matrix[scene.held]))

    return predict


def of_groups(scene: TableScene) -> np.ndarray | None:
    """Learn from mean, deviation and quantiles of whole groups, as networks on whole recordings do."""
    if scene.split.groups is None:
        return None
    rows, known = labelled(scene)
    table = pd.DataFrame(scene.table.to_numpy(float))

    def whole(some: np.ndarray) -> pd.DataFrame:
        by = table.iloc[some].groupby(scene.split.groups[some])
        parts = [by.mean(), by.std(ddof=0), *(by.quantile(share) for share in (0.1, 0.5, 0.9))]
        return pd.concat(parts, axis=1, keys=range(5))

    users = pd.Series(known).groupby(scene.split.groups[rows]).first()
    model = ExtraTreesClassifier(300, random_state=1).fit(whole(rows).to_numpy(), users)
    attacked = whole(scene.held)
    answers = pd.DataFrame(model.predict_proba(attacked.to_numpy()), attacked.index, model.classes_)
    classes = np.unique(scene.known)
    return answers.reindex(columns=classes, fill_value=0).loc[scene.split.groups[scene.held]].to_numpy()


def with_originals(scene: TableScene) -> np.ndarray | None:
    """Look for the nearest of released and of original training rows, over the columns that keep their names."""
    if not scene.shared:
        return None
    rows, known = labelled(scene)
    raw, shown = (table[scene.shared].to_numpy(float) for table in (scene.problem.features, scene.table))
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance"))
    model.fit(np.concatenate([shown[rows], raw[rows]]), np.concatenate([known, known]))
    return np.asarray(model.predict_proba(shown[scene.held]))


def matched_by_frequency(raw: np.ndarray, shown: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows that one regression finds, on rows that occur a number of times of their own."""
    tables = [pd.DataFrame(some).round(12).assign(label=labels) for some in (raw, shown)]
    codes = [table.groupby(list(table), sort=False).ngroup().to_numpy() for table in tables]
    first = [np.unique(code, return_index=True)[1] for code in codes]
    often = [pd.Series(list(zip(labels[at], np.bincount(c), strict=True))) for at, c in zip(first, codes, strict=True)]
    once = [some[~some.duplicated(keep=False)] for some in often]
    pairs = [(a, b) for a, key in once[0].items() for b, other in once[1].items() if key == other]
    if len(pairs) < 2:
        return 0.0
    one, other = np.array(pairs).T
    values, goal = (StandardScaler().fit_transform(some)[at] for some, at in zip((raw, shown), first, strict=True))
    for _ in range(2):
        gaps, near = KDTree(goal).query(LinearRegression().fit(values[one], goal[other]).predict(values))
        one = np.flatnonzero(gaps[:, 0] <= np.median(gaps))
        other = near[one, 0]
    return float((near[:, 0] == codes[1][first[0]]).sum() / len(raw))


def best(found: list[Attack], level: str) -> Attack:
    """Return the strongest attack at a level, with the interval that allows for the choice."""
    return strongest([one for one in found if one.level == level])


def row(problem: Problem, split: Split, defence: Defence) -> dict[str, Any]:
    """Attack one release from inside and from outside."""
    problem, began = problem.filled(split.train), time.process_time()
    released = defence.publish(problem, split.train, 42)
    fitted = time.process_time()
    forest = RandomForestClassifier(random_state=42)
    values = as_numbers(released.values)
    scene = TableScene(problem, values, split, forest, released.codes, identifying=identifying(problem))
    if released.with_task:
        known = with_task(problem)
        scene = replace(scene, problem=known, table=scene.table.assign(**{TASK: known.features[TASK]}))
    levels = ["row"] if split.groups is None else ["group"]
    old = attack(scene, TABLE_ATTACKERS, levels=levels, draws=0)
    middle = time.process_time()
    more = {name: one for name, one in RELEASE_ATTACKERS.items() if name not in TABLE_ATTACKERS}
    new = attack(scene, more, levels=levels, draws=0)
    ended = time.process_time()
    before, card = best(old, levels[0]), best(old + new, levels[0])
    slow = SLOW if scene.table.shape[1] <= FEW_COLUMNS else {}
    models: dict[str, Any] = {name: model_of(one) for name, one in (OUTSIDE | slow).items()}
    models |= {"statistics of groups": of_groups, "nearest with originals": with_originals}
    outside = attack(scene, models, levels=levels, draws=0)
    checked = attack(replace(scene, parts=("validation",)), models, levels=levels, draws=0)
    top, chosen = (max(some, key=lambda one: one.measure.score) for some in (outside, checked))
    blind = next(one for one in outside if one.attacker == chosen.attacker)
    gap = difference(blind.right, card.right, card.clusters)
    found = {"table": problem.name, "release": defence.name, "n": f"{card.measure.n} {card.measure.unit}"}
    found |= {"chance": card.measure.chance, "before": before.measure.score, "before_high": before.measure.high}
    found |= {"card": card.measure.score, "low": card.measure.low, "high": card.measure.high}
    found |= {"attacker": card.attacker, "outside": top.measure.score, "model": top.attacker}
    found |= {"blind": blind.measure.score, "blind_model": blind.attacker, "blind_gap": gap.value}
    found |= {"gap_low": gap.low, "gap_high": gap.high}
    found |= {"outside_before": bool(top.measure.score > before.measure.high)}
    found |= {"outside_now": bool(top.measure.score > card.measure.high)} | matching(problem, released)
    return found | {"publish_s": fitted - began, "before_s": middle - fitted, "more_s": ended - middle}


def matching(problem: Problem, released: Any) -> dict[str, Any]:
    """Return the strongest match of the card, and the one from outside."""
    labels = problem.task.to_numpy()
    inside = strongest_match(compared(problem, released, with_task=released.with_task, seed=42, rows=1000))
    assert inside is not None
    raw, shown = (as_numbers(table).to_numpy() for table in (problem.features, released.values))  # noqa: PD011 (released)
    codes = pd.factorize(labels if released.with_task else np.zeros(len(labels)))[0]
    share = matched_by_frequency(raw, shown, codes)
    return {"matched": inside.share, "matched_high": inside.high, "matched_by": inside.by, "matched_outside": share}


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
