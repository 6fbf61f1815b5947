"""Verdicts on the central claims, from planted measurements."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import FunctionTransformer

from compendium.papers.central import SHORT, central_claims, conclusion
from compendium.verdicts.printed import claims_file
from sensorprivacy.data import Problem
from sensorrelease.comparison import compare

NAMES = [claim["defences"][0] for claim in claims_file()["central"]]


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Return a problem with one column for the task, one for the user."""
    draw = np.random.default_rng(0)
    task, users = draw.integers(0, 2, 3000), draw.integers(0, 4, 3000)
    features = pd.DataFrame({"task": task + draw.normal(0, 0.1, 3000), "user": users + draw.normal(0, 0.1, 3000)})
    return Problem(features, task, users, name="planted")


def verdicts(problem: Problem, **kept: list[str]) -> pd.DataFrame:
    """Return the verdicts if each paper's defence keeps the named columns."""
    defences = {
        name: FunctionTransformer(lambda X, columns=columns: X[columns])
        for name, columns in zip(NAMES, kept.values(), strict=True)
    }
    found = compare(problem, defences, model=RandomForestClassifier(10), draws=360, progress=False)
    table = central_claims(found)
    assert "planted" in conclusion(found, table)
    quick = central_claims(found, short=True)  # decides nothing, and measures the same
    assert set(quick["verdict"]) == {SHORT}
    assert quick["keeps"].tolist() == table["keeps"].tolist()
    assert "is undecided here, because the settings are short" in conclusion(found, quick)
    return table.set_index("paper")


@pytest.mark.slow
def test_a_claim_holds_where_the_task_stays_and_the_user_goes(problem):
    table = verdicts(problem, first=["task"], second=["task"], third=["task"])
    assert table["verdict"].tolist() == ["holds"] * 3


def test_a_claim_does_not_hold_where_users_are_still_identified_or_the_task_is_lost(problem):
    table = verdicts(problem, first=["task", "user"], second=["user"], third=["task", "user"])
    # The first release has both columns: the attack is not weaker, but an interval never excludes that it is by a bit.
    assert table["verdict"].tolist() == ["undecided", "does not hold", "does not hold"]
    assert table.loc[1, "gain_high"] < 0.01
    assert table.loc[2, ["keeps", "protects"]].tolist() == ["no", "undecided"]
    assert table.loc[[1, 3], "keeps"].tolist() == ["yes", "yes"]


def test_a_claim_without_its_defence_is_not_tested(problem):
    found = compare(problem, ["noise:epsilon=4"], model=RandomForestClassifier(5), draws=360, progress=False)
    table = central_claims(found)
    assert table["verdict"].tolist() == ["not tested: not among the defences"] * 3
    assert "was not tested" in conclusion(found, table)
