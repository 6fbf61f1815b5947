"""Captions of the notebooks' figures: a picture alone says what it shows and of which data, in words."""

import re
import tomllib

import pytest

from compendium.paths import project_root
from compendium.show.captions import headline

FILES = sorted((project_root() / "notebooks" / "captions").glob("*.toml"))
FIGURES = [(path.stem, name) for path in FILES for name in tomllib.loads(path.read_text()).get("figure", {})]
_CODE_NAME = re.compile(r"\w_\w|\bmethod:|`|::")
_FEWEST = 4  # words of a caption; a name such as "Fig. 4" says nothing


def entry_of(notebook, name):
    """Return the figure's entry with the title and the data that stand above it, placeholders left out."""
    file = tomllib.loads((project_root() / "notebooks" / "captions" / f"{notebook}.toml").read_text())
    entry = file["figure"][name]
    shown = {"title": headline(entry["caption"]), "about": file.get("about", "")} | entry
    return {key: re.sub(r"\{[^}]*\}", "", shown[key]) for key in ("title", "about", "caption")}


def test_all_notebooks_with_figures_are_here():
    used = [
        path.stem for path in (project_root() / "notebooks").glob("[0-9]*.ipynb") if "run.figure" in path.read_text()
    ]
    assert set(used) <= {path.stem for path in FILES}
    assert len(FIGURES) > 30


@pytest.mark.parametrize(("notebook", "name"), FIGURES)
def test_a_figure_says_what_it_shows_and_of_which_data(notebook, name):
    entry = entry_of(notebook, name)
    for key, text in entry.items():
        assert text, f"[figure.{name}] of {notebook}.toml has no {key}"
        assert not _CODE_NAME.search(text), f"code names in the {key}: {text}"
    assert len(re.findall(r"[A-Za-z]{2,}", entry["title"])) >= 2, entry["title"]
    assert len(entry["title"]) <= 90, entry["title"]
    assert len(entry["caption"].split()) > _FEWEST, entry["caption"]
    assert entry["title"] != entry["about"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_closing_sentence_begins_with_its_answer(path):
    """The answer is yes, no, a name or a number, and comes from the run."""
    entries = tomllib.loads(path.read_text())
    entries.pop("about", None)
    closings = [each["closing"] for kind in entries.values() for each in kind.values() if "closing" in each]
    texts = [text for text in closings if isinstance(text, str)]
    assert [text for text in texts if not re.match(r"\(?\{|From \{|0 to 1 |Two labels ", text)] == []


def test_the_rule_finds_what_it_forbids():
    for text in ("the method:pca release", "the shap_ratio", "`frontier`"):
        assert _CODE_NAME.search(text)
    assert not _CODE_NAME.search("95 % intervals; alpha = 10, step 0.05")
