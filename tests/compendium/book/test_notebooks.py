"""Cells of notebooks as the book shows them."""

import nbformat

from compendium.book.notebooks import RARELY, folded


def cell(source):
    return nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]})


def test_settings_that_rarely_change_are_folded():
    first, rest = folded(cell(f"k: int = 5\n{RARELY}\nseed: int = 0\ntrees: int = 10"))
    assert (first.source, first.metadata.tags) == ("k: int = 5", ["parameters"])
    assert (rest.source, rest.metadata.tags) == ("seed: int = 0\ntrees: int = 10", ["hide-input"])


def test_other_cells_stay_as_they_are():
    (only,) = folded(cell("k: int = 5"))
    assert only == cell("k: int = 5") | {"id": only.id}


def test_a_page_of_the_book_folds_them(book):
    page = (book / "runs" / "30_vae_anonymization-motionsense-gender.html").read_text(encoding="utf-8")
    before, _, after = page.partition('<details class="admonition hide above-input">')
    inside = after.partition("</details>")[0]
    assert "attribute to hide" in before
    assert "inference models: the paper" in inside
    assert "attribute to hide" not in inside
