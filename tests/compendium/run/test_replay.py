"""Replay: equal files carry results over; other files, and changed code that did not run, do not."""

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from compendium.paths import figures_dir
from compendium.run import committed, definitions, replay, replayed
from compendium.run.definitions import Code
from compendium.run.replay import DIFFERS, SAME, UNCHANGED, UNSEEN, Outcome
from compendium.run.runs import read_runs

RUN = "20_threeway_example"
SHORT = 3  # minutes
LIB = Path(replay.__file__).parents[2]


def test_every_long_run_of_the_paper_profile_has_settings_for_replay():
    runs = read_runs().values()
    assert [run.name for run in runs if run.minutes.get("paper", 0) > SHORT and not run.replay] == []


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_process_of_a_replay_ends_with_its_parent(tmp_path):
    cell = nbformat.v4.new_code_cell("import time; open('begun', 'w').close(); time.sleep(600)")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "a.ipynb")
    job = {"notebook": str(tmp_path / "a.ipynb"), "lib": str(LIB), "name": "a", "seed": 0, "values": {}, "ran": "r"}
    script = [sys.executable, "-P", replayed.__file__, json.dumps(job)]
    parent = f"import subprocess, time; print(subprocess.Popen({script!r}).pid, flush=True); time.sleep(600)"
    environment = {**os.environ, "PYTHONPATH": str(LIB)}
    with subprocess.Popen([sys.executable, "-c", parent], cwd=tmp_path, env=environment, stdout=subprocess.PIPE) as one:
        child = psutil.Process(int(one.stdout.readline()))
        while not (tmp_path / "begun").exists():
            assert child.is_running()
            time.sleep(0.1)
        one.kill()
    child.wait(10)


def test_the_settings_keep_the_switches_of_the_paper_profile():
    """Choices, flags and what is left out by 0 stay; only sizes shrink."""
    for run in read_runs().values():
        paper = run.values("paper") if run.runs_in("paper") else {}
        for name, value in run.replay.items():
            before = paper.get(name)
            assert not isinstance(value, str | bool), f"{run.name}: {name} is a switch"
            if name in ("folds", "general_epochs"):
                assert bool(before) == bool(value), f"{run.name}: {name}"
            if name == "seeds":
                assert len(before) > 1
        assert not paper.get("folds") or run.replay["folds"] > 1
        assert not paper.get("race") or run.replay["k"] >= 7


def made(folder, **modules):
    """Write modules of a package and a notebook that calls `a.f`, and return their code."""
    for name, text in {"__init__": "", **modules}.items():
        path = folder / "lib" / "sensorprivacy" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cell = {"cell_type": "code", "metadata": {}, "source": "from sensorprivacy import a\n\na.f()"}
    (folder / "n.ipynb").write_text(json.dumps({"cells": [cell]}))
    return Code(folder / "n.ipynb", folder / "lib")


A, FILE = "sensorprivacy.a", "sensorprivacy/a.py"


ONE, TWO = "def f():\n    return 1", "def f():\n    return 2"
CALLS, LISTS = (
    "def f():\n    g()\n\ndef g():\n    return ",
    "def f():\n    return [x for x in g()]\n\ndef g():\n    return [1]",
)
OTHER = "\n\n    def two(self):\n        return "
NUMBER, METHOD = "C = {}\n\ndef f():\n    return C", "class f:\n    def one(self):\n        return "


@pytest.mark.parametrize(
    ("before", "after", "ran", "unseen"),
    [
        (ONE, TWO, [(FILE, "f")], []),
        (ONE, TWO, [], [f"{A}.f"]),
        (f"{CALLS}1", f"{CALLS}2", [(FILE, "f")], [f"{A}.g"]),
        (ONE, LISTS, [(FILE, "f"), (FILE, "g")], []),
        (NUMBER.format(1), NUMBER.format(2), [(FILE, "f")], []),
        (NUMBER.format(1), NUMBER.format(2), [], [f"{A}.C"]),
        (f"{METHOD}1", f"{METHOD}2", [(FILE, "f.one")], []),
        (f"{METHOD}1", f"{METHOD}2", [(FILE, "f.two")], [f"{A}.f"]),
        (f"{METHOD}1{OTHER}1", f"{METHOD}2{OTHER}2", [(FILE, "f.one")], [f"{A}.f"]),
        (f"@njit\n{ONE}", f"@njit\n{TWO}", [], []),
        (f"fast = njit(cache=True)\n\n@fast\n{ONE}", f"fast = njit(cache=True)\n\n@fast\n{TWO}", [], []),
        (ONE, f"{ONE}\n\nx = 2", [], []),
    ],
)
def test_a_changed_definition_must_have_been_executed(tmp_path, before, after, ran, unseen):
    definitions.forget()
    old, today = made(tmp_path / "old", a=before), made(tmp_path / "new", a=after)
    assert list(replay._unseen(old, today, frozenset(ran))) == unseen


def test_a_definition_that_only_moved_is_not_asked_for(tmp_path):
    definitions.forget()
    old = made(tmp_path / "old", a="def f():\n    return g()\n\ndef g():\n    return 1")
    today = made(
        tmp_path / "new", a="from sensorprivacy.b import g\n\ndef f():\n    return g()", b="def g():\n    return 1"
    )
    assert list(replay._unseen(old, today, frozenset())) == []


def test_randomness_and_clocks_are_the_same_in_every_replay(tmp_path, root):
    """Also secure noise, and what measures time."""
    notebook, values = tmp_path / "n.ipynb", []
    source = """
import os, secrets, time, timeit
import numpy as np
from sensorprivacy.latent.modify import SecretSource
from sensorprivacy.mechanisms import SecureNoise
drawn = [np.random.default_rng().random(), secrets.token_hex(4), secrets.randbelow(1000), os.urandom(4).hex()]
drawn += [SecretSource().bytes(4).hex(), SecureNoise().integers(3, 9).tolist()]
drawn += [SecureNoise().laplace(np.zeros(2), 1.0).tolist()]
drawn += [time.perf_counter(), timeit.timeit("1", number=10)]
display(drawn)
open(out, "w").write(repr(drawn))
"""
    cells = [(f"out = {str(tmp_path / 'out')!r}", ["parameters"]), (source, [])]
    page = [{"cell_type": "code", "metadata": {"tags": tags}, "source": text} for text, tags in cells]
    notebook.write_text(json.dumps({"cells": page}))
    job = {
        "notebook": str(notebook),
        "lib": str(root / "lib"),
        "name": "x",
        "seed": 0,
        "values": {},
        "ran": str(tmp_path / "ran"),
    }
    for _ in range(2):
        subprocess.run([sys.executable, "-P", replayed.__file__, json.dumps(job)], check=True)
        values.append((tmp_path / "out").read_text())
    assert values[0] == values[1]
    ran = json.loads((tmp_path / "ran").read_text())["functions"]
    assert ["sensorprivacy/latent/modify.py", "SecretSource.bytes"] in ran


@pytest.fixture
def checkout(root, tmp_path, monkeypatch):
    """Return a checkout of its own in which everything is committed, and a function that changes a file of it."""
    home = tmp_path / "home"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.png")
    for name in ("lib", "notebooks", "data"):
        shutil.copytree(root / name, home / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "raw"))
    shutil.copytree(root / "figures" / RUN, home / "figures" / RUN, ignore=ignored)
    for name in ("runs.yaml", "requirements.lock"):
        shutil.copyfile(root / name, home / name)
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(home))
    monkeypatch.setenv("SENSORPRIVACY_OUTPUT", str(home))
    definitions.forget()
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=home, check=True)

    def change(name, before, after):
        path = home / "lib" / name
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))
        definitions.forget()

    record = committed.read_record(read_runs()[RUN]) | {
        "code": Code(home / "notebooks" / f"{RUN}.ipynb", home / "lib").digest
    }
    (figures_dir("paper") / RUN / "run.json").write_text(json.dumps(record))
    yield change
    definitions.forget()


def ended(run=RUN) -> Outcome:
    return replay.replay([read_runs()[run]], "HEAD", say=lambda outcome: None)[0]


def state():
    return [kind for kind, where, _ in committed.findings(read_runs()[RUN]) if where == RUN]


@pytest.mark.slow
def test_results_carry_over_a_refactoring_and_no_change_of_numbers(checkout):
    assert ended().kind == UNCHANGED
    thresholds = "sensorprivacy/threeway/thresholds.py"
    checkout(
        thresholds,
        "if suitability < self.suitability:\n            return False",
        "if not suitability >= self.suitability:\n            return False",
    )
    assert state() == ["stale"]
    outcome = ended()
    assert (outcome.kind, outcome.joined) == (SAME, True)
    assert state() == ["carried over"]
    checkout("sensorprivacy/threeway/measures.py", "def suitability(", "def suitability_of(")
    assert ended().kind == "failed"
    checkout("sensorprivacy/threeway/measures.py", "def suitability_of(", "def suitability(")
    checkout("sensorprivacy/threeway/domains.py", "_SAFE_INTEGER = ", "_SAFE_INTEGER = -1 + ")
    assert ended().kind in (SAME, UNSEEN)
    checkout("compendium/show/tables.py", "digits: int = 10", "digits: int = 3")
    outcome = ended()
    assert (outcome.kind, outcome.joined) == (DIFFERS, False)
    assert "table-3.csv" in outcome.what
    assert state() == ["stale"]


def test_a_replay_that_wrote_nothing_shows_nothing(checkout, monkeypatch, tmp_path):
    """Two empty folders are the same."""
    script = tmp_path / "nothing.py"
    script.write_text(
        "import json, sys; open(json.loads(sys.argv[1])['ran'], 'w').write('{\"functions\": [], \"seconds\": 0}')"
    )
    monkeypatch.setattr(replay.replayed, "__file__", str(script))
    outcome = replay.replay([read_runs()[RUN]], "HEAD", every=True, say=lambda one: None)[0]
    assert (outcome.kind, outcome.what) == ("failed", "today: it wrote no files")


def test_each_state_makes_its_own_cache(checkout, monkeypatch, tmp_path):
    """An older commit ended with KeyError, because the cache held digests in a form that it did not know."""
    for name in ("verified/a.json", "derived/a.parquet", "adult/adult.data"):
        (tmp_path / "cache" / name).parent.mkdir(parents=True)
        (tmp_path / "cache" / name).touch()
    monkeypatch.setenv("SENSORPRIVACY_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "list.py"
    script.write_text(f"""
import json, os, sys
from pathlib import Path
folder = Path(os.environ["SENSORPRIVACY_OUTPUT"], "figures", "quick", {RUN!r})
folder.mkdir(parents=True, exist_ok=True)
cache = Path(os.environ["SENSORPRIVACY_CACHE"])
(folder / "cache.csv").write_text(" ".join(str(one.relative_to(cache)) for one in sorted(cache.glob("*/*"))))
Path(json.loads(sys.argv[1])["ran"]).write_text('{{"functions": [], "seconds": 0}}')
""")
    monkeypatch.setattr(replay.replayed, "__file__", str(script))
    run = read_runs()[RUN]
    assert replay.replay([run], "HEAD", every=True, say=lambda one: None)[0].kind == SAME
    for side in ("old", "new"):
        (found,) = Path(os.environ["SENSORPRIVACY_HOME"], "build", "replay", side).rglob("cache.csv")
        assert found.read_text() == "adult/adult.data"


def test_an_unknown_commit_is_named(checkout):
    with pytest.raises(replay.ReplayError, match="no-such-commit"):
        replay.replay([read_runs()[RUN]], "no-such-commit")


def test_the_script_imports_nothing_of_ours_before_the_library_is_chosen():
    tree = ast.parse(Path(replayed.__file__).read_text())
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert not any(name.startswith(("compendium", "sensorprivacy")) for name in names)
