"""The words of the command review."""

import pytest

from compendium.cli import main


@pytest.fixture
def asked(monkeypatch):
    """Return the calls that would recompute a value or write a pack."""
    found = []
    monkeypatch.setattr("compendium.review.pack.write_pack", lambda out: found.append(("pack", out)) or "here")
    value = "a value"
    monkeypatch.setattr(
        "compendium.review.cell.recompute", lambda *words, force: found.append((*words, force)) or value
    )
    return found


def test_a_cell_is_optional_and_quick_is_the_profile(asked, capsys):
    assert main(["review"]) == 0
    assert main(["review", "2-T2-age", "--cores", "3"]) == 0
    assert main(["review", "2-T2-age", "--profile", "paper", "--cores", "1"]) == 0
    assert asked == [("pack", None), ("2-T2-age", "quick", 3, False), ("2-T2-age", "paper", 1, False)]
    assert "here: begin with report.md" in capsys.readouterr().out


def test_an_unknown_profile_is_refused(asked, capsys):
    assert main(["review", "--profile", "fast"]) == 2
    assert "'fast' is not one of 'quick', 'paper'" in capsys.readouterr().err
    assert asked == []
