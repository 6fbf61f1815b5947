"""The card: what repeats a draw stays at home, and the first page says who is exposed, for what and by whom."""

import datetime
import json
import re

import pandas as pd
import pytest

from sensorrelease.card import Card, measure_table
from sensorrelease.checks import secret_seed
from sensorrelease.publishing import tables
from sensorrelease.publishing.tables import publish
from sensorrelease.schema import draft

ROLES = {"task": "what", "user": "who", "accept_draft": True, "although_identifying": True}


@pytest.fixture
def table(problem):
    return problem.features.assign(what=problem.task, who=problem.users)


@pytest.fixture
def card(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "measure_table", lambda *given, **how: measure_table(*given, **(how | {"trees": 5})))
    declared = draft(table, "what", "who", identifying=True)  # with the column that identifies
    how = {"accept_draft": True, "although_identifying": True, "seed": 987_654_321}
    return publish(table, schema=declared, defence="none", out=tmp_path / "out", **how)


def main_table(card):
    return re.findall(r"^\|.*\|$", card.to_markdown().partition("<details>")[0], re.MULTILINE)[2:]


def test_nothing_that_repeats_a_draw_leaves(card, tmp_path):
    """REVIEW F12: an outsider matched 67.4 % of the rows by rerunning the tool with the seed on the card."""
    for file in (tmp_path / "out").iterdir():
        assert "987654321" not in file.read_text()
    assert "seed" not in json.dumps(card.facts).lower()


def test_without_a_seed_the_draw_is_secret(table, tmp_path, monkeypatch):
    assert len({secret_seed(None) for _ in range(20)}) == 20
    assert secret_seed(7) == 7
    seeds = []
    monkeypatch.setattr(tables, "secret_seed", secret_seed)
    monkeypatch.setattr(tables.OwnTable, "learn", lambda _, rows, seed, *__: seeds.append(seed) or 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            publish(table, defence="method:pca", out=tmp_path / "out", **ROLES)
    assert seeds[0] != seeds[1]
    assert 42 not in seeds


def test_the_first_page_names_the_most_exposed_person_by_numbers_only(card):
    page = card.to_markdown()
    rows = [row for row in card.facts["measured"] if row["about"] == "user who" and row["data"] == "published"]
    recall = re.search(r"Of the rows of the most exposed user \(who\), .* recognizes ([\d.]+)% \(recall\)", page)[1]
    assert recall in {f"{100 * row['exposed_recall']:.1f}" for row in rows}
    assert page.index("most exposed") < page.index("| Inferred")
    assert "u0" not in page


def test_cards_of_recordings_name_the_most_exposed_person(card):
    rows = [dict(row, about=row["about"].replace("user who", "the person")) for row in card.facts["measured"]]
    page = Card(dict(card.facts, measured=rows)).to_markdown()
    assert "Of the rows of the most exposed person, " in page
    assert "| person, from one row |" in page
    people = [dict(row, level="person") for row in rows if row["level"] == "row"]
    assert "| person, from all windows of a person |" in Card(dict(card.facts, measured=people)).to_markdown()


def test_the_card_says_which_attacks_exceed_chance(card):
    said = re.search(r"^\d attacks exceed chance by more than the interval: (.*)\.$", card.to_markdown(), re.MULTILINE)
    assert said[1].split("; ")[0] == "user (who), from one row"
    assert "task" not in said[1]
    rows = [dict(row, low=0.0, of_strongest=[0.0, row["high"]]) for row in card.facts["measured"]]
    matches = [dict(one, low=0.0) for one in card.facts["matched"]["attacks"]]
    held = Card(dict(card.facts, measured=rows, matched=dict(card.facts["matched"], attacks=matches)))
    assert "No attack exceeds chance by more than its interval." in held.to_markdown()


def test_versions_are_a_list(card):
    assert re.search(r"- Versions: python [\d.]+, sensorprivacy ", card.to_markdown())


def test_nobody_is_called_exposed_without_a_test(table, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "measure_table", lambda *given, **how: measure_table(*given, **(how | {"trees": 5})))
    card = publish(table[["task", "noise", "what", "who"]], defence="none", out=tmp_path / "out", **ROLES)
    assert "most exposed" not in card.to_markdown()


def test_date_users_and_purpose_are_asked_for(card, table, tmp_path):
    page = card.to_markdown()
    assert f"- Date: {datetime.date.today().isoformat()}" in page
    assert "- Users: 4" in page
    assert page.count("fill in, or give --") == 3
    words = {"purpose": "heating | research", "publisher": "Ada", "contact": "ada@home.example"}
    filled = publish(table, defence="none", out=tmp_path / "two", about=words, **ROLES).to_markdown()
    assert "fill in" not in filled
    assert "- Purpose: heating \\| research" in filled


def test_one_table_of_ten_rows_and_the_rest_folded(card):
    assert 4 <= len(main_table(card)) <= 10
    assert card.to_markdown().count("<details>") == card.to_markdown().count("</details>") == 2
    long = dict(
        card.facts, measured=[dict(row, about=f"label {n}") for n in range(30) for row in card.facts["measured"]]
    )
    assert len(main_table(Card(long))) == 10


def test_p_values_are_known_or_the_column_is_absent(card):
    assert "| Chance | p | n |" in card.to_markdown()
    bare = [
        {name: value for name, value in row.items() if name not in ("p", "p_any")} for row in card.facts["measured"]
    ]
    page = Card(dict(card.facts, measured=bare)).to_markdown()
    assert "| Chance | n |" in page
    assert "unknown" not in page


def test_noise_is_averaged_only_where_there_is_some(table, tmp_path):
    """REVIEW F15: equal rows find each other's partners, which is no noise."""
    twice = pd.concat([table, table], ignore_index=True).round(1)
    for defence, noisy in (("method:pca", False), ("noise:epsilon=9", True)):
        card = publish(twice, defence=defence, out=tmp_path / defence[:5], **ROLES)
        assert ("averages the noise" in card.to_markdown()) == noisy
