"""Name a run by its parameters: as ``runs.yaml`` names it, or by a name of its own.

This module imports little, so that `compendium run` can name a run without pandas and matplotlib.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compendium.paths import project_root
from compendium.run.parameters import complete, read_parameters
from compendium.run.runs import read_runs


def run_name(notebook: Path, values: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the name of a run, and whether it replicates: whether ``runs.yaml`` lists it.

    Parameters
    ----------
    notebook : path
        The notebook.
    values : mapping of str to object
        The value of every parameter, as `complete` returns them.

    Returns
    -------
    tuple of str and bool
        If ``runs.yaml`` has a run of this notebook with all these values, its name. Otherwise a name of its own,
        ``<notebook>-<data set>-<eight hexadecimal digits>``. The digits depend on all values, and on the content of
        the user's files. So runs that differ in any way never share a folder.
    """
    listed = read_runs().values() if (project_root() / "runs.yaml").is_file() else []
    same = [run for run in listed if run.notebook.stem == notebook.stem and run.runs_in(values.get("profile"))]
    declared = read_parameters(same[0].notebook) if same else {}
    for run in same:
        if complete(declared, run.values(values.get("profile", ""))) == values:
            return run.name, True
    described = json.dumps({name: _content(value) for name, value in values.items()}, sort_keys=True)
    dataset = re.sub(r"[^A-Za-z0-9.]+", "_", Path(str(values.get("dataset", ""))).stem)[:60]
    words = [notebook.stem, dataset, hashlib.sha256(described.encode()).hexdigest()[:8]]
    return "-".join(filter(None, words)), False


def _content(value: Any) -> Any:
    """Return a parameter's value; if it names a file, the digest of the file's content."""
    if isinstance(value, list):
        return [_content(each) for each in value]
    if not (isinstance(value, str) and Path(value).suffix and Path(value).expanduser().is_file()):
        return value
    digest = hashlib.sha256()
    for file in _files(Path(value).expanduser()):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    """Return a file, and the recordings that it describes if it is a TOML description."""
    if path.suffix != ".toml":
        return [path]
    try:
        described = tomllib.loads(path.read_text(encoding="utf-8"))
        patterns = [described[key] for key in ("files", "people") if key in described]
        beside = [file for pattern in patterns for file in sorted(path.parent.glob(pattern)) if file.is_file()]
    except (ValueError, TypeError, NotImplementedError):  # the reader says what is wrong with it
        beside = []
    return [path, *beside]
