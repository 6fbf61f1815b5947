"""Record the state of data sets and runs in small JSON files below ``build/``.

A file is written only if its content changes, because Snakemake compares times. So a run starts again when its data set
appears, disappears or changes, and at no other time.
"""

import hashlib
import json
import os
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compendium.paths import build_dir, figures_dir, project_root
from sensorprivacy.paths import write_atomically

PROFILES = ("quick", "paper")
OK, NO_DATA, FAILED, NOT_RUN = "ok", "no data", "failed", "not run"
TO_RUN = "make reproduce"
"""The reason of a run that `reproduce` was never asked to start. Any other reason names what kept it from running."""


@dataclass(frozen=True)
class DataState:
    """The state of a data set: its digest if it is on this machine, else the reason and how to get it.

    A corrupt set is `broken`.
    """

    name: str
    digest: str = ""
    reason: str = ""
    how: str = ""
    broken: bool = False

    @property
    def present(self) -> bool:
        """Whether the set can be read."""
        return bool(self.digest) and not self.broken


@dataclass(frozen=True)
class RunState:
    """How a run ended, as the report reads it from ``status.json``; `outputs` maps result files to their digests."""

    status: str
    reason: str = ""
    log: str = ""
    claims: tuple[str, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)


def data_state_file(name: str) -> Path:
    """Return the file that holds a data set's state."""
    return build_dir() / "data" / f"{name}.json"


def status_file(profile: str) -> Path:
    """Return the file that holds the run states of a profile."""
    return build_dir() / "runs" / profile / "status.json"


def marker_file(run: str, profile: str) -> Path:
    """Return the file that Snakemake touches when a run has succeeded."""
    return build_dir() / "runs" / profile / f"{run}.done"


def log_file(run: str, profile: str) -> Path:
    """Return the log of a run."""
    return build_dir() / "logs" / profile / f"{run}.log"


def write_data_state(state: DataState) -> None:
    """Write a data set's state, if it has changed.

    The reason why a set is absent is left out: network errors differ from day to day and must not start runs again.
    """
    lasting = state if state.broken else replace(state, reason="")
    write_if_changed(data_state_file(state.name), asdict(lasting))


def read_data_state(name: str) -> DataState | None:
    """Return a data set's state, or None before the first search for it."""
    path = data_state_file(name)
    return DataState(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def write_status(profile: str, states: Mapping[str, RunState]) -> None:
    """Write how the runs of a profile ended, if it has changed."""
    runs = {name: asdict(state) for name, state in states.items()}
    write_if_changed(status_file(profile), {"profile": profile, "runs": runs})


def read_status(profile: str) -> dict[str, RunState]:
    """Return how each run of a profile last ended; empty before the first `reproduce`."""
    path = status_file(profile)
    if not path.is_file():
        return {}
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return {name: RunState(**{**state, "claims": tuple(state["claims"])}) for name, state in runs.items()}


def write_if_changed(path: Path, content: Any) -> None:
    """Write content as JSON, atomically, unless the file has the same content already: Snakemake compares times."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))


def outputs(run: str, profile: str) -> dict[str, str]:
    """Return the digest of every byte-stable result file of a run, by its path in the checkout."""
    folder = figures_dir(profile) / run
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    stable = (path for path in files if path.name != "machine.json" and "drawn" not in path.relative_to(folder).parts)
    return {in_checkout(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in stable}


def touched_since(run: str, profile: str) -> bool:
    """Return whether a result of a run was written, edited or deleted after the run ended."""
    marker, folder = marker_file(run, profile), figures_dir(profile) / run
    if not (marker.is_file() and folder.is_dir()):
        return True
    return max(path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))) > marker.stat().st_mtime_ns


def unchanged_runs(names: Container[str], profile: str) -> dict[str, tuple[float, RunState]]:
    """Return the runs whose results are those of the last state: when they ended, and that state."""
    found, status = {}, status_file(profile)
    for name, last in read_status(profile).items():
        if name in names and last.status == OK and not touched_since(name, profile):
            ended = marker_file(name, profile).stat().st_mtime
            if ended <= status.stat().st_mtime:  # else it ended just before an interruption: its state is older
                found[name] = ended, last
    return found


def in_checkout(path: Path, root: Path | None = None) -> str:
    """Return a path relative to the checkout, with forward slashes; the `root` saves a look-up for many paths."""
    return Path(os.path.abspath(path)).relative_to(root or project_root()).as_posix()  # noqa: PTH100 - symlinks stay
