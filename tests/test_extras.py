"""A package that is missing is named with the extra that brings it."""

import builtins
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sensorprivacy
from sensorprivacy import extras
from sensorrelease.cli import main


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def distributions():
    return {module: canonicalize_name(names[0]) for module, names in packages_distributions().items()}


def test_each_module_is_in_the_extra_that_names_it(project, distributions):
    listed = project["optional-dependencies"]
    for extra, modules in extras.EXTRAS.items():
        required = [Requirement(line) for line in listed[extra]]
        named = {canonicalize_name(name) for each in required for name in (each.name, *each.extras)}
        assert {distributions[module] for module in modules} <= named, extra


PROJECTS = {"sensorprivacy": ["sensorprivacy", "sensorrelease"], "compendium": ["compendium"]}


def sources(root, project):
    return "\n".join(path.read_text() for name in PROJECTS[project] for path in (root / "lib" / name).rglob("*.py"))


@pytest.mark.parametrize("package", PROJECTS)
def test_what_a_package_imports_is_required_or_in_an_extra(root, project, distributions, package):
    """No module imports a package that no dependency names."""
    if package == "compendium":
        project = tomllib.loads((root / "lib" / "pyproject.toml").read_text())["project"]
    text = sources(root, package)
    used = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)) - set(sys.stdlib_module_names)
    listed = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    requirements = [Requirement(line) for line in listed]
    named = {canonicalize_name(name) for each in requirements for name in (each.name, *each.extras)}
    guarded = {"IPython"} if package == "sensorprivacy" else set()  # asked for only where it is imported already
    unnamed = {name for name in used - guarded if name in distributions and distributions[name] not in named}
    assert unnamed <= {*PROJECTS, "sensorrelease"}


# Required, but not imported: a kernel, a shell and a workflow that other processes start; a bound for nbformat.
STARTED = {"ipykernel", "ipython", "jsonschema", "snakemake"}
# pandas and scikit-learn import the first two; the others bring distributed, and start its workers on a cluster.
BY_OTHERS = {"openpyxl", "polars", "dask", "dask-jobqueue"}


@pytest.mark.parametrize("package", PROJECTS)
def test_what_a_package_requires_is_imported(root, project, distributions, package):
    """No dependency is left of code that has gone: tabulate, nbclient and packaging were."""
    if package == "compendium":
        project = tomllib.loads((root / "lib" / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"] if package == "sensorprivacy" else {}
    required = {Requirement(line).name for lines in (project["dependencies"], *extra.values()) for line in lines}
    text = sources(root, package)
    imported = {distributions.get(name) for name in re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)}
    unused = {canonicalize_name(name) for name in required} - imported - STARTED - BY_OTHERS
    assert unused == set()


@pytest.fixture
def without_torch(monkeypatch):
    """Make every import of PyTorch fail, as where it is not installed."""
    import_ = builtins.__import__

    def refuse(name, *rest, **named):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return import_(name, *rest, **named)

    for name in [name for name in sys.modules if name.startswith("sensorprivacy.latent.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(vars(sensorprivacy), "LatentAnonymizer", raising=False)  # kept since its first use
    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_public_name_names_its_extra(without_torch):
    with pytest.raises(extras.MissingExtraError, match=r"needs torch.*pip install torch safetensors$"):
        sensorprivacy.LatentAnonymizer  # noqa: B018


def test_the_command_names_its_extra_and_shows_no_traceback(monkeypatch, capsys, tmp_path):
    def export(options):
        raise ModuleNotFoundError("No module named 'onnx'", name="onnx")

    monkeypatch.setattr("sensorrelease.commands.export", export)
    assert main(["edge", "export", "own.schema.yaml", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "error: this needs onnx, which is not installed: pip install onnx onnxruntime\n"


def test_a_module_of_no_extra_stays_an_error_of_ours(monkeypatch, tmp_path):
    def export(options):
        raise ModuleNotFoundError("No module named 'sensorprivacy.typo'", name="sensorprivacy.typo")

    monkeypatch.setattr("sensorrelease.commands.export", export)
    with pytest.raises(ModuleNotFoundError, match="typo"):
        main(["edge", "export", "own.schema.yaml", "--out", str(tmp_path)])


def test_the_core_needs_no_extra_and_commands_do_not_wait_for_figures():
    """What minimizes, compares and publishes a table is imported where none of them is installed."""
    names = {module for modules in extras.EXTRAS.values() for module in modules}
    code = f"""
import sys
from sensorprivacy import k_anonymity, linkage, play
assert "torch" not in sys.modules
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import sensorrelease.minimize_page, sensorrelease.comparison, sensorrelease.publishing.tables
import sensorprivacy.threeway.divider, sensorrelease.tables, sensorrelease.cli, sensorrelease.commands
assert "matplotlib" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr == ""
