"""The function of paper 1 takes and returns tables of pandas, polars and Arrow."""

import pandas as pd
import pytest

from sensorprivacy import feature_minimize, play
from sensorprivacy.data import Problem


@pytest.fixture
def table(problem):
    return problem.features[["task", "user"]].assign(lamp=problem.users > 0)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_tables_come_back_as_they_are(problem, table, tiny, library):
    other = pytest.importorskip(library)
    frame = other.from_pandas(table) if library == "polars" else other.Table.from_pandas(table)
    kept = feature_minimize(frame, problem.task, problem.users, 0.1, estimator=tiny)
    assert type(kept) is type(frame)
    expected = feature_minimize(table, problem.task, problem.users, 0.1, estimator=tiny)
    pd.testing.assert_frame_equal(kept.to_pandas(), expected, check_like=True)


def test_a_problem_of_polars_is_played(problem, tiny):
    polars = pytest.importorskip("polars")
    labels = [polars.Series(list(some)) for some in (problem.task, problem.users)]
    found = play(Problem(polars.from_pandas(problem.features), *labels), model=tiny)
    assert found.task == play(Problem(problem.features, problem.task, problem.users), model=tiny).task
