"""The Makefile: help, and what it says where it cannot go on."""

import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def make(folder, *words):
    """Run make as from a shell: a make above these tests hands on its own words (SLOW=1) in these variables."""
    above = ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "SLOW", "TESTS")
    return subprocess.run(
        ["make", "-C", str(folder), "--no-print-directory", *words],
        env={name: value for name, value in os.environ.items() if name not in above},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(root, tmp_path):
    """Return a checkout without an environment."""
    (tmp_path / "lib").mkdir()
    locks = [path.name for path in root.glob("requirements*")]
    for name in ("Makefile", *locks, "pyproject.toml", "lib/pyproject.toml"):
        shutil.copy(root / name, tmp_path / name)
    return tmp_path


def test_bare_make_prints_every_target_with_its_help(root, bare):
    targets = re.findall(r"^([a-z]+):.*##", (root / "Makefile").read_text(), re.MULTILINE)
    done = make(bare)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")] == targets
    assert not (bare / ".venv").exists()


@pytest.mark.parametrize(
    ("target", "tools"),
    [("reproduce", False), ("review CELL=1", False), *((name, True) for name in ("test", "book", "lessons", "review"))],
)
def test_the_environment_is_made_from_the_locks_with_plain_pip(bare, target, tools):
    said = make(bare, "-n", *target.split()).stdout
    assert "-m venv .venv" in said
    assert "-m pip install" in said
    assert "-r requirements.lock" in said
    assert said.index("requirements.lock") < said.index("--no-deps --editable .")
    assert ("-r requirements-dev.lock" in said) is tools


def test_a_shell_can_read_every_recipe(root, bare):
    """A comma ended a text too early, and its quotation mark never closed: all tests passed, and make test failed."""
    targets = re.findall(r"^([a-z]+):.*##", (root / "Makefile").read_text(), re.MULTILINE)
    for words in (*([target] for target in targets), ["test", "SLOW=1"], ["review", "CELL=1"]):
        said = subprocess.run(["sh", "-n"], input=make(bare, "-n", *words).stdout, capture_output=True, text=True)
        assert said.stderr == "", words


def test_digests_of_files_are_checked_unless_somebody_says_no(bare):
    said = make(bare, "-n", "test").stdout
    for name in ("requirements", "requirements-dev"):
        assert f"--no-deps --require-hashes -r {name}.hashes" in said
        assert said.index(f"{name}.hashes") < said.index(f"-r {name}.lock")
    assert "--require-hashes" not in make(bare, "-n", "test", "HASHES=no").stdout


def test_an_old_python_is_refused_by_name(bare):
    old = bare / "python2.7"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = make(bare, f"PYTHON={old}", "reproduce")
    assert done.returncode
    assert f"error: {old} is not Python 3.11 or newer; name one that is: make PYTHON=" in done.stderr
    assert not (bare / ".venv").exists()


def test_a_python_without_venv_is_told_what_to_install(bare):
    poor = bare / "python3"
    poor.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\nmkdir -p .venv\nexit 1\n')
    poor.chmod(0o755)
    done = make(bare, f"PYTHON={poor}", "lint")
    assert done.returncode
    assert "install python3-venv" in done.stderr
    assert not (bare / ".venv").exists()


@pytest.mark.parametrize(
    ("words", "slow"), [("", False), ("SLOW=1", True), ("TESTS=tests/cluster", True), ("TESTS=tests", False)]
)
def test_slow_tests_run_where_somebody_asks_for_them(bare, words, slow):
    said = make(bare, "-n", "test", *words.split()).stdout
    assert ('-m "not slow"' in said) is not slow
    assert ("make test SLOW=1 runs them" in said) is not slow
