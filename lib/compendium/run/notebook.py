"""Check a notebook's parameters and open its run: the first call in every notebook.

A notebook may be started by `compendium run`, by plain papermill or in JupyterLab. The check is the same in all
three. So no notebook works for minutes with a parameter that it does not have, or with a value out of range.
"""

import ast
from collections.abc import Mapping
from typing import Any

from compendium.paths import project_root
from compendium.run.definitions import code_of
from compendium.run.parameters import complete, read_parameters
from compendium.run.provenance import Run
from compendium.run.runs import read_runs, run_name


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
    path = project_root() / "notebooks" / f"{notebook}.ipynb"
    declared = read_parameters(path)
    names = [*declared, *_injected(namespace)]
    values = complete(declared, {name: namespace[name] for name in names if name in namespace})
    namespace.update(values)
    name, replicates = run_name(path, values)
    sets = read_runs()[name].reads if replicates else [str(values.get("dataset", ""))]
    code = code_of(path, project_root() / "lib", tuple(sets))
    given: dict[str, Any] = {"parameters": values, "replicates": replicates, "names": namespace}
    return Run(name, profile=values["profile"], code=code.digest, modules=code.modules(), **given)


def _injected(namespace: Mapping[str, Any]) -> list[str]:
    """Return the names that papermill assigns in the cell that it adds; IPython lists all cells run so far in `In`."""
    cells = [cell for cell in namespace.get("In", []) if cell.startswith("# Parameters")]
    nodes = [node for cell in cells for node in ast.parse(cell).body if isinstance(node, ast.Assign)]
    return [target.id for node in nodes for target in node.targets if isinstance(target, ast.Name)]
