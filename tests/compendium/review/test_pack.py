"""The reviewer's pack describes every file of the compendium, and nothing that is not there."""

import json
import re
import subprocess
import zipfile

import pytest
import yaml
from rocrate.rocrate import ROCrate

from compendium.cli import main
from compendium.paths import figures_dir
from compendium.review import pack as pack_module
from compendium.review.pack import licence
from compendium.verdicts import printed_values
from compendium.verdicts.verdicts import read_verdicts
from sensorprivacy import __version__

PLACEHOLDER = re.compile(r"FIX[M]E|TO[D]O|placeholder|XXXXX", re.IGNORECASE)  # as in the register's own package
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


def test_a_copy_without_git_is_told_so(tmp_path, monkeypatch, capsys):
    """It has files of which nobody says whether they may leave."""
    monkeypatch.setattr(pack_module, "git", lambda *words: None)
    assert main(["review", "--out", str(tmp_path / "pack")]) == 1
    assert "a pack needs a clone of the repository" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


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
    assert manifest[0]["comment"].startswith(f"{len(printed_values())} printed values")


def mistakes(record):
    """Return the rules of version 2.0 with severity *error* that a manifest breaks, as the register words them."""
    paper, checkers = record.get("paper") or {}, record.get("codechecker") or []
    authors = paper.get("authors") or []
    rules = {
        "manifest-present": isinstance(record.get("manifest"), list) and record["manifest"],
        "manifest-item-file": all(each.get("file") for each in record.get("manifest", [])),
        "manifest-path-relative": not any(each["file"].startswith("/") for each in record.get("manifest", [])),
        "codechecker-present": isinstance(checkers, list) and checkers,
        "codechecker-name": all(each.get("name") for each in checkers),
        "report-present": record.get("report"),
        "report-doi-not-placeholder": not PLACEHOLDER.search(str(record.get("report"))),
        "paper-title": paper.get("title"),
        "paper-authors": isinstance(authors, list) and authors,
        "paper-author-name": all(each.get("name") for each in authors),
        "paper-author-orcid": all(re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", each.get("ORCID", "")) for each in authors),
        "paper-reference": paper.get("reference"),
        "reference-other-is-list": isinstance(paper.get("reference-other", []), list),
        "summary-present": record.get("summary"),
        "certificate-id-format": re.fullmatch(r"\d{4}-\d{3}", str(record.get("certificate"))),
        "no-placeholder-values": not PLACEHOLDER.search(yaml.safe_dump(record)),
    }
    return {name for name, kept in rules.items() if not kept}


def test_only_the_checker_s_part_of_the_manifest_is_left_to_fill_in(pack):
    """Version 2.0: the author begins the file, and the codechecker adds who checked and the certificate."""
    text = (pack / "codecheck.yml").read_text(encoding="utf-8")
    assert text.startswith("%YAML 1.1\n---\n")
    record = yaml.safe_load(text)
    assert record["version"] == "https://codecheck.org.uk/spec/config/2.0/"
    assert mistakes(record) == {"report-doi-not-placeholder", "certificate-id-format", "no-placeholder-values"}
    orcid = {"name": "Josiah Carberry", "ORCID": "0000-0002-1825-0097"}
    filled = record | {"codechecker": [orcid], "certificate": "2026-001", "repository": "https://example.org/code"}
    filled |= {"report": "https://doi.org/10.5281/zenodo.1234567", "paper": record["paper"] | {"authors": [orcid]}}
    assert mistakes(filled) == set()
    listed = text.partition("paper:")[0]
    assert all(f"# - {name}" in listed for name in ("codechecker", "report", "certificate", "repository", "ORCID"))


def test_the_manifest_names_the_papers_and_where_everything_is(pack):
    record = yaml.safe_load((pack / "codecheck.yml").read_text(encoding="utf-8"))
    replicated = record["sensor_privacy_compendium"]["replicates"]
    assert len(replicated) == 3
    assert all(each["title"] and each["authors"] and each["reference"].startswith("https://") for each in replicated)
    assert __version__ in record["paper"]["reference"]
    assert "commit" in record["source"]
    assert "data/README.md" in record["source"]
    assert "check_time" not in record  # nobody has checked yet


def test_the_repository_is_that_of_the_citation(monkeypatch):
    """The citation file names it once the compendium is published."""
    verdicts = read_verdicts(figures_dir("paper") / "verdicts.csv")
    cited = pack_module._citation() | {"repository-code": "https://example.org/code"}
    monkeypatch.setattr(pack_module, "_citation", lambda: cited)
    record = yaml.safe_load(pack_module._codecheck(verdicts, summary="", made=""))
    assert record["repository"] == "https://example.org/code"


def test_the_report_is_short_and_the_environment_complete(pack):
    report = (pack / "report.md").read_text()
    assert len(report.splitlines()) < 80
    assert "make review CELL=" in report
    environment = (pack / "environment.txt").read_text()
    assert "numpy==" in environment
    assert "scikit-learn==" in environment


@pytest.mark.slow
def test_the_archive_is_one_file_that_an_archive_takes(root, tmp_path, monkeypatch, pack):
    """Sources, results, environment, licences and the description, in less than 100 MB."""
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(root))
    assert main(["archive", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == f"sensor-privacy-compendium-{__version__}.zip"
    assert path.stat().st_size < 100e6
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        assert archive.testzip() is None
    assert names == {found.relative_to(pack).as_posix() for found in pack.rglob("*") if found.is_file()}
    assert {"LICENSE", "LICENSE-TEXT", "requirements.lock", "environment.txt", "ro-crate-metadata.json"} <= names
