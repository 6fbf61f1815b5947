"""Imports follow the layers of the design: each package imports only from the layers below it, and no cycle exists."""

from graphlib import TopologicalSorter

import pytest

from sensorprivacy.runner.dependencies import imported, module_file

# Which packages a package may import from, besides itself.
BOTTOM = {"extras", "paths", "progress"}
STRATEGIES = {"minimize", "threeway", "latent"}
ALLOWED = {
    "extras": set(),
    "paths": set(),
    "progress": set(),
    "mechanisms": set(),
    "datasets": BOTTOM,
    "game": BOTTOM | {"datasets"},
    **dict.fromkeys(STRATEGIES, BOTTOM | {"mechanisms", "datasets", "game"}),
    "edge": BOTTOM | {"datasets", "game", *STRATEGIES},
    "compare": BOTTOM | {"mechanisms", "datasets", "game", *STRATEGIES},
    "report": BOTTOM,
}
ALLOWED |= {name: set(ALLOWED) for name in ("runner", "teach")}  # side by side at the top
ALLOWED["review"] = set(ALLOWED) - {"teach"}
ALLOWED["book"] = set(ALLOWED) - {"teach", "review"}
ALLOWED["cli"] = ALLOWED.keys() - {"cli"}
ALLOWED["__main__"] = {"cli"}
ALLOWED[""] = STRATEGIES | {"compare", "extras", "game", "datasets"}  # the public names, imported lazily


@pytest.fixture(scope="session")
def modules(root):
    """Return which of our modules each of our modules imports, by dotted name; a lazy package's stub counts."""
    lib = root / "lib"
    found = {}
    for path in sorted((lib / "sensorprivacy").rglob("*.py*")):
        if path.suffix not in {".py", ".pyi"}:
            continue
        parts = path.relative_to(lib).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        names = imported(path.read_text(encoding="utf-8"), name, is_package=path.stem == "__init__")
        used = {other if module_file(other, lib) else other.rpartition(".")[0] for other in names}
        found.setdefault(name, set()).update(used - {name})
    return found


def package(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_packages_import_only_from_the_layers_below_them(modules):
    wrong = [
        f"{name} imports {other}"
        for name, others in modules.items()
        for other in others
        if package(other) not in ALLOWED[package(name)] | {package(name), ""}
    ]
    assert wrong == []


def test_no_module_imports_itself_through_others(modules):
    # Importing a.b runs a's __init__, but an __init__ that lists its own modules is no cycle.
    graph = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in modules.items()}
    TopologicalSorter(graph).prepare()


def test_every_package_has_a_layer(root):
    lib = root / "lib" / "sensorprivacy"
    names = {path.parent.name for path in lib.glob("*/__init__.py")} | {path.stem for path in lib.glob("*.py")}
    assert names - {"__init__"} <= ALLOWED.keys()
