"""The digest of a run's code: changes that can change a table are noticed, and changes of words are not.

Each mutation is made in a copy of the library, the notebooks and the printed values.
"""

import shutil
import textwrap

import nbformat
import pytest

from compendium.run import definitions
from compendium.run.definitions import Code

GAME, METHODS, EXAMPLE, VAE, ATTACK = (
    ("10_reidentification_game", "cic-ids-2017"),
    ("11_selection_methods", "cic-ids-2017"),
    ("20_threeway_example", "sample"),
    ("30_vae_anonymization", "motionsense"),
    ("31_reidentification_attack", "motionsense"),
)
ALL = [GAME, METHODS, EXAMPLE, VAE, ATTACK]
PRIVACY, COMPENDIUM = "lib/sensorprivacy", "lib/compendium"

# file, before, after, the runs of ALL that must notice it
NOTICED = {
    "the level of an interval": (f"{COMPENDIUM}/verdicts/prediction.py", "0.975)", "0.95)", [GAME, VAE]),
    "the digits of a table": (f"{COMPENDIUM}/show/tables.py", "digits: int = 10", "digits: int = 4", ALL),
    "fewer rows of a table": (
        f"{COMPENDIUM}/datasets/registry.py",
        "return read(store.fetch(str(name)), rows)",
        "return read(store.fetch(str(name)), rows).head(100)",
        [EXAMPLE],
    ),
    "the decorator of a function": (
        f"{PRIVACY}/latent/training.py",
        "@torch.no_grad()\ndef evaluate",
        "def evaluate",
        [VAE, ATTACK],
    ),
    "a constant": (f"{COMPENDIUM}/papers/paper3/values.py", "EQUAL = 0.02", "EQUAL = 0.03", [VAE, ATTACK]),
    "a constant that only another module imports": (f"{PRIVACY}/game/samples.py", "FEW = ", "FEW = 1 + ", ALL[:1]),
    "the default of a parameter": (
        f"{PRIVACY}/threeway/thresholds.py",
        "step: float = 0.05",
        "step: float = 0.04",
        [EXAMPLE],
    ),
    "the default of a field": (
        f"{PRIVACY}/latent/training.py",
        "    batch: int = ",
        "    batch: int = 1 + ",
        [VAE, ATTACK],
    ),
    "a printed value": ("data/paper/paper-1.csv", "0.9798", "0.9797", [GAME]),
    "a published curve": ("data/paper/curves.csv", "448675", "448676", [METHODS]),
    "a message that is no error": (f"{COMPENDIUM}/run/judging.py", '"the test does not decide"', '"open"', ALL),
}

UNNOTICED = {
    "a word of an error": (
        f"{PRIVACY}/latent/training.py",
        "give at least 1 epoch, batches",
        "give one epoch, batches",
    ),
    "a second space": (f"{PRIVACY}/threeway/division.py", " = ", "  = "),
    "a comment": (f"{PRIVACY}/game/samples.py", "FEW = ", "# about twelve\nFEW = "),
    "a docstring": (f"{PRIVACY}/threeway/thresholds.py", "Search the thresholds", "Look for the thresholds"),
    "an annotation": (f"{PRIVACY}/threeway/thresholds.py", "step: float = 0.05", "step: int | float = 0.05"),
    "the type of a variable": (
        f"{PRIVACY}/threeway/thresholds.py",
        "    failed: dict[str, str] = {}",
        "    failed = {}",
    ),
    "the type of a field": (f"{PRIVACY}/latent/training.py", "    batch: int = ", "    batch: float = "),
    "the name of a local variable": (f"{PRIVACY}/threeway/thresholds.py", "failed", "blocked"),
    "the words of a warning": (f"{PRIVACY}/game/attack.py", '{name} on {scene.name}: {error}"', '{name}: {error}"'),
    "the map of printed values": ("data/paper/paper-1.csv", "10_reidentification_game-cic-ids-2017", "10_other"),
    "the judge": (f"{COMPENDIUM}/verdicts/verdicts.py", "_SLACK = 1e-12", "_SLACK = 1e-9"),
    "the runner": (f"{COMPENDIUM}/run/provenance.py", 'DRAWN = "drawn"', 'DRAWN = "varying"'),
    "how files are found": (f"{COMPENDIUM}/datasets/store.py", "def fetch(", "CHANGED = 1\n\n\ndef fetch("),
    "an address": (f"{COMPENDIUM}/datasets/catalogue.toml", "https://", "https://www."),
    "the reader of another set": (f"{COMPENDIUM}/readers/pcap.py", "import struct", "import struct\n\nCHANGED = True"),
    "own tables": ("lib/sensorrelease/card.py", "def ", "CHANGED = 1\n\n\ndef "),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory, root):
    """Return a copy of what makes tables, with the digests of `ALL`."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("lib", "notebooks", "data/paper"):
        shutil.copytree(
            root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "lessons")
        )
    return folder, digests(folder)


def digests(folder, runs=ALL):
    definitions.forget()
    return {run: Code(folder / "notebooks" / f"{run[0]}.ipynb", folder / "lib", [run[1]]).digest for run in runs}


def mutate(folder, name, before, after):
    """Change a file of the copy, and return its path and its text before."""
    path = folder / name
    original = path.read_text(encoding="utf-8")
    assert before in original, f"{name} has no {before!r}: choose another mutation"
    path.write_text(original.replace(before, after), encoding="utf-8")
    return path, original


@pytest.mark.parametrize("mutation", NOTICED)
def test_a_change_that_can_change_a_table_is_noticed(copied, mutation):
    (folder, first), (*change, runs) = copied, NOTICED[mutation]
    path, original = mutate(folder, *change)
    try:
        assert {run for run, digest in digests(folder, runs).items() if digest != first[run]} == set(runs)
    finally:
        path.write_text(original, encoding="utf-8")


def test_changes_of_words_are_not(copied):
    """All at once; if one is noticed, the message names it."""
    folder, first = copied
    files = {}
    try:
        for change in UNNOTICED.values():
            path, original = mutate(folder, *change)
            files.setdefault(path, original)
        found = (
            [] if digests(folder) == first else [name for name in UNNOTICED if _is_noticed(folder, files, first, name)]
        )
    finally:
        for path, original in files.items():
            path.write_text(original, encoding="utf-8")
    assert found == []


def _is_noticed(folder, files, first, name):
    for path, original in files.items():
        path.write_text(original, encoding="utf-8")
    mutate(folder, *UNNOTICED[name])
    return digests(folder) != first


def test_paper_2_is_no_part_of_runs_of_paper_1(copied):
    """The walk led from the runner to the judge, to the papers' contradictions, to `threeway`."""
    folder, first = copied
    path, original = mutate(folder, f"{PRIVACY}/threeway/division.py", "np.log", "np.log2")
    try:
        assert [run for run, digest in digests(folder, [GAME, EXAMPLE]).items() if digest != first[run]] == [EXAMPLE]
    finally:
        path.write_text(original, encoding="utf-8")


def test_a_change_in_the_reader_of_captures_concerns_the_runs_that_read_captures(copied):
    folder, _ = copied
    runs = [("10_reidentification_game", "iot-sentinel"), GAME, ("10_reidentification_game", "smartwatch")]
    before = digests(folder, runs)
    path, original = mutate(folder, f"{COMPENDIUM}/readers/pcap.py", "ETHERNET + 60 + 60", "ETHERNET + 60 + 61")
    try:
        after = digests(folder, runs)
        assert [run for run in runs if after[run] != before[run]] == runs[:1]
    finally:
        path.write_text(original, encoding="utf-8")


def test_a_definition_may_move_to_another_module(copied):
    folder, first = copied
    module, user = folder / COMPENDIUM / "verdicts/prediction.py", folder / COMPENDIUM / "papers/paper1/values.py"
    text, other = (path.read_text(encoding="utf-8") for path in (module, user))
    try:
        module.rename(module.with_name("foretold.py"))
        user.write_text(
            other.replace("compendium.verdicts.prediction", "compendium.verdicts.foretold"), encoding="utf-8"
        )
        assert digests(folder, [GAME]) == {GAME: first[GAME]}
    finally:
        module.write_text(text, encoding="utf-8")
        user.write_text(other, encoding="utf-8")


def made(folder, cell, **modules):
    """Write a notebook of one cell and modules of a package, and return their code."""
    definitions.forget()
    for name, text in {"__init__": "", **modules}.items():
        path = folder / "lib" / "sensorprivacy" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbformat.write(notebook, folder / "a.ipynb")
    return Code(folder / "a.ipynb", folder / "lib")


CELL = "from sensorprivacy import a\n\na.f(1)"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("def f(x):\n    y = x\n    return y", "def f(x):\n    z = x\n    return z", True),
        ("def f(x):\n    y = x\n    return y", "def f(x):\n    y = x\n    return x", False),
        ("def f(x):\n    return [y for y in x]", "def f(x):\n    return [z for z in x]", True),
        ("g = 1\nh = 2\ndef f(x):\n    return g", "g = 1\nh = 2\ndef f(x):\n    return h", False),
        ("g = 1\ndef f(x):\n    return [y for y in x], g", "g = 1\ndef f(x):\n    return [g for g in x], g", False),
        ("def f(x):\n    return x.query('x > @y')", "def f(x):\n    return x.query('x > @z')", False),
        ("def f(x):\n    y = 1\n    return eval('y')", "def f(x):\n    z = 1\n    return eval('y')", False),
        ("def f(x, y=1):\n    return x", "def f(x, y=2):\n    return x", False),
        ("y = 1\ndef f(x=y):\n    y = x\n    return y", "y = 1\nz = 1\ndef f(x=z):\n    y = x\n    return y", False),
        ("from math import e\ndef f(x):\n    return e", "from cmath import e\ndef f(x):\n    return e", False),
        ("def f(x):\n    assert x, 'one'", "def f(x):\n    assert x, 'two'", True),
        ("def f(x):\n    raise ValueError('one')", "def f(x):\n    raise TypeError('one')", False),
        ("def f(x):\n try: x\n except OSError as e: e", "def f(x):\n try: x\n except OSError as g: g", True),
        ("try:\n    f = 1\nexcept OSError:\n    f = 2", "try:\n    f = 1\nexcept OSError:\n    f = 3", False),
        ("f = []\nf += [1]", "f = []\nf += [2]", False),
        ("f = len\nprint(1)\nsum([1])", "f = len\nprint(1)\nsum([2])", False),
        ("class f:\n    x: int = 1", "class f:\n    x: float = 1", False),
        ("@dataclass\nclass f:\n    x: int = 1", "@dataclass\nclass f:\n    x: float = 1", True),
        ("@dataclass\nclass f:\n    x: int = 1", "@dataclass\nclass f:\n    x: ClassVar[int] = 1", False),
        ("@dataclass\nclass f:\n    x: int\n    y: int", "@dataclass\nclass f:\n    y: int\n    x: int", False),
        ("f = {'a': 1}", "f = {'a': 1, 'b': 2}", False),
        ("f = f'{1:.3f}'", "f = f'{1:.4f}'", False),
        ("async def f(x):\n    'Doc.'\n    return 1", "async def f(x) -> int:\n    return 1", True),
        ("f = 'compendium.readers.iot23:rows'", "f = 'sensorprivacy.readers.iot23:rows'", True),
        ("f = 'compendium.readers.iot23:rows'", "f = 'compendium.readers.iot23:flows'", False),
        ("f = 'compendium is a word.'", "f = 'sensorprivacy is a word.'", False),
    ],
)  # fmt: skip
def test_only_what_runs_counts(tmp_path, before, after, same):
    first = made(tmp_path, CELL, a=before).digest
    assert (made(tmp_path, CELL, a=after).digest == first) == same


def test_a_cell_may_import_a_definition_from_elsewhere(tmp_path):
    first = made(tmp_path, "from sensorprivacy import b\n\nb.f()", b="def f():\n    return 1").digest
    assert made(tmp_path, "from sensorprivacy.a import b\n\nb.f()", a="import sensorprivacy.b as b").digest == first
    assert made(tmp_path, "from math import b\n\nb.f()").digest != first


def test_files_that_a_definition_names_count(tmp_path):
    cell, text = (
        "from sensorprivacy.a import f\n\nf()",
        "def f():\n    return open('b.toml'), page('c.html'), FOLDER\n\nFOLDER = 'x'",
    )
    inside = tmp_path / "lib" / "sensorprivacy" / "templates"
    inside.mkdir(parents=True)
    digests = set()
    for name in ("b.toml", "templates/c.html", "templates/d.html", "other.toml", "b.toml"):
        (inside.parent / name).write_text(str(len(digests)))
        digests.add(made(tmp_path, cell, a=text).digest)
    assert len(digests) == 3  # b.toml, c.html, b.toml again


def test_only_what_the_cells_reach_counts(tmp_path):
    first = made(tmp_path, CELL, a="def f(x):\n    return 1\n\n\ndef g():\n    return 1").digest
    assert made(tmp_path, CELL, a="def f(x):\n    return 1\n\n\ndef g():\n    return 2").digest == first
    assert made(tmp_path, f"{CELL}\na.g()", a="def f(x):\n    return 1\n\n\ndef g():\n    return 2").digest != first


def test_a_module_that_is_used_whole_counts_whole(tmp_path):
    cell = "from sensorprivacy import a\n\nuse(a)"
    first = made(tmp_path, cell, a="def f(x):\n    return 1\n\n\ndef g():\n    return 1").digest
    assert made(tmp_path, cell, a="def f(x):\n    return 1\n\n\ndef g():\n    return 2").digest != first


def test_a_change_far_away_is_noticed_and_circles_end(tmp_path):
    """Each definition calls the next, and the last the first."""
    text = "\n".join(f"def f{place}():\n    return f{(place + 1) % 40}()\n" for place in range(40))
    cell = "from sensorprivacy.a import f0\n\nf0()"
    first = made(tmp_path, cell, a=text).digest
    assert made(tmp_path, cell, a=text.replace("return f0()", "return f0() + 1")).digest != first


def test_two_definitions_of_one_name_cannot_change_places(tmp_path):
    one, other = "def g():\n    return 1", "def g():\n    return 2"
    cell = "from sensorprivacy import a\n\na.f()"
    uses = "from sensorprivacy import b, c\n\ndef f():\n    return b.g() - c.g()"
    first = made(tmp_path, cell, a=uses, b=one, c=other).digest
    assert made(tmp_path, cell, a=uses, b=other, c=one).digest != first


def test_the_account_of_modules_names_what_changed(tmp_path):
    first = made(tmp_path, CELL, a="from sensorprivacy import b\n\ndef f(x):\n    return b.g()", b="def g():\n    pass")
    second = made(
        tmp_path, CELL, a="from sensorprivacy import b\n\ndef f(x):\n    return b.g()", b="def g():\n    return 1"
    )
    differ = {name for name in second.modules() if second.modules()[name] != first.modules()[name]}
    assert differ == {"sensorprivacy.b"}
