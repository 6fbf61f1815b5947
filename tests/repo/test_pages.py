"""README, CHANGELOG, CITATION: what they say is so."""

import json
import re

import pandas as pd
import pytest
import yaml

from compendium.datasets.catalogue import catalogue


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


def test_the_make_targets_it_names_exist(readme, root):
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)", readme)) <= targets
    assert {"help", "reproduce", "book", "test", "bench", "notebook", "data", "lint", "lock", "clean"} <= targets


def test_the_changelog_keeps_its_form(root):
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in headings[1:])


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


def test_the_readme_states_the_numbers_of_the_committed_comparison(root):
    folder = root / "figures" / "50_one_game-motionsense-subject"
    table = pd.read_csv(folder / "defences.csv").set_index("defence")
    attack, found = table["attack"], " ".join((root / "README.md").read_text(encoding="utf-8").split())
    for words, value in {
        "identifies the person of {} of the recordings": attack["none"],
        "minimization leaves {}": attack["minimize:threshold=0.01"],
        "division with noise {}": attack["threeway:printed"],
        "probabilistic shift {}": attack["shift, probabilistic"],
        "chance is {}": table.loc["none", "chance"],
        "predicted activity alone leaves {}": attack["prediction"],
        "keeps the accuracy of {}": table.loc["prediction", "accuracy"],
    }.items():
        assert words.format(f"{100 * value:.0f} %") in found
    assert f"{table.loc['none', 'n']:.0f} whole recordings" in found
    best = pd.read_csv(folder / "best.csv").set_index("max_loss")
    assert best.loc[[0.01, 0.03], "protects"].astype(str).isin(["no", "False"]).all()
