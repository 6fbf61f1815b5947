"""The diagram of the game; boxes and arrows in general are tested in test_figures.py."""

from matplotlib.patches import FancyBboxPatch

from compendium.show import game_diagram


def test_the_game_shows_three_defences_and_both_judges():
    (axes,) = game_diagram().axes
    words = " ".join(text.get_text() for text in axes.texts).replace("\n", " ")
    for expected in ("1. Drop columns", "2. Drop or add noise", "3. Rewrite windows", "Task model", "Adversary"):
        assert expected in words
    assert sum(isinstance(patch, FancyBboxPatch) for patch in axes.patches) == 7
