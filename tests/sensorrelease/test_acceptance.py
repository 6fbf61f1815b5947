"""The page of faults names tests and members that exist, for every fault of the review's part C."""

import ast
import re

import pytest

FAULTS = range(1, 16)


@pytest.fixture(scope="module")
def rows(root):
    text = (root / "bench" / "results" / "own_data.md").read_text(encoding="utf-8")
    found = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| \d", line)]
    assert {len(row) for row in found} == {5}
    return found


def test_every_fault_has_a_row(rows):
    assert sorted({int(row[0].split()[0]) for row in rows}) == list(FAULTS)


def test_every_test_exists(rows, root):
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row[2])
        assert len(named) >= 1, row[0]
        for file, name in named:
            tree = ast.parse((root / file).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"


def test_five_members_of_each_kind_are_in_its_tests(rows, root):
    for row in rows:
        files = sorted(set(re.findall(r"tests/[\w/]+\.py", row[2])))
        text = "\n".join((root / file).read_text(encoding="utf-8") for file in files)
        members = re.findall(r"`([^`]+)`", row[3])
        assert len(set(members)) >= 5, row[0]
        assert not [member for member in members if member not in text], row[0]
