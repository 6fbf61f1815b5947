"""Papers against themselves: what their printed values exclude, and that the search for it can find nothing too."""

import pytest

from compendium.readers.opportunity import LOCOMOTION
from compendium.verdicts import contradictions, entries, judge, printed_values
from compendium.verdicts.consistency import sample_stabilities, with_ends

FOUND = {f"2-T3-r{row}-{measure}" for row in (1, 2, 3) for measure in ("stability", "suitability")}
FOUND |= {"2-T3-r1-utility", "2-T3-r2-utility", "2-text-beta-below-alpha", "2-text-thresholds-sum-to-one"}
FOUND |= {"2-text-algorithm-stops", "2-text-example-denominator", "2-text-extreme-utility-student"}


@pytest.fixture
def values():
    return printed_values(2)


def changed(values, claim, value):
    """Return the values as if the paper had printed another one."""
    other = values.copy()
    other.loc[other["claim_id"] == claim, ["value", "printed"]] = [value, str(value)]
    return other


def printed(claim: str) -> float:
    return printed_values(2).set_index("claim_id").loc[claim, "value"]


def test_what_is_found_is_exactly_this(values):
    assert set(contradictions(2)) == FOUND


def test_the_text_names_fewer_classes_than_table_1_counts():
    """D64: sit, walk, stand, lie; the fifth class of Opportunity is none of them."""
    name = "1-text-opportunity-classes"
    assert contradictions(1) == {name: "the text names 4 classes, Table 1 counts 5"}
    mended = changed(printed_values(1), "1-T1-opportunity-classes", 4.0)
    assert contradictions(1, values=mended) == {}
    assert judge({name: ["sit", "walk", "stand", "lie"]}, run="t").verdict.item() == "exact"
    assert judge({name: list(LOCOMOTION.values())}, run="t").verdict.item() == "differs"


def test_table_3_excludes_its_first_three_rows(values):
    # by hand, at (.6, .4): Work, Marital status, Race, Sex, Loss, Country below, Relationship between, Hpw either
    found = sample_stabilities(with_ends(values))
    assert found["r1"] == [0.0]
    assert found["r2"] == pytest.approx([6 * 1 / (12 * 7), 6 * 2 / (12 * 8)])
    assert found["r3"] == pytest.approx([15 / 96, 18 / 108, 21 / 120])
    assert found["r4"] == pytest.approx([10 / 132])
    for row, possible in found.items():
        near = any(abs(one - printed(f"2-T3-{row}-stability")) <= 0.005 for one in possible)
        assert near == (row in ("r4", "r5", "r6"))


def test_a_possible_row_of_table_3_would_not_be_found(values):
    mended = changed(changed(values, "2-T3-r2-stability", 0.07), "2-T3-r2-suitability", 0.11)
    assert FOUND - set(contradictions(2, values=mended)) == {"2-T3-r2-stability", "2-T3-r2-suitability"}


def test_the_worked_stability_multiplies():
    assert printed("2-text-example-denominator") == 12 * 10 * 1
    assert printed("2-text-example-numerator") / printed("2-text-example-denominator") == pytest.approx(10 / 120)
    assert round(10 / 120, 2) == round(10 / 132, 2) == printed("2-text-example-stability")


def test_printed_thresholds_break_the_assumptions():
    found = contradictions(2)
    assert found["2-text-beta-below-alpha"].startswith("6 printed pairs")  # the start of Tables 3 and 9 to 13
    assert found["2-text-thresholds-sum-to-one"].startswith("12 printed pairs")


def test_printed_traces_end_beside_an_equal_pair(values):
    assert "Table 10, Table 11, Table 12 are one division" in contradictions(2)["2-text-algorithm-stops"]
    for table in (10, 11, 12):
        last = values[values["claim_id"].str.match(rf"2-T{table}-r[45]-")]
        assert last.groupby("column")["value"].nunique().eq(1).all()


def test_improvements_are_differences():
    for measure, gain in (("utility", 0.30), ("stability", 0.21), ("suitability", 0.33)):
        start, final = (printed(f"2-T15-titanic-{which}-{measure}") for which in ("start", "determined"))
        assert printed(f"2-text-gain-titanic-{measure}") == pytest.approx(final - start) == gain
    names = ("titanic", "adult", "bank", "heart", "student")
    for measure in ("utility", "stability", "suitability"):
        gains = [printed(f"2-T15-{n}-determined-{measure}") - printed(f"2-T15-{n}-start-{measure}") for n in names]
        assert printed(f"2-text-gain-{measure}-least") == pytest.approx(min(gains))
        assert printed(f"2-text-gain-{measure}-most") == pytest.approx(max(gains))
    assert round(0.72 / 0.42 - 1, 2) == 0.71  # what "30 %" would be relative to the start


def test_table_15_has_no_better_utility_for_student():
    assert printed("2-T15-student-extreme-utility") == printed("2-T15-student-determined-utility") == 0.96
    for name in ("titanic", "heart"):
        assert printed(f"2-T15-{name}-extreme-utility") > printed(f"2-T15-{name}-determined-utility")


def test_nothing_printed_comes_from_the_second_half(values):
    words = values["column"].str.casefold() + " " + values["printed"].str.casefold()
    assert not words.str.contains(r"epsilon|ϵ|laplace|noise|privacy level").any()


def test_tables_9_to_13_agree_with_themselves(values):
    """Every stability and suitability there follows from its row, so a wrong one would be found."""
    assert not [claim for claim in contradictions(2) if claim.startswith(("2-T9", "2-T1"))]
    assert "2-T9-r4-stability" in contradictions(2, values=changed(values, "2-T9-r4-stability", 0.23))
    assert "2-T11-r3-suitability" in contradictions(2, values=changed(values, "2-T11-r3-suitability", 0.19))
    assert "2-T12-r2-ambiguous" in contradictions(2, values=changed(values, "2-T12-r2-ambiguous", 1))
    assert "2-T15-heart-extreme-suitability" in contradictions(
        2, values=changed(values, "2-T15-heart-extreme-suitability", 0.2)
    )


def test_table_1_of_paper_3_loses_activity_where_the_text_gains():
    """D2: at printed precision, whatever the counts behind 1.9k, 2.5k, 6.2k and 2.7k."""
    assert "from 0.969 to 0.960" in contradictions(3)["3-text-activity-improves"]
    mended = printed_values(3)
    for row in ("down-stairs", "up-stairs"):
        mended = changed(mended, f"3-T1-{row}-act-after", 0.99)
    assert "3-text-activity-improves" not in contradictions(3, values=mended)


def test_every_contradiction_has_its_entry():
    for claim in (*contradictions(2), *contradictions(3)):
        assert [entry for entry in entries() if entry.covers(claim)], claim


def test_a_contradicted_claim_is_not_reproducible_with_reason_and_entry():
    judged = judge({"2-T3-r1-stability": 0.0}, run="r", impossible=contradictions(2)).iloc[0]
    assert judged["verdict"] == "not reproducible"
    assert judged["reason"].startswith("Table 2's entropies allow only 0.000")
    assert "D27: " in judged["reason"]
