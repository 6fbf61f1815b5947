"""Which package files a notebook rests on."""

from pathlib import Path

import nbformat
import pytest

from sensorprivacy.runner.dependencies import imported, module_file, sources


@pytest.fixture
def lib(tmp_path):
    """Return a package of two rooms that use a third, and one that nobody uses."""
    files = {
        "__init__.py": "",
        "home.py": "",
        "game/__init__.py": "from sensorprivacy.game.play import play",
        "game/play.py": "from .splits import split\nfrom .. import home",
        "game/splits.py": "",
        "threeway/__init__.py": "",
        "threeway/division.py": "def f():\n    from sensorprivacy import game",
        "minimize/__init__.py": "",
        "minimize/greedy.py": "import sensorprivacy.game.play",
        "report/__init__.py": "",
        "report/style/plain.mplstyle": "",
        "report/__pycache__/x.pyc": "",
    }
    for name, text in files.items():
        path = tmp_path / "lib" / "sensorprivacy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "lib"


def notebook(folder: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(made, folder / "a.ipynb")
    return folder / "a.ipynb"


def reached(lib: Path, *cells: str) -> list[str]:
    found = sources(notebook(lib.parent, *cells), lib)
    return [path.relative_to(lib / "sensorprivacy").as_posix() for path in found]


def test_what_is_imported_is_followed_through_and_what_is_not_is_left_out(lib):
    found = reached(lib, "%matplotlib inline\nimport numpy", "from sensorprivacy.threeway import division")
    assert found == [
        "__init__.py",
        "game/__init__.py",
        "game/play.py",
        "game/splits.py",
        "home.py",
        "threeway/__init__.py",
        "threeway/division.py",
    ]


def test_styles_and_catalogues_beside_the_code_count(lib):
    assert reached(lib, "from sensorprivacy import report") == [
        "__init__.py",
        "report/__init__.py",
        "report/style/plain.mplstyle",
    ]


def test_a_notebook_without_the_package_rests_on_nothing(lib):
    assert reached(lib, "import numpy as np") == []


def test_relative_imports_are_resolved():
    assert imported("from . import a", "sensorprivacy.x.y") >= {"sensorprivacy.x", "sensorprivacy.x.a"}
    assert imported("from .. import a", "sensorprivacy.x.y") >= {"sensorprivacy", "sensorprivacy.a"}
    assert "sensorprivacy.x.b" in imported("from .b import c", "sensorprivacy.x", is_package=True)
    assert "sensorprivacy.b" in imported("from ..b import c", "sensorprivacy.x", is_package=True)
    assert imported("import os\nfrom sensor import b") == set()


def test_the_real_package_is_found(root):
    assert module_file("sensorprivacy.paths", root / "lib") == root / "lib" / "sensorprivacy" / "home.py"
    assert module_file("sensorprivacy.nothing", root / "lib") is None
