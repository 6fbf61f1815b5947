"""README, CHANGELOG, CITATION: what they say is so."""

import json
import re
import tomllib

import click
import pytest
import yaml

from compendium.book import pages
from compendium.cli import compendium
from compendium.datasets.catalogue import catalogue
from sensorrelease.cli import group as sensorprivacy


@pytest.fixture(scope="session")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="session")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_every_data_set_has_its_card(root):
    page = (root / "data" / "README.md").read_text(encoding="utf-8")
    assert [name for name in catalogue() if f"`{name}`" not in page] == []


def test_links_and_files_it_names_exist(readme, root):
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", readme) if "://" not in link]
    assert links
    named = re.findall(r"\b(?:notebooks|data|lib|tests)/[\w./-]*\w\.(?:ipynb|md|py)\b", readme)
    assert [name for name in [*links, *named] if not (root / name).exists()] == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_links_of_the_other_pages_lead_to_files(root, name):
    links = re.findall(r"\]\(([^)#:]+)\)", (root / name).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (root / link).exists()] == []


def test_an_archive_gets_the_words_of_the_citation(root):
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    archive = json.loads((root / ".zenodo.json").read_text())
    assert {name: archive[name] for name in ("title", "version", "license", "keywords")} == {
        name: cited[name] for name in ("title", "version", "license", "keywords")
    }
    assert archive["upload_type"] == cited["type"]
    assert [each["name"] for each in archive["creators"]] == [each["name"] for each in cited["authors"]]
    papers = [
        paper.get("doi") or paper.get("identifiers", [{"value": paper["url"]}])[0]["value"]
        for paper in cited["references"]
    ]
    assert [each["identifier"] for each in archive["related_identifiers"]] == papers


def test_the_workflow_runs_both_commands_on_each_system_and_python(root, project):
    jobs = yaml.safe_load((root / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    (job,) = jobs.values()
    steps = [step["run"].split() for step in job["steps"] if "run" in step]
    assert [words[:2] for words in steps] == [["make", "reproduce"], ["make", "test"]]
    variables = set(re.findall(r"^([A-Z]+) +\?=", (root / "Makefile").read_text(), re.MULTILINE))
    assert {word.partition("=")[0] for words in steps for word in words[2:]} <= variables
    matrix = job["strategy"]["matrix"]
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos"}
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert set(named) < set(matrix["python"])
    assert all(isinstance(version, str) for version in matrix["python"])


def test_the_container_makes_the_environment_of_the_makefile(root, project):
    said = json.loads((root / ".devcontainer" / "devcontainer.json").read_text())
    program, target = said["postCreateCommand"].split()
    assert program == "make"
    assert target == ".venv/.tools"
    assert "TOOLS := $(VENV)/.tools" in (root / "Makefile").read_text()
    assert said["image"].rpartition(":")[2] in re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def test_the_make_targets_it_names_exist(readme, root):
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", readme)) <= targets
    assert {"help", "reproduce", "book", "test", "bench", "notebook", "data", "lint", "lock", "clean"} <= targets


def test_the_changelog_keeps_its_form(root):
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in headings[1:])
    version = re.search(r'^version = "(.+)"', (root / "pyproject.toml").read_text(), re.MULTILINE)[1]
    cited = (root / "CITATION.cff").read_text()
    assert f"\nversion: {version}\n" in cited
    released = re.search(r"^date-released: (.+)$", cited, re.MULTILINE)[1]
    assert headings[0] == ("[Unreleased]" if "dev" in version else f"[{version}] - {released}")


def test_the_notebooks_page_collects_a_sweep_without_the_committed_runs(root, tmp_path, monkeypatch):
    page = (root / "notebooks" / "README.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]
    places = {
        "titanic": ("paper", 8),
        "quick/titanic": ("quick", 8),
        "own/titanic-1": ("quick", 1),
        "quick/20": ("quick", 2),
    }
    for place, (profile, epsilon) in places.items():
        folder = tmp_path / "figures" / place
        (folder / "drawn").mkdir(parents=True)
        (folder / "drawn" / "linkage.csv").write_text("share,chance\n0.5,0.1\n")
        notebook = "20_threeway_example" if place.endswith("20") else "21_threeway_division"
        values = {"dataset": "titanic", "profile": profile, "epsilon": epsilon, "drop": []}
        (folder / "run.json").write_text(json.dumps({"notebook": notebook, "parameters": values}))
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(code, names)
    assert sorted(names["table"]["epsilon"]) == [1, 8]


def test_the_citation_names_the_three_papers(root):
    said = yaml.safe_load((root / "CITATION.cff").read_text())
    assert said["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= said.keys()
    assert len(said["references"]) == 3
    for paper in said["references"]:
        assert {"type", "title", "authors", "year"} <= paper.keys()
        assert all({"family-names", "given-names"} <= author.keys() for author in paper["authors"])
    assert "10.1016/j.compeleceng.2022.107894" in [paper.get("doi") for paper in said["references"]]


def test_the_findings_of_the_readme_are_those_of_the_committed_results(readme):
    assert pages.readme(readme) == readme, "run: compendium report readme"
    assert len(re.findall(r"^\d\. ", readme, re.MULTILINE)) == 5


def test_the_readme_has_at_most_400_words_besides_commands_and_addresses(readme):
    text = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->|(?<=\])\([^)]*\)", "", readme, flags=re.DOTALL)
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= 400


def commands(root):
    """Yield each command of ours that a page or a notebook names, with its page."""
    pages = [root / "README.md", root / "data" / "README.md", *root.glob("book/**/*.md"), *root.glob("lib/**/*.md")]
    for path in [*pages, *root.glob("notebooks/**/*.md"), *root.glob("notebooks/**/*.ipynb")]:
        text = path.read_text(encoding="utf-8").replace("\\\\n", "\n").replace("\\\n", " ")
        for words in re.findall(r"(?:`|^ *|bin/|python -m )((?:compendium|sensorprivacy) [a-z][^`\n\"]*)", text, re.M):
            yield path.relative_to(root).as_posix(), words


def test_the_commands_that_pages_name_exist_with_their_options(root):
    groups = {"compendium": compendium, "sensorprivacy": sensorprivacy}
    found, wrong = list(commands(root)), []
    for page, words in found:
        name, *rest = words.partition("#")[0].split()
        command = groups[name]
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            command = command.commands[rest.pop(0)]
        known = {one for option in command.params for one in (*option.opts, *option.secondary_opts)} | {"--help"}
        unknown = [word for word in rest if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
        if unknown or command is groups[name]:
            wrong.append((page, words))
    assert len(found) > 40
    assert wrong == []
