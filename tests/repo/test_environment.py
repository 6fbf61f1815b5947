"""pyproject.toml, requirements.lock and environment.yml say the same."""

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
def locked(root):
    lines = [line.split("#")[0].strip() for line in (root / "requirements.lock").read_text().splitlines()]
    return [Requirement(line) for line in lines if line]


def test_the_lock_holds_exact_versions_and_no_place_to_get_them(root, locked):
    assert all(re.fullmatch(r"==[^*+]+", str(each.specifier)) for each in locked)
    assert not re.search(r"^\s*-|://|\+cpu|\+cu", (root / "requirements.lock").read_text(), re.MULTILINE)
    names = [each.name for each in locked]
    assert len(names) == len(set(names))


def test_the_lock_has_everything_that_the_project_names(project, locked):
    pinned = {canonicalize_name(each.name): str(each.specifier).removeprefix("==") for each in locked}
    named = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    for each in map(Requirement, named):
        name = canonicalize_name(each.name)
        assert name in pinned, f"{name}: run `make lock`"
        assert each.specifier.contains(pinned[name]), f"{name}: run `make lock`"


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
    assert pip == {"pip": ["-r requirements.lock", "-e .", "-e lib"]}
    (python,) = [Requirement(line.replace("=", "==", 1)) for line in conda if line.startswith("python=")]
    wanted = Requirement(f"python{project['requires-python']}")
    assert wanted.specifier.contains(str(python.specifier).removeprefix("=="))
