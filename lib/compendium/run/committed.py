"""Compare the committed results of a run of the profile ``paper`` with this state of the code, without running it."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from compendium.paths import RUN_FILE, figures_dir, project_root
from compendium.run.dependencies import code_digest
from compendium.run.parameters import ParameterError, complete, read_parameters
from compendium.run.runs import Run
from compendium.run.states import data_state_file, json_value, read_data_state

STALE, WRONG, ABSENT = "stale", "wrong", "absent"
"""Kinds of findings: another state made it; it contradicts its own record; it was never made."""


def findings(run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, the place and the account of each difference between a run's committed results and now."""
    folder = figures_dir("paper") / run.name
    if not (folder / RUN_FILE).is_file():
        yield ABSENT, run.name, f"needs {', '.join(run.sets)}" if run.sets else "was never run"
        return
    empty: dict[str, Any] = {"files": {}, "code": "", "parameters": {}, "packages": {}, "data": {}}
    record = empty | json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))  # early versions lacked some
    for name, digest in record["files"].items():
        path = folder / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield WRONG, f"figures/{run.name}/{name}", "is missing" if not path.is_file() else "was changed"
    if changed := list(_changes(run, record)):
        yield STALE, run.name, ", ".join(changed)


def _changes(run: Run, record: dict[str, Any]) -> Iterator[str]:
    """Yield what is no longer as it was when the run was made."""
    if record["code"] != code_digest(run.notebook, project_root() / "lib", run.sets):
        yield "code"
    try:
        values = complete(read_parameters(run.notebook), run.values("paper"))
        if record["parameters"] != {name: json_value(name, value) for name, value in values.items()}:
            yield "parameters"
    except ParameterError:
        yield "parameters"
    pins = dict(re.findall(r"^([a-z0-9_-]+)==([^\s;]+)", _lock(), flags=re.MULTILINE))
    found = {name: version.partition("+")[0] for name, version in record["packages"].items()}  # torch: 2.13.0+cpu
    older = [name for name, version in found.items() if pins.get(name, version) != version]
    if older:
        yield f"packages ({', '.join(older)})"
    known = {name: read_data_state(name) for name in record["data"] if data_state_file(name).is_file()}
    if any(state.present and state.digest != record["data"][name] for name, state in known.items()):
        yield "data"


def _lock() -> str:
    return (project_root() / "requirements.lock").read_text(encoding="utf-8")
