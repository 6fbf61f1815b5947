"""The ledger's rules, and that its page is in step with it."""

from fnmatch import fnmatchcase

import pytest

from sensorprivacy.report import entries, printed_values
from sensorprivacy.report.ledger import LedgerError, explanation, page

GOOD = """
[[entry]]
id = "D1"
paper = 2
title = "A title"
says = "This."
rests_on = "That."
reason = "because"
demonstration = ["tests/report/test_ledger.py::test_x"]
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


def test_entries_come_by_number(tmp_path):
    text = GOOD.replace("D1", "D10") + GOOD.replace("D1", "D9")
    assert [entry.id for entry in load(tmp_path, text)] == ["D9", "D10"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + GOOD, "two entries have the id D1"),
        (GOOD.replace('"D1"', '"1"'), "entry 1: id: String should match pattern"),
        (GOOD.replace('says = "This."', ""), "entry D1: says: Field required"),
        (GOOD.replace('"because"', '" "'), "entry D1: reason: String should have at least 1 character"),
        (GOOD.replace("paper = 2", "paper = 4"), "entry D1: paper: Input should be less than or equal to 3"),
        (
            GOOD.replace('"tests/report/test_ledger.py::test_x"', ""),
            "demonstration: Tuple should have at least 1 item",
        ),
        (GOOD + 'explain = ["2-T3-*"]\n', "entry D1: explain: Extra inputs are not permitted"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_refused(tmp_path, text, message):
    with pytest.raises(LedgerError, match=message):
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


def test_the_page_is_in_step_with_the_ledger(root):
    text = page(entries(), printed_values()["claim_id"])
    written = (root / "DEVIATIONS.md").read_text(encoding="utf-8")
    assert written == text, "run: python -m sensorprivacy report ledger"


def test_the_page_has_an_anchor_for_every_entry():
    text = page(entries(), printed_values()["claim_id"])
    for entry in entries():
        assert text.count(f'<a id="{entry.id.lower()}"></a>') == 1
        assert f"(#{entry.id.lower()})" in text


def test_papers_come_one_after_the_other(tmp_path):
    text = GOOD + GOOD.replace("D1", "D2").replace("paper = 2", "paper = 1").replace("2-T2-*", "1-T2-*")
    written = page(load(tmp_path, text), ["2-T2-age"])
    assert written.index("## Paper 1") < written.index("D2. A title") < written.index("## Paper 2")
    assert "## Paper 3" not in written
