"""Describe each run to Snakemake as a job: what it depends on, its command, and the file that marks its success."""

import json
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

from compendium.paths import build_dir, data_dir, project_root
from compendium.run import states
from compendium.run.dependencies import package_files
from compendium.run.runs import Run, before, read_runs, select

_EXTRAS = ("", "latent", "edge", "notebooks")  # what the notebooks need


@dataclass(frozen=True)
class Job:
    """A run as Snakemake sees it; paths are relative to the checkout."""

    name: str
    inputs: list[str]
    marker: str
    threads: int
    command: str
    ready: bool


def plan(profile: str, *, report_only: bool = False) -> list[Job]:
    """Return a job for each run of a profile, or for the report only.

    A run depends on its notebook, on the package files that the notebook imports, on the papers' printed values, on
    the state of its data sets, on the versions of the packages and on the runs that it comes after. It is ready if the
    data sets that it needs are available.
    """
    runs = select(read_runs(), (), profile)
    states.write_if_changed(_versions_file(), _versions())
    return [_job(run, runs, profile) for run in runs.values() if run.after_all or not report_only]


def _job(run: Run, runs: Mapping[str, Run], profile: str) -> Job:
    waits = [states.data_state_file(name) for name in run.sets]
    if run.after_all:
        waits.append(states.status_file(profile))
    # A run without its data never ends; the runs that read its results do without them.
    waits += [states.marker_file(name, profile) for name in before(run, runs) if _ready(runs[name])]
    return Job(
        name=run.name,
        inputs=[*_code(run.notebook), *map(states.in_checkout, waits)],
        marker=states.in_checkout(states.marker_file(run.name, profile)),
        threads=run.threads,
        command=_command(run, profile),
        ready=_ready(run),
    )


@cache  # many runs share a notebook
def _code(notebook: Path) -> tuple[str, ...]:
    """Return the files that any run of a notebook depends on."""
    root = project_root()
    ours = package_files(notebook, root / "lib")
    printed = (data_dir() / "paper").rglob("*") if ours else ()
    values = sorted(path for path in printed if path.is_file())
    captions = [path for path in [notebook.parent / "captions" / f"{notebook.stem}.toml"] if path.is_file()]
    return tuple(states.in_checkout(path, root) for path in [notebook, *captions, _versions_file(), *ours, *values])


def _ready(run: Run) -> bool:
    return not run.missing(_available)


def _available(name: str) -> bool:
    state = states.read_data_state(name)
    return state is not None and state.present


def _command(run: Run, profile: str) -> str:
    log = states.in_checkout(states.log_file(run.name, profile))
    words = ["python", "-m", "compendium", "run", states.in_checkout(run.notebook)]
    words += ["--terse", "--name", run.name]
    words += ["-o", f"build/executed/{profile}/{run.name}.ipynb", "--log", log]
    for name, value in run.values(profile).items():
        words += ["-p", name, value if isinstance(value, str) else json.dumps(value)]
    return shlex.join(words)


def _versions_file() -> Path:
    return build_dir() / "packages.json"


def _versions() -> dict[str, str]:
    """Return the versions that results may depend on: Python's, and those of the packages that runs require."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    try:
        required = [Requirement(text) for text in requires("sensorprivacy") or []]
    except PackageNotFoundError:  # a checkout on the path that is not installed
        required = []
    for each in required:
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in _EXTRAS):
            found[each.name] = version(each.name)
    return found
