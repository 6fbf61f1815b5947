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
    assert said.count("-m pip install") == said.count("pip install --disable-pip-version-check --no-build-isolation")
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


@pytest.fixture
def stubbed(bare):
    """Return a function that makes a target with programs that only write down their words, and returns those lines."""
    programs = bare / "programs"

    def run(*words, index="", system="Linux", reaches=True, user=1000, **environment):
        python = f"""echo "$@" >> {bare}/said
            case "$*" in *"pip config list"*) echo "{index}";; *--index-url*) exit {int(not reaches)};;
            *jupyterlab*) env >> {bare}/said;; esac"""
        made = {".venv/bin/python": python, "programs/uname": f"echo {system}", "programs/id": f"echo {user}"}
        for name, text in made.items():
            path = bare / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        others = {name: value for name, value in os.environ.items() if name not in {"HOME", *environment, *HOMES}}
        others |= {name: value for name, value in environment.items() if value is not None}
        others |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(["make", *words], cwd=bare, env=others, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, (bare / "said").read_text().splitlines()

    return run


CPU = "--index-url https://download.pytorch.org/whl/cpu torch=="
HOMES = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR")
HOMES += ("SENSORPRIVACY_CACHE",)


@pytest.mark.parametrize(
    ("words", "how", "chosen"),
    [
        ([], {}, True),
        (["GPU=yes"], {}, False),
        ([], {"system": "Darwin"}, False),
        ([], {"index": "global.index-url='https://index.example/simple'"}, False),
        ([], {"index": ":env:.find-links='wheels'"}, False),
    ],
)
def test_linux_gets_pytorch_without_cuda_unless_somebody_chose_another(stubbed, words, how, chosen):
    """The public index has PyTorch with CUDA for Linux: 6.8 GB and ten minutes."""
    _, said = stubbed(".venv/.ready", *words, **how)
    assert sum(CPU in line for line in said) == chosen
    torch = next(at for at, line in enumerate(said) if "--constraint requirements.lock torch==" in line)
    assert not any(CPU in line for line in said[torch:])


def test_an_index_of_pytorch_that_does_not_answer_is_named(stubbed):
    shown, said = stubbed(".venv/.ready", reaches=False)
    assert "download.pytorch.org/whl/cpu did not answer: PyTorch now comes with CUDA, 6.8 GB" in shown
    assert any("--constraint requirements.lock torch==" in line for line in said)


def test_size_and_time_are_said_first_and_progress_is_shown(stubbed):
    shown, said = stubbed(".venv/.tools")
    assert re.search(r"GB to download and .* GB on disk, .* minutes", shown)
    large = [line for line in said if "requirements.hashes" in line or "-dev.hashes" in line or CPU in line]
    assert len(large) == 3
    assert not any("--quiet" in line for line in large)


@pytest.mark.parametrize("words", [[], ["HASHES=no"]])
def test_our_packages_are_built_by_the_locked_setuptools(stubbed, words):
    """The isolated build fetched the newest setuptools, with no digest."""
    _, said = stubbed(".venv/.tools", *words)
    installs = [line for line in said if "pip install" in line]
    assert all("--no-build-isolation" in line for line in installs)
    assert "/dev/stdin" in installs[0]
    assert ("--require-hashes" in installs[0]) is not bool(words)


def test_the_first_file_to_install_is_setuptools_with_its_digests(bare):
    command = next(line for line in make(bare, "-n", ".venv/.ready").stdout.splitlines() if "^setuptools" in line)
    picked = subprocess.run(["sh", "-c", command.partition("|")[0]], cwd=bare, capture_output=True, text=True).stdout
    assert re.fullmatch(r"setuptools==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", picked)


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_jupyterlab_starts_for_root_too(stubbed, user, allowed):
    _, said = stubbed("notebook", user=user)
    (command,) = [line for line in said if line.startswith("-m compendium.run.processes jupyterlab")]
    assert ("--allow-root" in command) is allowed


@pytest.mark.parametrize("home", [None, "/proc", "/no/such/folder"])
def test_notebooks_open_without_a_home_folder(stubbed, bare, home):
    _, said = stubbed("notebook", HOME=home)
    found = dict(line.split("=", 1) for line in said if line.startswith(HOMES))
    assert found == {name: f"{bare.resolve()}/build/home/{name.lower()}" for name in HOMES}


def test_a_home_folder_is_used_where_there_is_one(stubbed, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    _, said = stubbed("notebook", HOME=str(home), IPYTHONDIR="mine")
    assert [line for line in said if line.startswith(HOMES)] == ["IPYTHONDIR=mine"]
    assert list(home.iterdir()) == []


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
