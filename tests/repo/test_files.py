"""The files that the repository holds, and those that it must not hold."""

import ast
import hashlib
import json
import re
import subprocess

import pytest

from compendium.run.modules import imports_of

NEEDED = [
    ".ci/run",
    ".devcontainer/devcontainer.json",
    ".gitattributes",
    ".github/workflows/tests.yml",
    ".gitignore",
    ".pre-commit-config.yaml",
    ".zenodo.json",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "DEVIATIONS.md",
    "LICENSE",
    "LICENSE-TEXT",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "Snakefile",
    "data/README.md",
    "environment.yml",
    "pyproject.toml",
    "requirements.lock",
    "requirements.hashes",
    "requirements-dev.lock",
    "requirements-dev.hashes",
    "runs.yaml",
]
BINARY = {".png", ".svg", ".pdf", ".parquet", ".onnx", ".npz", ".zip", ".gz"}
# Written in parts, so that this file does not name them.
HOSTS = re.compile(r"\bpypi" r"\.org|python" r"hosted\.org|npm" r"js\.(com|org)|deb\.deb" r"ian\.org|anaconda" r"\.org")
ABSOLUTE = re.compile(r"(?<![\w.:/{}])/(?:work|root|farm|home|Users)/\w")


@pytest.fixture(scope="session")
def tracked(root):
    """Return the files that git tracks, or, in an unpacked archive, all that are not ignored by name."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [root / name for name in done.stdout.split("\0") if name and (root / name).is_file()]


def texts(files):
    return [(path, path.read_text(encoding="utf-8")) for path in files if path.suffix not in BINARY]


@pytest.mark.parametrize("name", NEEDED)
def test_what_a_newcomer_looks_for_is_there(root, name):
    assert (root / name).stat().st_size


def test_no_file_names_a_registry_or_a_folder_of_one_machine(root, tracked):
    found = {
        path.relative_to(root).as_posix(): match[0]
        for path, text in texts(tracked)
        for pattern in (HOSTS, ABSOLUTE)
        if (match := pattern.search(text))
    }
    assert found == {}


def test_a_checkout_has_the_same_bytes_where_git_converts_line_ends(root, tracked, tmp_path):
    """`compendium verify` called 432 files of such a checkout wrong."""
    clone = ["git", "clone", "--quiet", "--config", "core.autocrlf=true", str(root), str(tmp_path / "copy")]
    subprocess.run(clone, check=True)
    shown = subprocess.run(["git", "ls-files", "--eol"], cwd=clone[-1], capture_output=True, text=True, check=True)
    lines = shown.stdout.splitlines()
    assert len(lines) > 1000
    assert [line for line in lines if re.search(r"w/(crlf|mixed)", line)] == []


def test_no_data_and_nothing_large_is_tracked(root, tracked):
    names = [path.relative_to(root).as_posix() for path in tracked]
    assert [name for name in names if re.match(r"data/(raw|derived)/|build/|figures/quick/|\.venv/", name)] == []
    assert [str(path) for path in tracked if path.stat().st_size > 2_000_000] == []


def test_committed_results_are_tables_and_pictures_with_the_digests_of_their_runs(root):
    """Readable copies of tables are made when the book is built: 26 of 49 MB were copies."""
    found, listed = {}, {}
    for record in (root / "figures").glob("*/run.json"):
        run = record.parent
        listed |= {f"{run.name}/{name}": digest for name, digest in json.loads(record.read_text())["files"].items()}
        others = [path for path in run.rglob("*") if path.is_file() and path.name not in ("run.json", "machine.json")]
        assert {path.suffix for path in others} <= {".csv", ".png"}, run.name
        found |= {
            path.relative_to(root / "figures").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in others
            if path.parent == run
        }
    assert found == listed


def test_nothing_is_left_to_do(root, tracked):
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|raise Not" r"ImplementedError)\b|@pytest\.mark\.x" r"fail")
    ours = [path for path in tracked if path.suffix == ".py"]
    assert [path.relative_to(root).as_posix() for path, text in texts(ours) if words.search(text)] == []


def test_every_module_has_its_tests(root):
    """Its own file, or a test file of its package that imports it or uses a name that it defines."""
    lib, tests = root / "lib", root / "tests"
    untested = []
    for path in (
        file for name in ("sensorprivacy", "sensorrelease", "compendium") for file in (lib / name).rglob("*.py")
    ):
        parts = path.relative_to(lib).with_suffix("").parts
        mirrored = parts[1:-1] if parts[0] == "sensorprivacy" else parts[:-1]
        folder = tests.joinpath(*mirrored)
        folder = folder if folder.is_dir() else tests.joinpath(*mirrored[:-1])
        if path.stem in {"__init__", "__main__"} or (folder / f"test_{path.stem}.py").is_file():
            continue
        name, texts_of_package = ".".join(parts), [other.read_text("utf-8") for other in folder.glob("test_*.py")]
        if not any(
            f"{name}." in f"{'. '.join(imported(text))}." or own_names(path) & words(text) for text in texts_of_package
        ):
            untested.append(name)
    assert untested == []


def imported(text):
    """Return the dotted names that code imports."""
    return {".".join([base, *names]) for base, names in imports_of(ast.parse(text), "", package=False).values()}


def own_names(path):
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_"}


def words(text):
    return set(re.findall(r"\w+", text))


def test_ignored_is_what_runs_make(root):
    for name in ("build/x", "figures/quick/a/t.csv", "data/raw/a.csv", ".venv/x"):
        done = subprocess.run(["git", "check-ignore", "-q", name], cwd=root, check=False)
        assert done.returncode in (0, 128), name


def test_no_module_is_longer_than_350_lines_and_no_function_than_60_without_its_docstring(root):
    modules, functions = {}, {}
    for path in sorted((root / "lib").rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(root / "lib").as_posix()
        modules[name] = len(text.splitlines())
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                header = node.body[0].lineno - node.lineno
                functions[f"{name}: {node.name}"] = header + node.end_lineno - first.lineno + 1
    assert {name: lines for name, lines in modules.items() if lines > 350} == {}
    assert {name: lines for name, lines in functions.items() if lines > 60} == {}
