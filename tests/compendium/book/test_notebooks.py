"""Cells of notebooks as the book shows them."""


def test_a_page_of_the_book_folds_the_settings(book):
    page = (book / "runs" / "30_vae_anonymization-motionsense-gender.html").read_text(encoding="utf-8")
    _, _, rest = page.partition('<details class="admonition hide above-input">')
    inside, _, after = rest.partition("</details>")
    assert "inference models: the paper" in inside
    assert "attribute to hide" not in inside
    assert "attribute to hide" in after
