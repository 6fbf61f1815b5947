"""The reviewer's pack describes every file of the compendium, and nothing that is not there."""

import json
import re
import subprocess
from datetime import datetime

import pytest
import yaml
from rocrate.rocrate import ROCrate

from compendium.cli import main
from compendium.review.pack import licence

TYPES = {
    "README.md": "text/markdown",
    "Makefile": "text/plain",
    "report.md": "text/markdown",
    "figures/verdicts.csv": "text/csv",
    "notebooks/00_start_here.ipynb": "application/x-ipynb+json",
}


@pytest.fixture(scope="module")
def pack(root, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENSORPRIVACY_HOME", str(root))
        folder = tmp_path_factory.mktemp("review") / "pack"
        assert main(["review", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def graph(pack):
    return {each["@id"]: each for each in json.loads((pack / "ro-crate-metadata.json").read_text())["@graph"]}


def test_rocrate_reads_it_and_every_file_is_there(pack, graph):
    crate = ROCrate(pack)
    files = [each.id for each in crate.get_entities() if each.type == "File"]
    assert len(files) > 500
    assert [name for name in files if not (pack / name).is_file()] == []
    assert {part["@id"] for part in graph["./"]["hasPart"]} >= set(files)


def test_it_has_every_tracked_file_and_no_data_set(pack, root, graph):
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this copy has no git history")
    tracked = {name for name in listed.stdout.splitlines() if (root / name).is_file()}
    assert tracked <= graph.keys()
    assert not any(name.startswith(("data/raw", "build", "figures/quick")) for name in graph)


def test_every_reference_within_the_crate_has_its_entity(graph):
    def references(value):
        if isinstance(value, dict):
            yield from [value["@id"]] if set(value) == {"@id"} else [r for v in value.values() for r in references(v)]
        elif isinstance(value, list):
            yield from (found for each in value for found in references(each))

    named = {found for each in graph.values() for found in references({k: v for k, v in each.items() if k != "@id"})}
    outside = {name for name in named - graph.keys() if not name.startswith("https://w3id.org/ro/")}
    assert outside == set()


def test_every_file_has_a_licence_and_every_run_its_notebook(graph):
    files = [each for each in graph.values() if each["@type"] == "File"]
    assert all(each["license"]["@id"] in graph for each in files if each["@id"] != "ro-crate-metadata.json")
    assert all(each["contentSize"] for each in files if each["@id"] != "ro-crate-metadata.json")
    assert {name: graph[name]["encodingFormat"] for name in TYPES} == TYPES
    actions = [each for each in graph.values() if each["@type"] == "CreateAction"]
    assert len(actions) > 20
    assert all(each["instrument"]["@id"] in graph and each["result"] for each in actions)
    assert {each["@id"] for each in graph["./"]["mentions"]} == {each["@id"] for each in actions}
    assert graph["#python"]["url"]  # RO-Crate 1.2 and later ask for it
    assert (licence("figures/30_x/a.png"), licence("lib/a.py")) == ("CC-BY-4.0", "MIT")


def test_everything_has_a_name_and_a_description(graph):
    """RO-Crate recommends both for every entity."""
    assert [name for name, each in graph.items() if not each.get("name")] == []
    assert [name for name, each in graph.items() if not each.get("description")] == ["ro-crate-metadata.json"]


def test_the_root_names_both_licences(graph):
    """Most files are text, figures and tables: naming only the licence of the code would be wrong for them."""
    named = [each["@id"] for each in graph["./"]["license"]]
    assert named == ["https://spdx.org/licenses/MIT", "https://spdx.org/licenses/CC-BY-4.0"]
    files = [each for each in graph.values() if each["@type"] == "File" and "license" in each]
    assert {each["license"]["@id"] for each in files} == {*named}


def test_the_manifest_names_files_that_exist_and_counts_all_values(pack):
    manifest = yaml.safe_load((pack / "codecheck.yml").read_text())["manifest"]
    assert all((pack / each["file"]).is_file() for each in manifest)
    assert manifest[0]["comment"].startswith("1079 printed values")


def test_the_manifest_follows_version_1_0_and_leaves_nothing_to_fill_in(pack):
    text = (pack / "codecheck.yml").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    record = yaml.safe_load(text)
    assert record["version"] == "https://codecheck.org.uk/spec/config/1.0/"
    assert {"manifest", "codechecker", "report", "summary", "check_time", "paper"} <= record.keys()
    assert all(each["name"] for each in [*record["codechecker"], *record["paper"]["authors"]])
    assert record["paper"]["title"]
    assert all((pack / name).is_file() for name in (record["report"], record["paper"]["reference"]))
    assert datetime.fromisoformat(record["check_time"]).tzinfo is not None
    assert not re.search(r"fill in|FIX" r"ME|TO" r"DO|XXX", text)


def test_the_report_is_short_and_the_environment_complete(pack):
    report = (pack / "report.md").read_text()
    assert len(report.splitlines()) < 80
    assert "make review CELL=" in report
    environment = (pack / "environment.txt").read_text()
    assert "numpy==" in environment
    assert "scikit-learn==" in environment
