"""Check a notebook's parameters and open its run: the first call in every notebook.

A notebook may be started by `sensorprivacy run`, by plain papermill or in JupyterLab. The check is the same in all
three. So no notebook works for minutes with a parameter that it does not have, or with a value out of range.
"""

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sensorprivacy.paths import project_root
from sensorprivacy.report.provenance import Run, open_run
from sensorprivacy.runner.dependencies import code_digest
from sensorprivacy.runner.parameters import Parameter, read_parameters, resolve
from sensorprivacy.runner.runs import read_runs


def begin(notebook: str, namespace: dict[str, Any]) -> Run:
    """Check a notebook's parameters and open its run.

    Parameters
    ----------
    notebook : str
        The notebook's name without ``.ipynb``.
    namespace : dict
        The notebook's ``globals()``. The checked values are written back to it: papermill may give text for a number.

    Returns
    -------
    Run
        The run's `close` in the last cell writes its results, to the folder that `run_name` explains.

    Raises
    ------
    ParameterError
        If a parameter is unknown, of the wrong type, out of range or none of its choices.
    OSError
        If the folder for the results cannot be written to, or its disk is full.

    Examples
    --------
    >>> run = begin("21_threeway_division", globals())  # doctest: +SKIP
    """
    values = check_parameters(notebook, namespace)
    name, replicates = run_name(_committed(notebook), values)
    code = code_digest(_committed(notebook), project_root() / "lib")
    return open_run(name, profile=values["profile"], parameters=values, replicates=replicates, code=code)


def check_parameters(notebook: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the checked value of every parameter of a notebook; see `begin`."""
    declared = read_parameters(_committed(notebook))
    names = [*declared, *_injected(namespace)]
    values = complete(declared, {name: namespace[name] for name in names if name in namespace})
    namespace.update(values)
    return values


def complete(declared: Mapping[str, Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked value of every declared parameter: the given one, or else the default."""
    return resolve(declared, {**{name: parameter.default for name, parameter in declared.items()}, **given})


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
    same = [run for run in listed if run.notebook.stem == notebook.stem]
    declared = read_parameters(same[0].notebook) if same else {}
    for run in same:
        if complete(declared, run.values(values.get("profile", ""))) == values:
            return run.name, True
    described = json.dumps({name: _content(value) for name, value in values.items()}, sort_keys=True)
    dataset = re.sub(r"[^A-Za-z0-9.]+", "_", Path(str(values.get("dataset", ""))).stem)[:60]
    words = [notebook.stem, dataset, hashlib.sha256(described.encode()).hexdigest()[:8]]
    return "-".join(filter(None, words)), False


def _committed(notebook: str) -> Path:
    return project_root() / "notebooks" / f"{notebook}.ipynb"


def _injected(namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that papermill assigns in the cell that it adds; IPython lists all cells run so far in `In`."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith("# Parameters")]
    nodes = [node for cell in cells for node in ast.parse(cell).body if isinstance(node, ast.Assign)]
    return [target.id for node in nodes for target in node.targets if isinstance(target, ast.Name)]


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
