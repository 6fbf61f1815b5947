"""The pyproject.toml files, the two locks and environment.yml say the same."""

import re
import tomllib
from importlib.metadata import metadata, version

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name


@pytest.fixture(scope="session")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="session")
def compendium(root):
    return tomllib.loads((root / "lib" / "pyproject.toml").read_text())["project"]


def read(path):
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return [Requirement(line) for line in lines if line]


@pytest.fixture(scope="session")
def locked(root):
    return read(root / "requirements-dev.lock")


def pinned(requirements):
    return {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in requirements}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_holds_exact_versions_and_no_place_to_get_them(root, name):
    found = read(root / name)
    assert all(re.fullmatch(r"==[^*+]+", str(each.specifier)) for each in found)
    assert not re.search(r"^\s*-|://|\+cpu|\+cu", (root / name).read_text(), re.MULTILINE)
    assert len(pinned(found)) == len(found)


def test_each_locked_file_has_its_digests_except_pytorch_s(root, locked):
    """A file that was changed on its way must not be installed. PyTorch has other builds in other indexes."""
    found = {}
    for name in ("requirements.hashes", "requirements-dev.hashes"):
        for entry in (root / name).read_text().replace("\\\n", "").splitlines():
            package, *digests = entry.split()
            assert package not in found
            assert digests
            assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", digest) for digest in digests)
            found[package] = name
    small = {str(each) for each in read(root / "requirements.lock")}
    (torch,) = [str(each) for each in locked if each.name == "torch"]
    assert found.keys() == {str(each) for each in locked} - {torch}
    assert {package for package, name in found.items() if name == "requirements.hashes"} == small - {torch}


def test_the_builder_of_our_packages_is_locked(root):
    locked = pinned(read(root / "requirements.lock"))
    for folder in (root, root / "lib"):
        for line in tomllib.loads((folder / "pyproject.toml").read_text())["build-system"]["requires"]:
            needed = Requirement(line)
            assert needed.specifier.contains(locked[needed.name])


def test_the_notebooks_need_two_thirds_of_what_was_locked_and_no_tools(root, locked):
    """One lock of 256 packages held browsers' drivers, nbgrader, Slurm's plugin and linters for everybody."""
    small, whole = pinned(read(root / "requirements.lock")), pinned(locked)
    assert small.items() <= whole.items()
    assert len(small) <= 256 * 2 / 3
    assert not small.keys() & {"playwright", "nbgrader", "snakemake-executor-plugin-slurm", "sphinx", "ruff", "pytest"}


def test_the_locks_have_everything_that_the_projects_name(root, project, compendium, locked):
    library = [*project["dependencies"], *_extras(project, "latent", "edge", "release")]
    tools = [*_extras(project), *_extras(compendium)]
    for named, lock in (
        ([*library, *compendium["dependencies"]], read(root / "requirements.lock")),
        ([*library, *compendium["dependencies"], *tools], locked),
    ):
        versions = pinned(lock)
        for each in map(Requirement, named):
            name = canonicalize_name(each.name)
            if name != project["name"]:
                assert name in versions, f"{name}: run `make lock`"
                assert each.specifier.contains(versions[name]), f"{name}: run `make lock`"


def _extras(project, *names):
    extras = project["optional-dependencies"]
    return [line for name in names or extras for line in extras[name]]


def test_what_is_installed_is_what_is_locked(locked):
    differing = {
        each.name: installed
        for each in locked
        if not each.specifier.contains((installed := version(each.name)).split("+")[0], prereleases=True)
    }
    assert differing == {}


def test_what_is_locked_runs_on_the_oldest_python_that_the_project_names(project, locked):
    (oldest,) = [str(each.version) for each in SpecifierSet(project["requires-python"]) if each.operator == ">="]
    wanted = {each.name: metadata(each.name).get("Requires-Python") or "" for each in locked}
    assert {name: python for name, python in wanted.items() if not SpecifierSet(python).contains(f"{oldest}.0")} == {}


def test_conda_users_get_the_same_packages_by_pip(root, project):
    said = yaml.safe_load((root / "environment.yml").read_text())
    *conda, pip = said["dependencies"]
    assert said["name"] == project["name"]
    assert said["channels"] == ["conda-forge"]
    assert "pip" in conda
    without_cuda = "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert pip == {"pip": [without_cuda, "-r requirements.lock", "-e .", "-e lib"]}
    assert f"\nCPU_INDEX = {without_cuda.split()[1]}\n" in (root / "Makefile").read_text()
    (python,) = [Requirement(line.replace("=", "==", 1)) for line in conda if line.startswith("python=")]
    wanted = Requirement(f"python{project['requires-python']}")
    assert wanted.specifier.contains(str(python.specifier).removeprefix("=="))


def test_the_wheel_contains_the_library_and_the_release_tool(root):
    found = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    assert found == {"where": ["lib"], "include": ["sensorprivacy*", "sensorrelease*"]}
    packages = {path.parent.name for path in (root / "lib").glob("*/__init__.py")}
    assert packages == {
        "sensorprivacy",
        "sensorrelease",
        "compendium",
    }  # the last one is installed from a checkout by lib/pyproject.toml
