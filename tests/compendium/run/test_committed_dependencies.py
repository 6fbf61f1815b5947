"""The package files that a notebook depends on, part of `committed`."""

from pathlib import Path

import nbformat
import pytest

from compendium.run.committed import package_files
from compendium.run.modules import file_of


@pytest.fixture
def lib(tmp_path):
    """Return a package in which two packages use a third, and one that nobody uses."""
    files = {
        "__init__.py": "",
        "paths.py": "FOLDER = 1",
        "game/__init__.py": "from sensorprivacy.game.play import play",
        "game/play.py": "from .splits import split\nfrom .. import paths\ndef play():\n    split(paths.FOLDER)",
        "game/splits.py": "split = 1",
        "threeway/__init__.py": "",
        "threeway/division.py": "def divide():\n    from sensorprivacy.game import play",
        "minimize/__init__.py": "",
        "minimize/greedy.py": "import sensorprivacy.game.play\ngreedy = 1",
        "report/__init__.py": "STYLE = 1",
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
    found = package_files(notebook(lib.parent, *cells), lib)
    return [path.relative_to(lib / "sensorprivacy").as_posix() for path in found]


def test_imports_are_followed_and_other_modules_left_out(lib):
    found = reached(lib, "%matplotlib inline\nimport numpy", "from sensorprivacy.threeway import division")
    assert {"game/play.py", "game/splits.py", "paths.py", "threeway/division.py"} <= set(found)
    assert not any(name.startswith(("minimize", "report")) for name in found)


def test_styles_and_catalogues_beside_the_code_count(lib):
    assert reached(lib, "from sensorprivacy import report") == ["report/__init__.py", "report/style/plain.mplstyle"]


def test_a_notebook_without_the_package_depends_on_nothing(lib):
    assert reached(lib, "import numpy as np") == []


def test_of_a_lazy_package_only_the_names_that_are_used_count(lib):
    package = lib / "sensorprivacy"
    (package / "__init__.pyi").write_text("from .minimize.greedy import greedy\nfrom .threeway.division import divide")
    assert "minimize/greedy.py" in reached(lib, "from sensorprivacy import greedy")
    assert "threeway/division.py" not in reached(lib, "from sensorprivacy import greedy")
    whole = reached(lib, "import sensorprivacy")
    assert {"minimize/greedy.py", "threeway/division.py"} <= set(whole)


def test_the_real_package_is_found(root):
    assert file_of("sensorprivacy.paths", root / "lib") == root / "lib" / "sensorprivacy" / "paths.py"
    assert file_of("sensorprivacy.nothing", root / "lib") is None


def test_of_a_lazy_package_that_is_imported_whole_only_the_attributes_that_are_used_count(lib):
    """`from compendium import datasets` reached every reader."""
    package = lib / "sensorprivacy"
    (package / "game/__init__.py").write_text("")
    (package / "game/__init__.pyi").write_text("from .play import play\nfrom . import table")
    (package / "game/table.py").write_text("")
    assert "game/play.py" not in reached(lib, "from sensorprivacy import game as judge", "judge.table.one()")
    assert "game/play.py" in reached(lib, "from sensorprivacy import game", "game.play()")
    assert "game/play.py" in reached(lib, "from sensorprivacy import game", "use(game)")


def test_the_toy_example_depends_on_fewer_than_forty_modules_besides_the_runner(root):
    """It was 87, because every reader and all code for own tables was imported."""
    found = package_files(root / "notebooks" / "20_threeway_example.ipynb", root / "lib")
    modules = [path for path in found if path.suffix == ".py" and path.stem != "__init__" and path.parent.name != "run"]
    assert len(modules) < 40


def test_your_own_file_brings_the_code_that_reads_it(root):
    path = root / "notebooks" / "20_threeway_example.ipynb"
    own = root / "lib" / "sensorrelease" / "schema" / "read.py"
    assert own in package_files(path, root / "lib", ["home.csv"])
    assert own not in package_files(path, root / "lib", ["adult"])
