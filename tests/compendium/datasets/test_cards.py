"""The page data/README.md."""

import pytest

from compendium.datasets import cards
from compendium.datasets.catalogue import catalogue


def test_the_page_has_a_card_for_each_set_of_the_catalogue(root):
    page = (root / "data" / "README.md").read_text(encoding="utf-8")
    assert page == cards.page(page), "run: compendium report data"
    for entry in catalogue().values():
        for words in (entry.title, entry.licence, entry.citation, entry.how):
            assert words in page


def test_the_text_above_the_cards_stays():
    page = cards.page("# My head\n\n## The sets\nold cards")
    assert page.startswith("# My head\n\n## The sets\n\n### ")
    assert "old cards" not in page
    with pytest.raises(ValueError, match="has no line '## The sets'"):
        cards.page("nothing")
