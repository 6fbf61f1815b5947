"""The built book without a browser: it builds without a warning, is small, and has no dead link."""

import re
from urllib.parse import unquote, urldefrag

import pytest

from compendium.book import site
from compendium.verdicts.ledger import entries

pytestmark = pytest.mark.slow  # building the book takes half a minute


@pytest.fixture(scope="module")
def pages(book):
    return {path: path.read_text(encoding="utf-8") for path in book.rglob("*.html") if "_static" not in path.parts}


def test_it_is_small_and_has_every_kind_of_page(book):
    assert site.size_in_mb(book) < 60
    kinds = ("index", "verdicts", "thresholds", "ledger", "api", "glossary", "papers/paper-1", "howto/own-table")
    assert [name for name in kinds if not (book / f"{name}.html").is_file()] == []


def test_no_page_names_a_script_a_style_or_a_picture_of_another_host(pages):
    loaded = re.compile(
        r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//"""
    )
    assert [path.name for path, text in pages.items() if loaded.search(text)] == []


def test_no_internal_link_is_dead(book, pages):
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    claims = set(re.findall(r'"id":"([^"]+)"', (book / "_static" / "verdicts-data.js").read_text(encoding="utf-8")))
    anchors[book / "verdicts.html"] |= claims
    dead = []
    for path, text in pages.items():
        for link in set(re.findall(r'<a\b[^>]*\bhref="([^"]+)"', text)):
            place, anchor = urldefrag(unquote(link))
            target = (path.parent / place.partition("?")[0]).resolve() if place else path
            if re.match(r"[a-z]+:", link):
                continue
            lost = anchor and not anchor.startswith("find=") and anchor not in anchors.get(target, anchor)
            if not target.is_file() or lost:
                dead.append(f"{path.name}: {link}")
    assert dead == []


def test_every_picture_script_and_style_of_a_page_is_there(pages):
    loads = re.compile(r"""<(?:script|img|source)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\bhref="([^"]+)\"""")
    missing = []
    for path, text in pages.items():
        for found in {"".join(groups) for groups in loads.findall(text)}:
            file = path.parent / unquote(found.partition("?")[0].partition("#")[0])
            if not re.match("[a-z]+:|#", found) and not file.is_file():
                missing.append(f"{path.name}: {found}")
    assert missing == []


def test_the_scripts_link_to_pages_and_sections_that_exist(book):
    data = (book / "_static" / "verdicts-data.js").read_text(encoding="utf-8")
    for place, section in re.findall(r'"page":"([^"]+)","section":"#?([^"]*)"', data):
        text = (book / place).read_text(encoding="utf-8")
        assert not section or f'id="{section}"' in text, (place, section)


def test_no_page_shows_a_mark_of_its_source(pages):
    """A term that is linked in a block of HTML stays as it is written."""
    marks = re.compile(r"\{(?:term|doc|ref)\}`|\{\{ \w|\{% \w")
    assert [path.name for path, text in pages.items() if marks.search(re.sub(r"(?s)<pre.*?</pre>", "", text))] == []


def test_formulas_are_mathml(book):
    assert "<mfrac>" in (book / "runs" / "21_threeway_division-titanic.html").read_text(encoding="utf-8")


def test_the_ledger_has_an_anchor_for_each_entry_and_no_link_to_a_file_of_the_checkout(book):
    text = (book / "ledger.html").read_text(encoding="utf-8")
    assert [entry.id for entry in entries() if f'id="{entry.id.lower()}"' not in text] == []
    heads = re.findall(r"<h2>([\w ]+)<a", text)
    assert heads == ["Changed conclusions", "Paper 1", "Paper 2", "Paper 3"]
    assert 'href="tests/' not in text
    assert 'href="notebooks/' not in text
