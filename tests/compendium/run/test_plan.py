"""The real runs as jobs for Snakemake."""

import json
import shlex

import pytest

from compendium.paths import project_root
from compendium.run.parameters import read_parameters, resolve
from compendium.run.plan import plan
from compendium.run.runs import read_runs, select


@pytest.fixture(params=["quick", "paper"])
def jobs(request):
    return {job.name: job for job in plan(request.param)}, request.param


def test_every_run_is_a_job_with_its_own_marker(jobs):
    found, profile = jobs
    assert list(found) == list(select(read_runs(), [], profile))
    assert {job.marker for job in found.values()} == {f"build/runs/{profile}/{name}.done" for name in found}


def test_a_job_depends_on_what_can_change_its_results(jobs):
    found, profile = jobs
    inputs = found["21_threeway_division-adult"].inputs
    assert "notebooks/21_threeway_division.ipynb" in inputs
    assert "lib/sensorprivacy/threeway/division.py" in inputs
    assert "lib/compendium/datasets/catalogue.toml" in inputs
    assert "data/paper/paper-2.csv" in inputs
    assert "build/data/adult.json" in inputs
    assert "build/data/bank.json" not in inputs
    assert not [name for name in inputs if name.startswith("lib/sensorprivacy/minimize/")]
    assert f"build/runs/{profile}/status.json" in found["90_replication_report"].inputs
    states = [name for name in inputs if name.startswith("build/")]
    assert all((project_root() / name).is_file() for name in inputs if name not in states)


def test_a_summary_waits_for_the_runs_it_reads_whose_data_are_here(jobs):
    found, profile = jobs
    read = [name for name in found if name.startswith(("10_", "11_"))]
    waited = {name for name in found["12_game_summary"].inputs if name.endswith(".done")}
    assert waited == {f"build/runs/{profile}/{name}.done" for name in read if found[name].ready}
    assert not [name for name in found["22_threeway_summary"].inputs if name.endswith(".done")]


def test_the_command_gives_the_runs_parameters_to_our_own_wrapper(jobs):
    found, profile = jobs
    for run in select(read_runs(), [], profile).values():
        words = shlex.split(found[run.name].command)
        ours = ["python", "-m", "compendium", "run"]
        assert words[:5] == [*ours, f"notebooks/{run.notebook.name}"]
        given = {words[at + 1]: words[at + 2] for at, word in enumerate(words) if word == "-p"}
        parameters = read_parameters(run.notebook)
        assert resolve(parameters, given) == resolve(parameters, run.values(profile))
        assert given["profile"] == profile


def test_versions_of_the_packages_are_written_once(jobs):
    path = project_root() / "build" / "packages.json"
    before = path.stat().st_mtime_ns
    plan("quick")
    assert path.stat().st_mtime_ns == before
    versions = json.loads(path.read_text())
    assert {"python", "numpy", "pandas", "opendp"} <= set(versions)
    assert "pytest" not in versions
