"""Tables and engines of earlier runs, read through their records."""

import pandas as pd
import pytest

from compendium.run.provenance import Run
from compendium.verdicts.earlier_runs import engines, gather


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("notebooks", "data", "lib"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(tmp_path))
    return tmp_path


def test_a_table_of_every_run_that_has_it(home):
    for variant, value in (("b", 2), ("a", 1)):
        run = Run(f"10_game-{variant}", parameters={})
        run.table(pd.DataFrame({"value": [value]}), "base", "x")
        run.close()
    Run("11_other", parameters={}).close()
    found = gather("quick", "10_game-*", "base")
    assert found.to_dict("list") == {"value": [1, 2], "run": ["10_game-a", "10_game-b"]}
    assert gather("quick", "10_game-*", "absent").empty
    assert gather("paper", "10_game-*", "base").empty


def test_a_table_of_measured_times_is_found_too(home):
    (home / "notebooks" / "captions").mkdir()
    (home / "notebooks" / "captions" / "40_x.toml").write_text('[table.steps]\ncaption = "x"\ndrawn = true\n')
    run = Run("40_x", parameters={})
    run.table(pd.DataFrame({"seconds": [2]}), "steps")
    run.close()
    assert (run.folder / "drawn" / "steps.csv").is_file()
    assert gather("quick", "40_x", "steps").to_dict("list") == {"seconds": [2], "run": ["40_x"]}


def test_a_file_that_no_record_names_is_passed_over(home):
    run = Run("10_game", parameters={})
    run.close()
    (run.folder / "base.csv").write_text("value\n1\n")
    assert gather("quick", "10_game", "base").empty


def verdicts_of(*rows):
    return pd.DataFrame(rows, columns=["run", "verdict"])


def ran(name, seed=3, **parameters):
    Run(name, parameters=parameters | {"seed": seed}).close()


def test_each_run_that_judged_something_and_had_a_choice(home):
    ran("10_x", engine="shared", trees=7)
    ran("20_x")
    ran("11_x", seed=4, engine="sklearn", trees=9)
    judged = verdicts_of(
        ("11_x", "exact"), ("10_x", "differs"), ("20_x", "exact"), ("10_x", "no data"), ("10_x", "within"),
        ("12_x", "no data"),
    )  # fmt: skip
    assert engines(judged, "quick").to_numpy().tolist() == [["11_x", 1, "sklearn", 9, 4], ["10_x", 2, "shared", 7, 3]]


def test_a_run_without_its_record_is_an_error(home):
    with pytest.raises(FileNotFoundError, match="10_x"):
        engines(verdicts_of(("10_x", "exact")), "quick")
