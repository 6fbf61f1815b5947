"""`verify` finds no wrong file in this checkout, and the command fails on all but absent data."""

import pandas as pd
import pytest

from compendium.cli import main
from compendium.review import verify
from compendium.run.committed import WRONG


@pytest.mark.slow
def test_the_committed_tables_verdicts_and_pages_agree(monkeypatch, root):
    """Continuous integration: a value that does not follow from its table is never committed."""
    monkeypatch.setenv("SENSORPRIVACY_HOME", str(root))
    found = verify.verify()
    assert found[found["kind"] == WRONG].to_dict("records") == []


@pytest.mark.parametrize(
    ("kinds", "code"),
    [([], 0), (["absent"], 0), (["computed", "carried over"], 0), (["absent", "stale"], 1), (["wrong"], 1)],
)
def test_the_command_lists_what_it_finds_and_fails_on_all_but_absent_data(monkeypatch, capsys, kinds, code):
    found = pd.DataFrame([(kind, "10_x", "code") for kind in kinds], columns=["kind", "where", "what"])
    monkeypatch.setattr(verify, "verify", lambda: found)
    assert main(["verify"]) == code
    said = capsys.readouterr().out.splitlines()
    assert said[:-1] == [f"{kind:12} 10_x: code" for kind in kinds]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("wrong", "stale", "computed", "carried over"))
    assert said[-1] == f"{counts}, {kinds.count('absent')} runs without results"
