"""Small JSON files below ``build/``: the state of each data set, and how each run ended.

A run writes its own status file, which Snakemake sees as its output. So a run starts again when its data set appears,
disappears or changes, and at no other time.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compendium.paths import build_dir, digest_of, figures_dir, output_root, project_root
from sensorprivacy.paths import write_atomically

OK, NO_DATA, FAILED, NOT_RUN = "ok", "no data", "failed", "not run"
TO_RUN = "make reproduce"
"""The reason of a run that was never started. Any other reason names the run that kept it from running."""


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
    """How a run ended; `outputs` maps result files to their digests."""

    status: str
    reason: str = ""
    log: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def blocked(self) -> bool:
        """Whether another run, which failed, kept it from running."""
        return self.status == NOT_RUN and self.reason not in ("", TO_RUN)


def data_state_file(name: str) -> Path:
    """Return the file that holds a data set's state."""
    return build_dir() / "data" / f"{name}.json"


def status_file(run: str, profile: str) -> Path:
    """Return the file in which a run says how it ended."""
    return build_dir() / "runs" / profile / f"{run}.json"


def log_file(run: str, profile: str) -> Path:
    """Return the log of a run."""
    return build_dir() / "logs" / profile / f"{run}.log"


def write_data_state(state: DataState) -> None:
    """Write a data set's state, if it has changed.

    The reason why a set is absent is left out: network errors differ from day to day and must not start runs again.
    """
    lasting = state if state.broken else replace(state, reason="")
    write_if_changed(data_state_file(state.name), asdict(lasting))


def read_data_state(name: str) -> DataState:
    """Return a data set's state; that of an absent set before the first search for it."""
    path = data_state_file(name)
    return DataState(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else DataState(name)


def is_present(name: str) -> bool:
    """Return whether a data set was found, and can be read."""
    return read_data_state(name).present


def write_status(run: str, profile: str, state: RunState) -> None:
    """Write how a run ended."""
    write_if_changed(status_file(run, profile), asdict(state))


def read_status(run: str, profile: str) -> RunState:
    """Return how a run ended; *not run* if it has left no status file."""
    path = status_file(run, profile)
    return RunState(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else RunState(NOT_RUN, TO_RUN)


def is_settled(run: str, profile: str) -> bool:
    """Return whether a run need not be repeated: it did not fail, and nobody edited or deleted its results."""
    state, root = read_status(run, profile), output_root()
    if state.status not in (OK, NO_DATA):
        return False
    ended = status_file(run, profile).stat().st_mtime_ns
    files = {root / name: digest for name, digest in state.outputs.items()}
    return all(f.is_file() and (f.stat().st_mtime_ns <= ended or digest_of(f) == digest) for f, digest in files.items())


def write_if_changed(path: Path, content: Any) -> None:
    """Write content as JSON, atomically, unless the file has the same content already: Snakemake compares times."""
    text = json_bytes(content)
    if not (path.is_file() and path.read_bytes() == text):
        write_atomically(path, lambda part: part.write_bytes(text))


def outputs(run: str, profile: str) -> dict[str, str]:
    """Return the digest of every byte-stable result file of a run, by its path in the checkout."""
    folder = figures_dir(profile) / run
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    stable = (path for path in files if path.name != "machine.json" and "drawn" not in path.relative_to(folder).parts)
    return {in_checkout(path, output_root()): digest_of(path) for path in stable}


def in_checkout(path: Path, root: Path | None = None) -> str:
    """Return a path relative to the checkout, with forward slashes; the `root` saves a look-up for many paths.

    A path elsewhere stays absolute: results may have a folder of their own (`paths.output_root`).
    """
    path, root = Path(os.path.abspath(path)), root or project_root()  # noqa: PTH100 - symlinks stay
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def json_bytes(content: Any) -> bytes:
    """Return content as the bytes of a JSON file, the same for the same content."""
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def json_value(value: Any) -> Any:
    """Return a parameter as a JSON value; an absolute path is shortened, so that it does not describe this machine."""
    if isinstance(value, list):
        return [json_value(each) for each in value]
    if not (isinstance(value, str) and Path(value).is_absolute()):
        return value
    root, path = project_root(), Path(value)
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


def git(*words: str) -> str | None:
    """Return what a command of git prints in the checkout; None if there is no git or no repository."""
    try:
        command = ["git", *words]
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
