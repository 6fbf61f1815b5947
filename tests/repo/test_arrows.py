"""Arrows run one way: datasets <- game <- {minimize, threeway, latent} <- edge; report knows none; no circles."""

from graphlib import TopologicalSorter

import pytest

from sensorprivacy.sources import imported, module_file

STRATEGIES = {"minimize", "threeway", "latent"}
# A room may import from these, besides itself and home.
ALLOWED = {
    "datasets": set(),
    "game": {"datasets"},
    "minimize": {"datasets", "game"},
    "threeway": {"datasets", "game"},
    "latent": {"datasets", "game"},
    "edge": {"datasets", "game", *STRATEGIES},
    "report": set(),
}
# Beside the rooms: what knows them all, and what knows none.
KNOWS_ALL = {"__main__", "supply"}


@pytest.fixture(scope="session")
def modules(root):
    """Return which of our modules each of our modules imports, by dotted name below the package."""
    lib = root / "lib"
    found = {}
    for path in sorted((lib / "sensorprivacy").rglob("*.py")):
        parts = path.relative_to(lib).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        code = path.read_text(encoding="utf-8")
        names = imported(code, name, is_package=path.name == "__init__.py")
        found[name] = {other for other in names if module_file(other, lib) and other != name}
    return found


def room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_rooms_import_only_what_the_arrows_allow(modules):
    wrong = [
        f"{name} imports {other}"
        for name, others in modules.items()
        for other in others
        if room(name) in ALLOWED and room(other) not in ALLOWED[room(name)] | {room(name), "home", ""}
    ]
    assert wrong == []


def test_only_the_command_line_knows_the_rooms(modules):
    wrong = [
        f"{name} imports {other}"
        for name, others in modules.items()
        for other in others
        if room(other) in ALLOWED and room(name) not in ALLOWED.keys() | KNOWS_ALL
    ]
    assert wrong == []


def test_no_module_imports_itself_through_others(modules):
    # Importing a.b runs a's __init__, but an __init__ that lists its own modules is no circle.
    graph = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in modules.items()}
    TopologicalSorter(graph).prepare()


def test_the_rooms_are_all_known_here(root):
    lib = root / "lib" / "sensorprivacy"
    assert {path.parent.name for path in lib.glob("*/__init__.py")} <= ALLOWED.keys()
