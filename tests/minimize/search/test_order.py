"""The order of training; what pruning skips is checked against a lattice in test_forest_search.py."""

from sensorprivacy.example import example_problem
from sensorprivacy.minimize.search.exhaustive import search_subsets
from sensorprivacy.minimize.search.order import Pruning


def test_pruning_counts_its_pairs_and_without_it_there_is_none():
    problem = example_problem()
    options = {"engine": "shared", "progress": False}
    assert search_subsets(problem, **options).pruning is None
    pruned = search_subsets(problem, **options, lazy=0.01, prune=True).pruning
    assert isinstance(pruned, Pruning)
    assert 0 <= pruned.violations <= pruned.pairs
