"""A table of one's own goes through the game and its methods."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from compendium.paths import figures_dir
from compendium.run import execute as batch
from compendium.run.parameters import ParameterError, read_parameters, resolve


@pytest.fixture
def home(tmp_path, root, monkeypatch):
    """Return a checkout that shares all but its results with this one."""
    for name in ("notebooks", "data", "lib", "runs.yaml", "Snakefile"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_table_of_which_no_column_gets_noise_is_divided(home, tmp_path):
    """Its loop has no round. Notebook 21 ended with an error of NumPy's in the picture of the loop."""
    rows = [f"p{k % 6},{20 + k % 9},{k * 7 % 13}" for k in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["owner,age,kwh", *rows]))
    given = {"dataset": str(tmp_path / "mine.csv"), "user": "owner"}
    done = batch.run(home / "notebooks" / "21_threeway_division.ipynb", given)
    folder = figures_dir("own") / done.output.stem
    assert pd.read_csv(folder / "drawn" / "privacy-loop.csv").empty
    assert f"Files of this run: figures/own/{folder.name}/" in done.output.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("notebook", ["10_reidentification_game", "11_selection_methods"])
def test_a_table_of_ones_own_is_played(notebook, home, tmp_path):
    draw, path = np.random.default_rng(0), tmp_path / "mine.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["load", "place", "floor", "works", "who", "trip"])
        for trip in range(40):  # a trip has one place, one floor and one person
            place, floor = draw.normal(size=2)
            for works in draw.integers(2, size=10):
                rows.writerow([works + draw.normal(0, 0.2), place, floor, works, trip % 4, trip])
    columns = {"task": "works", "user": "who", "groups": "trip"}
    # each value of place and floor belongs to one person: such columns are left out unless they are asked for
    given = {"dataset": str(path), "trees": 5, "shap_rows": 10, "keep": ["place", "floor"], **columns}
    given |= {"most": 2} if notebook.startswith("11") else {}
    done = batch.run(home / "notebooks" / f"{notebook}.ipynb", given)
    assert done.output.stem.startswith(f"{notebook}-mine-")
    folder = figures_dir("own") / done.output.stem
    record = json.loads((folder / "run.json").read_text())
    assert record["parameters"]["user"] == "who"
    assert str(tmp_path) not in json.dumps(record)
    # Place and floor identify the trip, and so the person, only if rows of the same trip were in the training data.
    if notebook.startswith("10"):
        chosen = pd.read_csv(folder / "selection.csv")
        assert len(chosen) == 6
        assert not chosen["features"].str.contains("place|floor").any()
        base = pd.read_csv(folder / "base.csv")
        assert base["unit"].tolist() == ["rows", "groups"]
        random, apart = base["identifiability"]
        assert random > 0.8
        assert apart < 0.5
        beside = pd.read_csv(folder / "preselection.csv")
        assert (beside["base_identifiability"] < 0.5).all()
    else:
        assert pd.read_csv(folder / "sweeps.csv")["identifiability"].max() > 0.8
        grouped = pd.read_csv(folder / "ranking-grouped.csv")
        assert set(grouped["n"]) == {"n = 7 groups"}  # half of the held-out trips, not rows


@pytest.mark.parametrize("notebook", ["10_reidentification_game", "11_selection_methods"])
def test_columns_to_keep_are_a_list_of_names(notebook, root):
    parameters = read_parameters(root / "notebooks" / f"{notebook}.ipynb")
    assert parameters["keep"].default == []
    assert resolve(parameters, {"keep": '["row", "time"]'})["keep"] == ["row", "time"]
    with pytest.raises(ParameterError, match="keep"):
        resolve(parameters, {"keep": [3]})
