"""The package files that a notebook depends on."""

import shutil
from pathlib import Path

import nbformat
import pytest

from compendium.run import dependencies
from compendium.run.dependencies import code_digest, imported, module_file, package_files


@pytest.fixture
def lib(tmp_path):
    """Return a package in which two packages use a third, and one that nobody uses."""
    files = {
        "__init__.py": "",
        "paths.py": "",
        "game/__init__.py": "from sensorprivacy.game.play import play",
        "game/play.py": "from .splits import split\nfrom .. import paths",
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
    found = package_files(notebook(lib.parent, *cells), lib)
    return [path.relative_to(lib / "sensorprivacy").as_posix() for path in found]


def test_the_digest_of_the_code_changes_with_the_code_and_nothing_else(lib):
    cell = "from sensorprivacy.threeway import division"
    first = code_digest(notebook(lib.parent, cell), lib)
    assert code_digest(notebook(lib.parent, cell), lib) == first
    page = nbformat.read(lib.parent / "a.ipynb", 4)
    page.cells.insert(0, nbformat.v4.new_markdown_cell("words"))
    page.cells[1].outputs = [nbformat.v4.new_output("stream", text="printed")]
    nbformat.write(page, lib.parent / "a.ipynb")
    assert code_digest(lib.parent / "a.ipynb", lib) == first  # text and outputs are no code
    (lib / "sensorprivacy/minimize/greedy.py").write_text("other = 1")  # not imported
    assert code_digest(notebook(lib.parent, cell), lib) == first
    change(lib, "game/splits.py", "other = 1")  # imported through others
    second = code_digest(notebook(lib.parent, cell), lib)
    assert len({first, second, code_digest(notebook(lib.parent, cell, "x = 1"), lib)}) == 3


def change(lib: Path, name: str, text: str) -> None:
    (lib / "sensorprivacy" / name).write_text(text)
    for each in (dependencies.module_file, dependencies._needed, dependencies._imported_by):
        each.cache_clear()
    dependencies._content_digest.cache_clear()


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (
            'def f():\n    """Old."""\n    return 1',
            'def f():\n    """New.\n\n    Longer.\n    """\n\n    return 1',
            True,
        ),
        ("x = 1\n    # one", "# one\n\n# two\nx = 1", True),
        ('x = """\n# a"""', 'x = """\n# b"""', False),
        ('x = "# no comment"', 'x = "# another text"', False),
        ('x = """text"""', 'x = """another"""', False),
        ("if a:\n    x = 1\n    y = 2", "if a:\n    x = 1\ny = 2", False),
        ('def f():\n    """Doc."""', "def f():\n    pass", False),
    ],
)
def test_words_about_the_code_do_not_change_its_digest(lib, before, after, same):
    cell = "from sensorprivacy.game import splits"
    change(lib, "game/splits.py", before)
    first = code_digest(notebook(lib.parent, cell), lib)
    change(lib, "game/splits.py", after)
    assert (code_digest(notebook(lib.parent, cell), lib) == first) == same


def test_code_that_draws_and_judges_does_not_change_the_digest(lib):
    for name in ("show/__init__.py", "papers/__init__.py"):
        (lib / "compendium" / name).parent.mkdir(parents=True, exist_ok=True)
        (lib / "compendium" / name).write_text("x = 1")
    (lib / "compendium/__init__.py").write_text("")
    cell = notebook(lib.parent, "from compendium import papers, show")
    first = code_digest(cell, lib)
    change(lib, "../compendium/show/__init__.py", "x = 2")
    assert code_digest(cell, lib) == first
    change(lib, "../compendium/papers/__init__.py", "x = 2")
    assert code_digest(cell, lib) != first


def test_imports_are_followed_and_other_modules_left_out(lib):
    found = reached(lib, "%matplotlib inline\nimport numpy", "from sensorprivacy.threeway import division")
    assert found == [
        "__init__.py",
        "game/__init__.py",
        "game/play.py",
        "game/splits.py",
        "paths.py",
        "threeway/__init__.py",
        "threeway/division.py",
    ]


def test_styles_and_catalogues_beside_the_code_count(lib):
    assert reached(lib, "from sensorprivacy import report") == [
        "__init__.py",
        "report/__init__.py",
        "report/style/plain.mplstyle",
    ]


def test_a_notebook_without_the_package_depends_on_nothing(lib):
    assert reached(lib, "import numpy as np") == []


def test_of_a_lazy_package_only_the_names_that_are_used_count(lib):
    package = lib / "sensorprivacy"
    (package / "__init__.pyi").write_text("from .minimize.greedy import greedy\nfrom .threeway.division import divide")
    used = ["__init__.py", "__init__.pyi", "minimize/__init__.py", "minimize/greedy.py"]
    assert set(used) <= set(reached(lib, "from sensorprivacy import greedy"))
    assert "threeway/division.py" not in reached(lib, "from sensorprivacy import greedy")
    assert reached(lib, "from sensorprivacy import report")[:3] == ["__init__.py", "__init__.pyi", "report/__init__.py"]
    whole = reached(lib, "import sensorprivacy")
    assert {"minimize/greedy.py", "threeway/division.py"} <= set(whole)


def test_imports_in_any_block_are_found():
    code = """
def one():
    with open("a") as file:
        import sensorprivacy.a
async def two():
    async for each in file:
        import sensorprivacy.b
class Three:
    try:
        import sensorprivacy.c
    except* OSError:
        import sensorprivacy.d
    else:
        import sensorprivacy.e
    finally:
        import sensorprivacy.f
while True:
    if 1:
        pass
    elif 2:
        import sensorprivacy.g
    else:
        import sensorprivacy.h
else:
    match 3:
        case 3:
            import sensorprivacy.i
"""
    assert imported(code) == {f"sensorprivacy.{letter}" for letter in "abcdefghi"}


def test_relative_imports_are_resolved():
    assert imported("from . import a", "sensorprivacy.x.y") == {"sensorprivacy.x.a"}
    assert imported("from .. import a", "sensorprivacy.x.y") == {"sensorprivacy.a"}
    assert imported("from .b import c", "sensorprivacy.x", is_package=True) == {"sensorprivacy.x.b.c"}
    assert imported("from ..b import c", "sensorprivacy.x", is_package=True) == {"sensorprivacy.b.c"}
    assert imported("import sensorprivacy.a.b") == {"sensorprivacy.a.b"}
    assert imported("import os\nfrom sensor import b") == set()


def test_the_real_package_is_found(root):
    assert module_file("sensorprivacy.paths", root / "lib") == root / "lib" / "sensorprivacy" / "paths.py"
    assert module_file("sensorprivacy.nothing", root / "lib") is None


def test_of_a_lazy_package_that_is_imported_whole_only_the_attributes_that_are_used_count(lib):
    """`from compendium import datasets` reached every reader."""
    package = lib / "sensorprivacy"
    (package / "game/__init__.py").write_text("")
    (package / "game/__init__.pyi").write_text("from .play import play\nfrom . import table")
    (package / "game/table.py").write_text("")
    assert "game/play.py" not in reached(lib, "from sensorprivacy import game as judge", "judge.table.one()")
    assert "game/play.py" in reached(lib, "from sensorprivacy import game", "game.play()")
    assert "game/play.py" in reached(lib, "from sensorprivacy import game", "use(game)")


def test_imports_for_type_checkers_do_not_run():
    code = "if TYPE_CHECKING:\n    import sensorprivacy.a\nelse:\n    import sensorprivacy.b"
    assert imported(code) == {"sensorprivacy.b"}


def test_the_toy_example_depends_on_fewer_than_forty_modules(root):
    """It was 87, because every reader and all code for own tables was imported."""
    found = package_files(root / "notebooks" / "20_threeway_example.ipynb", root / "lib")
    modules = [path for path in found if path.suffix == ".py" and path.stem != "__init__"]
    assert len(modules) < 40


def test_a_change_in_the_reader_of_captures_concerns_the_runs_that_read_captures(root, tmp_path):
    runs = [
        ("20_threeway_example", []),
        ("10_reidentification_game", ["iot-sentinel"]),
        ("10_reidentification_game", ["smartwatch"]),
        ("21_threeway_division", ["adult"]),
    ]
    lib = shutil.copytree(root / "lib", tmp_path / "lib", ignore=shutil.ignore_patterns("__pycache__"))

    def digests():
        return [code_digest(root / "notebooks" / f"{notebook}.ipynb", lib, sets) for notebook, sets in runs]

    before = digests()
    with (lib / "sensorprivacy/readers/pcap.py").open("a") as stream:
        stream.write("CHANGED = True\n")
    for each in (dependencies.module_file, dependencies._needed, dependencies._imported_by):
        each.cache_clear()
    dependencies._content_digest.cache_clear()
    outdated = [one != other for one, other in zip(before, digests(), strict=True)]
    assert outdated == [False, True, False, False]


def test_your_own_file_brings_the_code_that_reads_it(root):
    path = root / "notebooks" / "20_threeway_example.ipynb"
    own = root / "lib" / "sensorprivacy" / "own" / "read" / "formats.py"
    assert own in package_files(path, root / "lib", ["home.csv"])
    assert own not in package_files(path, root / "lib", ["adult"])
