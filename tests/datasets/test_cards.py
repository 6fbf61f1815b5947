"""The page data/README.md."""

from sensorprivacy.datasets import cards
from sensorprivacy.datasets.catalogue import catalogue


def test_the_page_has_a_card_for_each_set_of_the_catalogue(root):
    page = (root / "data" / "README.md").read_text(encoding="utf-8")
    assert page == cards.page(), "run: sensorprivacy report data"
    for entry in catalogue().values():
        for words in (entry.title, entry.licence, entry.citation, entry.how):
            assert words in page
