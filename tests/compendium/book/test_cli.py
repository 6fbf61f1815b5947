"""The command `compendium book`."""

from pathlib import Path

from compendium.book import site
from compendium.cli import main


def test_it_builds_into_a_folder_and_names_the_first_page(monkeypatch, capsys, tmp_path):
    page = tmp_path / "html" / "index.html"
    page.parent.mkdir()
    page.write_bytes(b"x" * 2_000_000)
    asked = []
    monkeypatch.setattr(site, "build", lambda out, only: asked.append((out, only)) or page)
    assert main(["book", "--out", str(tmp_path), "20*"]) == 0
    assert asked == [(Path(tmp_path), ["20*"])]
    assert capsys.readouterr().out == f"{page}  2 MB\n"


def test_a_warning_of_sphinx_is_a_failure_in_words(monkeypatch, capsys):
    def fails(out, only):
        raise site.BookError("Sphinx reports errors or warnings in source")

    monkeypatch.setattr(site, "build", fails)
    assert main(["book"]) == 1
    assert "error: Sphinx reports" in capsys.readouterr().err
