"""Names that users choose from, and the less common settings of `FeatureMinimizer`.

This module imports no forest, so the command line can list the names quickly.
"""

from dataclasses import dataclass, replace
from typing import Any

SCORES = ("information", "shap", "gini")
"""Feature scores: mutual information and entropy (methods 3-5), SHAP values (6-8), Gini importances (9-11)."""

ORDERS = ("utility", "identifiability", "ratio", "tradeoff")
"""Rankings: highest utility, lowest identifiability, lowest cost-to-value ratio, highest normalized mean."""

VARIANTS = ("paper", "authors", "own")
"""The paper's text, its authors' notebooks where they differ from it, or for wide tables of one's own."""

ENGINES = ("sklearn", "shared")
"""Engines that train the models of a search, see `sensorprivacy.minimize.engines`."""

REFERENCES = ("best", "all")
"""Accuracies that a loss is measured from: the best subset's, or that of all features."""


@dataclass(frozen=True)
class Preselection:
    """How the greedy stage of `FeatureMinimizer` scores and ranks features.

    Attributes
    ----------
    score : {"shap", "information", "gini"}
        See `sensorprivacy.minimize.scores.score_features`.
    by : {"ratio", "utility", "identifiability", "tradeoff"}
        See `sensorprivacy.minimize.greedy.rank_features`.
    variant : {"paper", "authors", "own"}
        Rank as in the paper's text, as in its authors' notebooks, or with the features first that help the task.
    max_rows, max_depth : int or None
        Limits of the scoring, see `sensorprivacy.minimize.scores.score_features`.
    """

    score: str = "shap"
    by: str = "ratio"
    variant: str = "paper"
    max_rows: int | None = None
    max_depth: int | None = 8


@dataclass(frozen=True)
class SearchSettings:
    """How `FeatureMinimizer` searches subsets and chooses one.

    The defaults are those of the paper: every subset is trained with scikit-learn on all rows. The default of
    `FeatureMinimizer` is `OWN`, which takes minutes where these take hours. ``dataclasses.replace(OWN, race=True)``
    changes one of its settings.

    Attributes
    ----------
    engine : {"sklearn", "shared"} or Engine
        What trains the models.
    result_store : path-like, optional
        SQLite file with the results. An interrupted search continues from this file.
    lazy : bool
        Train the adversary only on subsets that pass the threshold. The choice does not change. With False, the
        table of results serves every threshold.
    race : bool or None
        Drop subsets before their first tree or after a few if they cannot be chosen, see
        `sensorprivacy.minimize.search_subsets`. None races if the search is long and the engine is ``"shared"``. With
        `lazy` and the best subset as the reference, a race serves the threshold of the minimizer only, and is faster.
    reference : {"best", "all"}
        Accuracy that the loss is measured from: the best subset's (section 4.1), or that of all features
        (Definition 1).
    margin : float or "standard error", optional
        Choose the subset with the fewest features among those whose identifiability is within this margin of the
        lowest, see `sensorprivacy.minimize.select.select`.
    slack : bool
        Allow subsets that miss the required accuracy by at most one standard error, see
        `sensorprivacy.minimize.select.select`.
    more : bool
        Keep more of the ranked features if no searched subset has the required accuracy. By default that is an error.
    max_rows : int, optional
        Largest number of training rows, and of held-out rows, of the search; a random sample of each part of the split.
        The kept features are still evaluated on all test rows.
    max_trees : int, optional
        Largest number of trees of a forest in a search on such a sample.
    final_rows : int, optional
        Largest number of training rows of the final evaluation.
    """

    engine: Any = "sklearn"
    result_store: Any = None
    lazy: bool = True
    race: bool | None = None
    reference: str = "best"
    margin: float | str | None = None
    slack: bool = False
    more: bool = False
    max_rows: int | None = None
    max_trees: int | None = None
    final_rows: int | None = None


OWN = SearchSettings(
    "shared",
    lazy=False,
    reference="all",
    margin="standard error",
    slack=True,
    more=True,
    max_rows=3000,
    max_trees=40,
    final_rows=30_000,
)
"""The default of `FeatureMinimizer` and of the command `minimize`: the loss counts from all columns, and the fewest
columns win unless they are clearly worse. The search uses a sample of the rows. The kept columns are evaluated on all
test rows."""


def settings_for(model: Any) -> SearchSettings:
    """Return `OWN`; with scikit-learn's engine if the shared forest cannot train a model. None stands for a forest."""
    if model is None:
        return OWN
    from sensorprivacy.minimize.forest.engine import cannot_train  # compiles with Numba, which takes seconds

    return replace(OWN, engine="sklearn") if cannot_train(model) else OWN
