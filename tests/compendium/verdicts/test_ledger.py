"""The ledger's rules, and that its page is in step with it."""

import re
from fnmatch import fnmatchcase

import pandas as pd
import pytest
from pydantic import ValidationError

from compendium.verdicts import entries, printed_values
from compendium.verdicts.ledger import explained, explanation, overview, page
from compendium.verdicts.verdicts import read_verdicts

GOOD = """
[[entry]]
id = "D1"
paper = 2
title = "A title"
says = "This."
evidence = "That."
effect = "Little."
choice = "As printed."
status = "demonstrated"
reason = "because"
demonstration = ["tests/compendium/verdicts/test_ledger.py::test_x"]
explains = ["2-T2-*"]
"""


def load(tmp_path, text):
    path = tmp_path / "ledger.toml"
    path.write_text(text)
    return entries(path)


def test_an_entry_explains_the_claims_it_names_and_no_others(tmp_path):
    (entry,) = load(tmp_path, GOOD + 'bears_on = ["2-T3-*"]\n')
    assert entry.covers("2-T2-age")
    assert not entry.covers("2-T3-r1-utility")
    assert entry.concerns("2-T3-r1-utility")
    assert explanation("2-T2-age", [entry]) == "D1: because"
    assert explanation("2-T3-r1-utility", [entry]) == ""


def test_an_entry_that_names_a_claim_explains_it_alone(tmp_path):
    """An entry on all times of a table said nothing about the cell that its own row contradicts."""
    own = GOOD.replace('"D1"', '"D2"').replace('"because"', '"its own row"').replace('"2-T2-*"', '"2-T2-age"')
    ledger = load(tmp_path, GOOD + own)
    assert explanation("2-T2-age", ledger) == "D2: its own row"
    assert explanation("2-T2-sex", ledger) == "D1: because"


@pytest.mark.parametrize("claim", ["3-T4-gender-per-embedding", "3-T6-encoder-0-per-embedding"])
def test_a_time_that_its_own_row_contradicts_cites_that_entry_only(claim):
    assert explanation(claim, entries()).startswith("D52: ")
    assert "; D" not in explanation(claim, entries())


def test_numbers_are_consecutive_and_major_entries_first():
    ledger = entries()
    assert [entry.id for entry in ledger] == [f"D{number}" for number in range(1, len(ledger) + 1)]
    assert [entry.major for entry in ledger] == sorted((entry.major for entry in ledger), reverse=True)


def test_a_demonstrated_entry_names_a_test(tmp_path):
    """A notebook or a whole file cannot fail for a single statement."""
    for place in ("notebooks/10_reidentification_game.ipynb", "tests/compendium/verdicts/test_ledger.py"):
        text = GOOD.replace("tests/compendium/verdicts/test_ledger.py::test_x", place)
        with pytest.raises(ValidationError, match="a demonstrated entry names a test"):
            load(tmp_path, text)
        assert load(tmp_path, text.replace('"demonstrated"', '"conjectured"'))[0].status == "conjectured"


def test_eight_to_ten_entries_change_a_conclusion():
    assert 8 <= sum(entry.major for entry in entries()) <= 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD.replace('"demonstrated"', '"shown"'),
            r"entry\.0\.status\n  Input should be 'demonstrated' or 'conjectured'",
        ),
        (GOOD.replace('"D1"', '"1"'), r"entry\.0\.id\n  String should match pattern"),
        (GOOD.replace('says = "This."', ""), r"entry\.0\.says\n  Field required"),
        (GOOD.replace('"because"', '" "'), r"entry\.0\.reason\n  String should have at least 1 character"),
        (GOOD.replace("paper = 2", "paper = 4"), r"entry\.0\.paper\n  Input should be less than or equal to 3"),
        (
            GOOD.replace('"tests/compendium/verdicts/test_ledger.py::test_x"', ""),
            r"entry\.0\.demonstration\n  Tuple should have at least 1 item",
        ),
        (GOOD + 'explain = ["2-T3-*"]\n', r"entry\.0\.explain\n  Extra inputs are not permitted"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_refused(tmp_path, text, message):
    with pytest.raises(ValidationError, match=message):
        load(tmp_path, text)


def test_every_pattern_names_a_printed_value():
    ids = printed_values()["claim_id"].tolist()
    for entry in entries():
        for pattern in (*entry.explains, *entry.bears_on):
            assert any(fnmatchcase(claim, pattern) for claim in ids), f"{entry.id}: {pattern} names no printed value"
            if "*" not in pattern and "[" not in pattern:
                assert pattern.startswith(f"{entry.paper}-")


def test_every_misprint_stands_in_a_claim_of_its_entry():
    values = printed_values()
    for entry in entries():
        own = values[[entry.concerns(claim) for claim in values["claim_id"]]]["printed"]
        for name in entry.misprints:
            assert own.str.contains(name, regex=False).any(), f"{entry.id}: {name} is printed nowhere"


def test_every_demonstration_exists(root):
    for entry in entries():
        for place in entry.demonstration:
            file, _, name = place.partition("::")
            assert (root / file).is_file(), f"{entry.id}: no {file}"
            if name:
                assert f"def {name}(" in (root / file).read_text(encoding="utf-8"), f"{entry.id}: no {place}"


def judged(*rows: tuple[str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["claim_id", "verdict", "reason"])


def test_the_page_is_in_step_with_the_ledger_and_the_verdicts(root):
    text = page(read_verdicts(root / "figures" / "verdicts.csv"))
    written = (root / "DEVIATIONS.md").read_text(encoding="utf-8")
    assert written == text, "run: compendium report ledger"


def test_the_page_has_one_line_with_an_anchor_for_every_entry_and_leads_to_it(root):
    text = page(judged())
    lines = (root / "data" / "paper" / "ledger.toml").read_text(encoding="utf-8").splitlines()
    found = re.findall(r'^\| <a id="(d\d+)"></a>\[(D\d+)\]\(data/paper/ledger\.toml#L(\d+)\) \|', text, re.MULTILINE)
    assert [name for _, name, _ in found] == [entry.id for entry in entries()]
    for anchor, name, line in found:
        assert anchor == name.lower()
        assert lines[int(line) - 1] == f'id = "{name}"'


def test_the_page_counts_values_that_differ_not_patterns(tmp_path):
    """C6: 98 values matched the patterns, 32 differed."""
    ledger = load(tmp_path, GOOD)
    rows = [("2-T2-a", "differs", "D1: because"), ("2-T2-b", "not reproducible", "shown; D1: because")]
    rows += [("2-T2-c", "exact", ""), ("2-T2-d", "undecided", "why"), ("2-T3-e", "differs", "D11: because")]
    assert explained(ledger[0], judged(*rows)) == ["2-T2-a", "2-T2-b"]
    assert overview(ledger, judged(*rows)).values.tolist() == [["D1", 2, "A title", "demonstrated", 2, 4]]


def test_no_value_is_both_within_and_explained_as_a_deviation(root):
    """B6: walking's gender was 'within' and also named by an entry as a difference."""
    verdicts = read_verdicts(root / "figures" / "verdicts.csv")
    within = verdicts[verdicts["verdict"] == "within"]
    assert not within["reason"].str.contains(r"\bD\d+: ", regex=True).any()
    for entry in entries():
        covered = verdicts[[entry.covers(claim) for claim in verdicts["claim_id"]]]["verdict"].tolist()
        if "within" in covered:
            assert "differs" in covered, f"{entry.id} explains only values that are within"
