"""What Snakemake is told: each run as a job, and what it depends on."""

import json
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from sensorprivacy.paths import build_dir, project_root
from sensorprivacy.runner.dependencies import package_files
from sensorprivacy.runner.runs import Run, before, read_runs
from sensorprivacy.runner.states import (
    data_state_file,
    in_checkout,
    log_file,
    marker_file,
    read_data_state,
    status_file,
    write_if_changed,
)


@dataclass(frozen=True)
class Job:
    """A run as Snakemake sees it; paths are relative to the checkout."""

    name: str
    inputs: list[str]
    marker: str
    threads: int
    command: str
    ready: bool


def plan(profile: str) -> list[Job]:
    """Return a job for each run of a profile.

    A run depends on its notebook, on the package files that the notebook imports, on the papers' printed values, on
    the state of its data sets, on the versions of the packages and on the runs that it comes after. It is ready when
    the sets it needs are there.
    """
    runs = read_runs()
    versions = build_dir() / "packages.json"
    write_if_changed(versions, _versions())
    return [_job(run, runs, profile, versions) for run in runs.values()]


def _job(run: Run, runs: Mapping[str, Run], profile: str, versions: Path) -> Job:
    ours = package_files(run.notebook, project_root() / "lib")
    inputs = [run.notebook, versions, *ours]
    if ours:
        inputs += sorted(path for path in (project_root() / "data" / "paper").rglob("*") if path.is_file())
    inputs += [data_state_file(name) for name in run.sets]
    if run.after_all:
        inputs.append(status_file(profile))
    # a run without its data is not waited for: whoever reads its results does without them
    inputs += [marker_file(name, profile) for name in before(run, runs) if _ready(runs[name])]
    return Job(
        name=run.name,
        inputs=[in_checkout(path) for path in inputs],
        marker=in_checkout(marker_file(run.name, profile)),
        threads=run.threads,
        command=_command(run, profile),
        ready=_ready(run),
    )


def _ready(run: Run) -> bool:
    return not run.missing(_here)


def _here(name: str) -> bool:
    state = read_data_state(name)
    return state is not None and state.present


def _command(run: Run, profile: str) -> str:
    words = ["python", "-m", "sensorprivacy", "run", in_checkout(run.notebook), "--terse", "--name", run.name]
    words += ["-o", f"build/executed/{profile}/{run.name}.ipynb", "--log", in_checkout(log_file(run.name, profile))]
    for name, value in run.values(profile).items():
        words += ["-p", name, value if isinstance(value, str) else json.dumps(value)]
    return shlex.join(words)


def _versions() -> dict[str, str]:
    """Return the versions that a run's numbers may hang on: Python's and those of the packages we name ourselves."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    try:
        named = [Requirement(text) for text in requires("sensorprivacy") or []]
    except PackageNotFoundError:  # a checkout on the path, not installed
        named = []
    for each in named:
        if each.marker is None or each.marker.evaluate({"extra": ""}):
            found[each.name] = version(each.name)
    return found
