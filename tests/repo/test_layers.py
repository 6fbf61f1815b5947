"""Imports follow the layers of the design: each package imports only from the layers below it, and no cycle exists."""

from graphlib import TopologicalSorter

import pytest

from compendium.run.dependencies import imported
from compendium.run.modules import file_of

# Which packages a package may import from, besides itself. The library never imports the compendium.
BOTTOM = {"parents", "checks", "data", "extras", "paths", "printing", "prediction", "progress", "columns", "mechanisms"}
STRATEGIES = {"minimize", "threeway", "latent"}
LIBRARY = {
    "checks": set(),
    "options": set(),
    "parents": set(),
    "extras": set(),
    "paths": set(),
    "printing": set(),
    "prediction": set(),
    "progress": {"printing"},
    "mechanisms": set(),
    "columns": {"checks"},
    "data": {"columns"},
    "example": {"data"},
    "game": BOTTOM,
    "readers": BOTTOM,
    **dict.fromkeys(STRATEGIES, BOTTOM | {"game", "readers"}),
    "edge": BOTTOM | {"game", "latent"},
    "own": BOTTOM | {"game", "readers", "edge", *STRATEGIES},
    "cli": {"options", "own", "extras", "edge", "minimize", "printing"},
    "__main__": {"cli"},
    "": STRATEGIES | {"own", "example", "extras", "game", "data"},  # the public names, imported lazily
}
# Within the compendium; every package of it may import the library.
COMPENDIUM = {
    "paths": set(),
    "datasets": {"paths"},
    "studies": {"paths", "datasets"},
    "show": {"paths"},
    "verdicts": {"paths", "show"},
    "papers": {"paths", "show", "verdicts"},
    "run": {"paths", "datasets", "show", "verdicts"},
    "review": {"paths", "datasets", "show", "verdicts", "papers", "run", "book"},
    "book": {"paths", "datasets", "show", "verdicts", "papers", "run"},
    "lessons": {"paths"},
    "cli": {"paths", "datasets", "studies", "verdicts", "papers", "run", "review", "book", "lessons"},
    "__main__": {"cli"},
    "": set(),
}


@pytest.fixture(scope="session")
def modules(root):
    """Return which of our modules each of our modules imports, by dotted name; a lazy package's stub counts."""
    lib = root / "lib"
    found = {}
    for path in sorted(file for name in ("sensorprivacy", "compendium") for file in (lib / name).rglob("*.py*")):
        if path.suffix not in {".py", ".pyi"}:
            continue
        parts = path.relative_to(lib).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        names = imported(path.read_text(encoding="utf-8"), name, is_package=path.stem == "__init__")
        used = {other if file_of(other, lib) else other.rpartition(".")[0] for other in names}
        found.setdefault(name, set()).update(used - {name})
    return found


def place(name: str) -> tuple[str, str]:
    """Return the package of a module, and the part of it."""
    package, _, rest = name.partition(".")
    return package, rest.partition(".")[0]


def allowed(name: str, other: str) -> bool:
    (package, part), (other_package, other_part) = place(name), place(other)
    if package != other_package:
        return package == "compendium"
    layers = LIBRARY if package == "sensorprivacy" else COMPENDIUM
    return other_part in layers[part] | {part, ""}


def test_packages_import_only_from_the_layers_below_them(modules):
    wrong = [f"{name} imports {other}" for name, used in modules.items() for other in used if not allowed(name, other)]
    assert wrong == []


def test_no_module_imports_itself_through_others(modules):
    # Importing a.b runs a's __init__, but an __init__ that lists its own modules is no cycle.
    graph = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in modules.items()}
    TopologicalSorter(graph).prepare()


def test_every_package_has_a_layer(root):
    for package, layers in (("sensorprivacy", LIBRARY), ("compendium", COMPENDIUM)):
        lib = root / "lib" / package
        names = {path.parent.name for path in lib.glob("*/__init__.py")} | {path.stem for path in lib.glob("*.py")}
        assert names - {"__init__"} == layers.keys() - {""}
