"""Draw the committed figures of notebooks 11, 12 and 50 again from their committed tables, with today's charts.

    python bench/tools/redraw.py             # all of them
    python bench/tools/redraw.py '50_*'      # only some runs

A figure that changes only in its looks then needs no run of hours. The plane of notebook 10 shows every subset of a
search, which no table holds: it needs the run. Tables from before 2026-11 lack the columns of losses and the base of
the sweeps, which SHAP on all features gives; the script checks this against every relative effectiveness.
"""

import hashlib
import json
import sys
import tomllib
from fnmatch import fnmatchcase
from types import SimpleNamespace

import numpy as np
import pandas as pd

from compendium import datasets, show
from compendium.papers.paper1 import charts, curve_charts, published, text, values
from compendium.paths import RUN_FILE, figures_dir, project_root
from compendium.show import captions
from compendium.show.figures import render
from compendium.verdicts import earlier_runs
from sensorrelease.chart import frontier

FIGURES = figures_dir("paper")


def table(run, name):
    """Return a committed table."""
    return pd.read_csv(FIGURES / run / f"{name}.csv", true_values=["yes"], false_values=["no"])


def sweeps(run):
    """Return a run's sweeps with losses, and both players on all features with their chance levels."""
    swept, game = table(run, "sweeps"), run.replace("11_selection_methods", "10_reidentification_game")
    if "accuracy_loss" in swept:
        return swept, table(run, "base").iloc[0]
    shap = swept[swept["method"] == "shap_ratio"]
    whole, before = shap.loc[shap["n_features"].idxmax()], table(game, "base").iloc[0]
    base = pd.Series({name: whole[name] for name in ("accuracy", "identifiability")})
    rounded = [(round(base[name], 4) - swept[name].round(4)).round(4) for name in ("identifiability", "accuracy")]
    ratio = rounded[0] / rounded[1].where(rounded[1] != 0)
    known = pd.to_numeric(swept["relative_effectiveness"], errors="coerce")
    assert np.allclose(np.log(ratio.where(ratio > 0)), known, atol=1e-8, equal_nan=True), f"{run}: not the sweeps' base"
    swept["accuracy_loss"] = base["accuracy"] - swept["accuracy"]
    swept["identifiability_reduction"] = base["identifiability"] - swept["identifiability"]
    chances = {f"{name}_chance": before[f"{name}_chance"] for name in base.index}
    return swept, pd.concat([base, pd.Series(chances)])


def selection_methods(run, parameters):
    """Yield the figures of notebook 11, with what the captions name."""
    swept, base = sweeps(run)
    game, curves = run.replace("11_selection_methods", "10_reidentification_game"), published.published_curves()
    printed = curves[curves["dataset"] == parameters["dataset"]]
    size, users = int(table(game, "base")["n_test"].iloc[0]), int(table(game, "set")["users"].iloc[0])
    given = {"split": SimpleNamespace(test=np.empty(size)), "problem": SimpleNamespace(n_users=users)}
    yield "figure-1", curve_charts.tradeoff_pair(swept, printed), given
    yield "figure-2", curve_charts.method_panels(swept, printed), given
    yield "figure-2-compared", curve_charts.compared_panels(swept, printed), given
    yield "frontier", charts.frontier(swept, base), given
    yield "noise", charts.noise_panels(swept[swept["method"].isin(["dp_printed", "dp_sound"])], base), given


def game_summary(run, parameters):
    """Yield the figures of notebook 12."""
    stages = text.losses_and_reductions(earlier_runs.gather("paper", "10_reidentification_game-*", "preselection"))
    yield "advice", show.intervals_by_set(stages.assign(problem=stages["problem"].map(datasets.words))), {}
    curves, tested = published.published_curves(), published.curve_bases()["test_rows"]
    for one in values.ELSEWHERE:
        points, said = curves[curves["dataset"] == one], {"shown": datasets.words(one), "tested": tested[one]}
        yield f"figure-2-{one}", curve_charts.method_panels(printed=points), said
        yield f"figure-2-compared-{one}", curve_charts.compared_panels(printed=points), said


def one_game(run, parameters):
    """Yield the figure of notebook 50."""
    judged, hidden = table(run, "defences"), parameters["user"]
    yield "frontier", frontier(judged, "user" if hidden == "subject" else hidden), {"shown": judged}


NOTEBOOKS = {
    "11_selection_methods": selection_methods,
    "12_game_summary": game_summary,
    "50_one_game": one_game,
}


def redraw(run):
    """Draw a run's figures, and note their digests in its record."""
    record = json.loads((FIGURES / run / RUN_FILE).read_text(encoding="utf-8"))
    notebook, parameters = record["notebook"], record["parameters"]
    path = project_root() / "notebooks" / "captions" / f"{notebook}.toml"
    words = tomllib.loads(path.read_text(encoding="utf-8"))
    known = parameters | {"data_set": datasets.words(str(parameters.get("dataset", "")))}
    for name, fig, given in NOTEBOOKS[notebook](run, parameters):
        entry = {"about": words["about"]} | words["figure"][name]
        png = render(fig, *(captions._filled(entry[key], known | given) for key in ("title", "about")))
        (FIGURES / run / f"{name}.png").write_bytes(png)
        record["files"][f"{name}.png"] = hashlib.sha256(png).hexdigest()
    record["files"] = dict(sorted(record["files"].items()))
    (FIGURES / run / RUN_FILE).write_text(
        json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    patterns = sys.argv[1:] or ["*"]
    for folder in sorted(FIGURES.glob("*_*")):
        notebook = next((one for one in NOTEBOOKS if folder.name.startswith(one)), None)
        if notebook and any(fnmatchcase(folder.name, pattern) for pattern in patterns):
            redraw(folder.name)
            print(folder.name)
