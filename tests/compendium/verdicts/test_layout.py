"""The papers' own layout: our value below each printed one, the verdict by colour and sign."""

import re

import pytest

from compendium.paths import figures_dir
from compendium.verdicts.layout import legend, ours_text, paper_table, paper_tables, titles
from compendium.verdicts.printed import printed_values
from compendium.verdicts.verdicts import read_verdicts
from compendium.verdicts.words import COLOURS, SIGNS, VERDICTS


@pytest.fixture(scope="module")
def verdicts():
    return read_verdicts(figures_dir("paper") / "verdicts.csv")


def table(verdicts, paper, number):
    return verdicts[(verdicts["paper"] == paper) & (verdicts["table"] == number)]


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_each_verdict_has_a_sign_and_a_colour_of_its_own():
    assert set(SIGNS) == set(COLOURS) == set(VERDICTS)
    assert len(set(SIGNS.values())) == len(set(COLOURS.values())) == len(SIGNS)


def test_each_printed_table_has_a_title():
    values = printed_values()
    tables = {f"{p}-{t}" for p, t in zip(values["paper"], values["table"], strict=True) if t != "text"}
    assert tables == {"-".join(key) for key in titles()}


def test_no_printed_value_is_lost(verdicts):
    html = paper_tables(verdicts, link=lambda name: f"#{name}")
    assert sorted(re.findall(r'href="#([^"]+)"', html)) == sorted(verdicts["claim_id"])


def test_thresholds_are_rows_and_ours_is_below_printed(verdicts):
    html = paper_table(table(verdicts, 1, "6"))
    assert len(re.findall("<tr>", html)) == 7
    assert re.search(r"97\.02%<br><span[^>]*><b>≈</b> 97\.66% \[96\.29, 97\.79\] <i[^>]*>rows, 8 draws</i>", html)


def test_entropies_stand_in_two_halves(verdicts):
    html = paper_table(table(verdicts, 2, "8"))
    assert len(re.findall("<tr>", html)) == 9  # the head and eight rows for fifteen attributes
    assert re.search(r"Age 0\.529 .*?Capital gain|Age 0\.529", text(html))


def test_a_data_set_is_named_once(verdicts):
    html = paper_table(table(verdicts, 2, "15"))
    assert html.count(">Titanic<") == 1
    assert html.count(">(1, 0)<") == 5


def test_a_cell_without_data_says_so(verdicts):
    assert "<b>∅</b> none <i" in paper_table(table(verdicts, 3, "2"))


def test_ours_has_the_printed_form(verdicts):
    rows = verdicts.set_index("claim_id")
    assert ours_text(rows.loc["2-T10-r1-utility"]) == "0.681"
    assert ours_text(rows.loc["1-T1-iot23-users"]) == "36"
    assert ours_text(rows.loc["3-text-deterministic-reidentified"]) == "true"


def test_the_legend_explains_the_signs_that_occur():
    assert "≠" in legend(["differs"])
    assert "≈" not in legend(["differs"])


def test_statements_stand_below_the_head_of_their_column(verdicts):
    """Notebooks put the text of cells to the right, and heads here stand on the left."""
    html = paper_table(table(verdicts, 3, "text"))
    assert "<td>" not in html
    assert '<td style="text-align:left;vertical-align:top">' in html
