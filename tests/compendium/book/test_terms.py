"""Pages link the first use of each term to the glossary, and leave code, links and headings alone."""

import re

import pytest

from compendium.book import terms

NAMES = ["chance level", "defence", "window"]


@pytest.mark.parametrize(
    "kept",
    [
        "## A defence and a window",
        "`--defence none`",
        "```\npublish --defence none\n```",
        "```{figure} a.png\n:alt: a window\n```",
        "[the defence](page.md)",
        "| defence | window |",
        "**a defence in bold**",
        "<p>A window in HTML,\n<b>a defence</b>, and more.</p>",
    ],
)
def test_only_prose_is_linked(kept):
    found = terms.linked(f"{kept}\n\nWindows of a defence. Another defence.\n", NAMES)
    assert found == f"{kept}\n\n{{term}}`Windows <window>` of a {{term}}`defence <defence>`. Another defence.\n"


def test_the_longest_term_counts():
    assert terms.linked("The chance level.", ["chance level", "chance"]) == "The {term}`chance level <chance level>`."


def test_every_guide_links_terms_that_exist(root):
    known = terms.terms((root / "book" / "glossary.md").read_text(encoding="utf-8"))
    assert known == sorted(known)
    assert {"codebook", "donor", "transport", "redraw"} <= set(known)
    for path in (root / "book" / "howto").glob("own-*.md"):
        found = re.findall(r"\{term\}`[^<`]+ <([^>]+)>`", terms.linked(path.read_text(encoding="utf-8"), known))
        assert len(found) >= 1, path.name
        assert len(set(found)) == len(found)
        assert set(found) <= set(known)
