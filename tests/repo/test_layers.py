"""Imports follow the design: each package imports only from the layers below it, and no cycle exists."""

import ast
from graphlib import TopologicalSorter

import pytest

from compendium.run.modules import file_of, imports_of

# Which packages a package may import from, besides itself.
BOTTOM = {
    "checks", "data", "extras", "mechanisms", "parents", "paths", "progress",
    "statistics", "windowing",
}  # fmt: skip
STRATEGIES = {"minimize", "threeway", "latent"}
LAYERS = {
    "sensorprivacy": {
        "checks": set(),
        "parents": set(),
        "extras": set(),
        "paths": set(),
        "statistics": set(),
        "windowing": {"checks"},
        "progress": set(),
        "mechanisms": set(),
        "data": set(),
        "example": {"data"},
        "game": BOTTOM,
        **dict.fromkeys(STRATEGIES, BOTTOM | {"game"}),
        "edge": BOTTOM | {"game", "latent"},
        "": STRATEGIES | {"example", "extras", "game", "data"},  # the public names, imported lazily
    },
    "sensorrelease": {},  # one package
    "compendium": {
        "paths": set(),
        "readers": set(),
        "datasets": {"paths", "readers"},
        "studies": {"paths", "datasets"},
        "show": {"paths"},
        "verdicts": {"paths", "show"},
        "papers": {"paths", "readers", "show", "verdicts"},
        "run": {"paths", "datasets", "show", "verdicts"},
        "review": {"paths", "datasets", "show", "verdicts", "papers", "run", "book"},
        "book": {"paths", "datasets", "show", "verdicts", "papers", "run"},
        "lessons": {"paths"},
        "cli": {"paths", "datasets", "studies", "verdicts", "papers", "run", "review", "book", "lessons"},
        "__main__": {"cli"},
        "": set(),
    },
}
# The small library knows no file format, and your own data no public set.
BELOW = {"sensorprivacy": set(), "sensorrelease": {"sensorprivacy"}, "compendium": {"sensorprivacy", "sensorrelease"}}


@pytest.fixture(scope="session")
def modules(root):
    """Return which of our modules each of our modules imports, by dotted name; a lazy package's stub counts."""
    lib = root / "lib"
    found = {}
    for path in sorted(
        file for name in ("sensorprivacy", "sensorrelease", "compendium") for file in (lib / name).rglob("*.py*")
    ):
        if path.suffix not in {".py", ".pyi"}:
            continue
        parts = path.relative_to(lib).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        tree, package = ast.parse(path.read_text(encoding="utf-8")), path.stem == "__init__"
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]  # such as imports for type checkers
        names = [".".join([base, *own]) for base, own in imports_of(tree, name, package=package).values()]
        names = [other for other in names if other.partition(".")[0] in LAYERS]
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
        return other_package in BELOW[package]
    layers = LAYERS[package]
    return not layers or other_part in layers[part] | {part, ""}


def test_packages_import_only_from_the_layers_below_them(modules):
    wrong = [f"{name} imports {other}" for name, used in modules.items() for other in used if not allowed(name, other)]
    assert wrong == []


def test_no_module_imports_itself_through_others(modules):
    # Importing a.b runs a's __init__, but an __init__ that lists its own modules is no cycle.
    graph = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in modules.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", ["sensorprivacy", "compendium"])
def test_every_package_has_a_layer(root, package):
    lib = root / "lib" / package
    names = {path.parent.name for path in lib.glob("*/__init__.py")} | {path.stem for path in lib.glob("*.py")}
    assert names - {"__init__"} == LAYERS[package].keys() - {""}
