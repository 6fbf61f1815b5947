"""Every printed value has one basis."""

from fnmatch import fnmatchcase

import pytest

from compendium.verdicts import basis, printed_values

IDS = printed_values()["claim_id"].tolist()


def test_every_printed_value_has_exactly_one_basis():
    wrong = {name: len(found) for name in IDS if len(found := [e for e in basis.bases() if e.covers(name)]) != 1}
    assert wrong == {}


def test_every_pattern_covers_a_printed_value():
    patterns = [pattern for entry in basis.bases() for pattern in entry.claims]
    assert [p for p in patterns if not any(fnmatchcase(name, p) for name in IDS)] == []


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("1-T2-cicids-accuracy", "rows"),
        ("1-T2-cicids-effectiveness", "arithmetic"),
        ("1-text-flows", "log"),
        ("1-text-dense-better", "text"),
        ("2-T4-adult-records", "configuration"),
        ("3-T4-encoder-0-batch", "configuration"),
        ("3-T4-encoder-0-type", "configuration"),
        ("3-text-probabilistic-prevents", "text"),
    ],
)
def test_examples(claim, name):
    assert basis.basis_of(claim) == name


def test_a_run_may_name_only_a_basis_that_the_file_allows():
    assert basis.basis_of("1-T7-thr0-accuracy", {"1-T7-thr0-accuracy": "log"}) == "log"
    with pytest.raises(basis.BasisError, match=r"basis 'log', but basis\.toml allows configuration"):
        basis.basis_of("2-T4-adult-records", {"2-T4-adult-records": "log"})


def test_a_claim_without_a_basis_is_refused():
    with pytest.raises(basis.BasisError, match=r"exactly one entry of basis\.toml must cover it, found none"):
        basis.entry_of("4-T1-x")


def test_only_cells_that_were_measured_have_a_varied_unit():
    """Batch sizes, sums and statements have no interval, so nothing can be 'within' for them."""
    assert {entry.name for entry in basis.bases() if entry.varied} == {"rows"}
