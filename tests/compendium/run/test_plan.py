"""The real runs as jobs for Snakemake."""

import json

import pytest

from compendium.paths import project_root
from compendium.run.job import plan, planned
from compendium.run.parameters import read_parameters, resolve
from compendium.run.runs import read_runs, select


@pytest.fixture(params=["quick", "paper"])
def jobs(request):
    return {job.name: job for job in plan(request.param)}, request.param


def test_every_run_is_a_job_with_its_own_status(jobs):
    found, profile = jobs
    assert list(found) == list(select(read_runs(), [], profile))
    assert {job.status for job in found.values()} == {f"build/runs/{profile}/{name}.json" for name in found}


def test_a_job_depends_on_what_can_change_its_results(jobs):
    found, _profile = jobs
    inputs = found["21_threeway_division-adult"].inputs
    assert "notebooks/21_threeway_division.ipynb" in inputs
    assert "lib/sensorprivacy/threeway/division.py" in inputs
    assert "lib/compendium/readers/tabular.py" in inputs
    assert "data/paper/paper-2.csv" in inputs
    assert "build/data/adult.json" in inputs
    assert "build/data/bank.json" not in inputs
    assert not [name for name in inputs if name.startswith("lib/sensorprivacy/minimize/")]
    states = [name for name in inputs if name.startswith("build/")]
    assert all((project_root() / name).is_file() for name in inputs if name not in states)


def test_a_summary_waits_for_the_runs_that_it_reads_and_the_report_for_all(jobs):
    found, _profile = jobs

    def waited(name):
        return [path for path in found[name].inputs if path.startswith("build/runs/")]

    read = [job.status for name, job in found.items() if name.startswith(("10_", "11_"))]
    assert waited("12_game_summary") == read
    assert waited("22_threeway_summary") == []
    assert waited("90_replication_report") == [job.status for job in found.values()][:-1]


def test_of_some_runs_those_before_them_and_the_report_are_planned():
    runs = select(read_runs(), [], "quick")
    chosen = planned(runs, ["31_reidentification_attack-motionsense-gender"])
    assert chosen == [
        "30_vae_anonymization-motionsense-gender",
        "31_reidentification_attack-motionsense-gender",
        "90_replication_report",
    ]
    jobs = {job.name: job for job in plan("quick", ["20_*"])}
    assert list(jobs) == ["20_threeway_example", "90_replication_report"]
    assert jobs["90_replication_report"].local


def test_long_chains_of_runs_start_first(jobs):
    found, _ = jobs
    first = max(found.values(), key=lambda job: job.priority).name
    assert [name for name, job in found.items() if found[first].status in job.inputs and not job.local]
    for name, job in found.items():
        assert all(job.priority < found[each].priority for each in found if found[each].status in job.inputs), name


def test_a_job_has_the_runs_parameters(jobs):
    found, profile = jobs
    for run in select(read_runs(), [], profile).values():
        given = json.loads(found[run.name].values)
        assert given == run.values(profile)
        assert resolve(read_parameters(run.notebook), given)["profile"] == profile


def test_versions_of_the_packages_are_written_once(jobs):
    path = project_root() / "build" / "packages.json"
    before = path.stat().st_mtime_ns
    plan("quick")
    assert path.stat().st_mtime_ns == before
    versions = json.loads(path.read_text())
    assert {"python", "numpy", "pandas", "opendp"} <= set(versions)
    assert versions["python"].count(".") == 1  # bug fixes of Python start no run again
    assert not {"pytest", "snakemake"} & set(versions)
