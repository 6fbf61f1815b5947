"""Checks of lesson 61, the re-identification game by hand."""

import math
from typing import Any

import numpy as np
import pandas as pd

from checks.hints import exercise, require, same_function
from sensorprivacy.game import relative_effectiveness
from sensorprivacy.minimize.select import select

_WORDS = [np.array(list(word)) for word in ("aabbc", "abbbc", "ccccc", "bcaab", "aaab", "bbba", "bbbbca", "acbbba")]
_TRAIN = pd.DataFrame({"x": [0.0, 2.0, 10.0, 12.0, 5.0], "y": [1.0, 1.0, 5.0, 9.0, 2.0]})
_TEST = pd.DataFrame({"x": [1.0, 30.0, 6.5, 10.0], "y": [0.0, 8.0, 3.0, -20.0]})
_LABELS = np.array(["a", "a", "b", "b", "c"])
_SUBSETS = pd.DataFrame(
    {
        "accuracy": [0.50, 0.452, 0.48, 0.20, 0.462],
        "identifiability": [0.40, 0.10, 0.30, 0.05, 0.28],
        "n_features": [3, 2, 2, 1, 1],
    },
    index=["abc", "ab", "bc", "c", "b"],
)


@exercise
def accuracy(answer: Any) -> None:
    """Check ``accuracy(predicted, truth)``."""
    cases = list(zip(_WORDS[:6:2], [_WORDS[1], _WORDS[3], _WORDS[5]], strict=True))
    mistakes = {
        "This is the number of correct predictions. Divide it by the number of rows.": lambda p, t: (p == t).sum(),
        "This is a percentage. Return the share, a number between 0 and 1.": lambda p, t: 100 * (p == t).mean(),
        "This is the share of wrong predictions. Count the correct ones.": lambda p, t: (p != t).mean(),
    }
    same_function(answer, lambda p, t: (p == t).mean(), cases, mistakes)


@exercise
def chance(answer: Any) -> None:
    """Check ``chance_level(train_labels, test_labels)``."""
    cases = [(pd.Series(_WORDS[0]), pd.Series(_WORDS[1])), (pd.Series(_WORDS[4]), pd.Series(_WORDS[6]))]
    mistakes = {
        "This treats all classes as equally frequent. A guesser who knows the training labels does better: "
        "it always predicts the most frequent class.": lambda a, b: 1 / a.nunique(),
        "This finds the most frequent class in the test labels. A guesser does not know them. Find the class in the "
        "training labels, then count it in the test labels.": lambda a, b: b.value_counts(normalize=True).max(),
        "This is the share of the class in the training labels. The score of a guess is counted on the test "
        "labels.": lambda a, b: a.value_counts(normalize=True).max(),
    }
    same_function(answer, lambda a, b: (b == a.mode()[0]).mean(), cases, mistakes)


@exercise
def standardize(answer: Any) -> None:
    """Check ``standardize(train, test)``, which returns both tables."""

    def by(*parts: str, ddof: int = 1) -> Any:
        def scaled(train: pd.DataFrame, test: pd.DataFrame) -> list[np.ndarray]:
            known = {"train": train, "test": test, "both": pd.concat([train, test])}
            return [
                ((table - known[part].mean()) / known[part].std(ddof=ddof)).to_numpy()
                for table, part in zip((train, test), parts, strict=True)
            ]

        return scaled

    mistakes = {
        "The mean and the deviation come from all rows. The test rows must not influence the preparation: compute "
        "both from the training rows only.": by("both", "both"),
        "The test rows are scaled by their own mean and deviation. A model in use sees one row at a time. Use the "
        "mean and the deviation of the training rows for both tables.": by("train", "test"),
        "Both tables are scaled by the test rows. Use the training rows: the test rows are unknown when the model "
        "is made.": by("test", "test"),
        "The mean is subtracted, but the columns still have different units. Divide by the deviation of the "
        "training rows.": lambda train, test: [(each - train.mean()).to_numpy() for each in (train, test)],
    }

    def arrays(train: pd.DataFrame, test: pd.DataFrame) -> list[np.ndarray]:
        both = answer(train, test)
        require(
            isinstance(both, (tuple, list)) and len(both) == 2, "Return both tables: return scaled_train, scaled_test."
        )
        return [np.asarray(each) for each in both]

    cases = [(_TRAIN, _TEST), (_TEST, _TRAIN)]
    # NumPy divides by n and pandas by n - 1; both are accepted here.
    right, other = (by("train", "train", ddof=ddof) for ddof in (1, 0))
    same_function(arrays if callable(answer) else answer, right, cases, mistakes, accepted=other)


@exercise
def nearest(answer: Any) -> None:
    """Check ``nearest(centroids, rows)``, which returns one label for each row."""

    def by(pick: Any) -> Any:
        def labels(centroids: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
            gaps = rows.to_numpy()[:, None, :] - centroids.to_numpy()[None, :, :]
            return np.asarray(centroids.index)[pick(gaps)]

        return labels

    mistakes = {
        "These are the labels of the farthest centroids. Take the smallest distance, for example with argmin.": by(
            lambda gaps: (gaps**2).sum(axis=2).argmax(axis=1)
        ),
        "This adds up differences without squares, so positive and negative ones cancel. Square the differences "
        "first.": by(lambda gaps: gaps.sum(axis=2).argmin(axis=1)),
        "This adds up absolute differences, which is another distance. The Euclidean one adds up squares.": by(
            lambda gaps: np.abs(gaps).sum(axis=2).argmin(axis=1)
        ),
        "These are positions in the table of centroids. Return the labels, which are in `centroids.index`.": (
            lambda centroids, rows: by(lambda gaps: (gaps**2).sum(axis=2).argmin(axis=1))(
                centroids.reset_index(drop=True), rows
            )
        ),
    }
    centroids = _TRAIN.groupby(_LABELS).mean()
    cases = [(centroids, _TRAIN), (centroids, _TEST), (centroids, pd.DataFrame({"x": [9.0, 1.5], "y": [-4.0, 9.0]}))]

    def array(centroids: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
        return np.asarray(answer(centroids, rows))

    right = by(lambda gaps: (gaps**2).sum(axis=2).argmin(axis=1))
    same_function(array if callable(answer) else answer, right, cases, mistakes)


@exercise
def play(answer: Any, train: pd.DataFrame, test: pd.DataFrame, columns: list[str]) -> None:
    """Check ``play(columns)``, which returns accuracy and identifiability of some columns."""
    from sklearn.neighbors import NearestCentroid

    def score(known: pd.DataFrame, held: pd.DataFrame, label: str, names: list[str]) -> float:
        fitted = NearestCentroid().fit(known[names].to_numpy(), known[label])
        return float((fitted.predict(held[names].to_numpy()) == held[label]).mean())

    mistakes = {
        "Both numbers are the accuracy of the service. The attacker's centroids belong to people: use the label "
        "'person' for the second number.": lambda names: [score(train, test, "exercise", names)] * 2,
        "The order is wrong. Return the accuracy of the service first, then the identifiability.": lambda names: [
            score(train, test, label, names) for label in ("person", "exercise")
        ],
        "The models are tested on the rows that they learned from. Compute the centroids on the training rows and "
        "the scores on the test rows.": lambda names: [
            score(train, train, label, names) for label in ("exercise", "person")
        ],
        "The centroids come from the test rows. Compute them on the training rows.": lambda names: [
            score(test, test, label, names) for label in ("exercise", "person")
        ],
    }
    cases: list[tuple[Any, ...]] = [(columns[:15],), (columns[30:60],)]
    same_function(
        answer, lambda names: [score(train, test, label, names) for label in ("exercise", "person")], cases, mistakes
    )


@exercise
def choose(answer: Any) -> None:
    """Check ``choose(table, loss)``, which returns the index label of the provider's choice."""

    def among(keep: Any, by: str = "identifiability", ascending: bool = True) -> Any:
        return lambda table, loss: table[keep(table, loss)].sort_values(by, ascending=ascending).index[0]

    def enough(table: pd.DataFrame, loss: float) -> pd.Series:
        return table["accuracy"] >= (1 - loss) * table["accuracy"].max() - 1e-12

    mistakes = {
        "This ignores the accuracy that the service needs. First keep the rows with enough accuracy, then take the "
        "lowest identifiability.": among(lambda table, loss: table["accuracy"] >= 0),
        "The loss is a share of the best accuracy. With a loss of 0.1, (1 - 0.1) times the best accuracy is enough. "
        "You subtract 0.1.": among(lambda table, loss: table["accuracy"] >= table["accuracy"].max() - loss),
        "This takes the highest identifiability. The provider wants the lowest.": among(enough, ascending=False),
        "This takes the highest accuracy. Among the rows with enough accuracy, identifiability decides.": among(
            enough, "accuracy", ascending=False
        ),
    }

    def right(table: pd.DataFrame, loss: float) -> Any:
        names: Any = list(map(tuple, table.index))
        rows = table.assign(features=names)
        return select(rows, loss).name

    same_function(answer, right, [(_SUBSETS, loss) for loss in (0.0, 0.05, 0.08, 0.1, 1.0)], mistakes)


@exercise
def effectiveness(answer: Any) -> None:
    """Check ``effectiveness(accuracy, identifiability, base_accuracy, base_identifiability)``."""
    mistakes = {
        "The paper's logarithm is natural: use the base e, numpy.log.": lambda a, i, a0, i0: math.log10(
            (i - i0) / (a - a0)
        ),
        "The paper's logarithm is the natural one: use numpy.log instead of log2.": lambda a, i, a0, i0: math.log2(
            (i - i0) / (a - a0)
        ),
        "The ratio is upside down. The change of identifiability is the numerator.": lambda a, i, a0, i0: math.log(
            (a - a0) / (i - i0)
        ),
        "This is the ratio of the values. Take the ratio of the changes, and then its logarithm.": (
            lambda a, i, a0, i0: math.log(i / a)
        ),
        "This is the ratio of the changes. Take its logarithm.": lambda a, i, a0, i0: (i - i0) / (a - a0),
    }
    cases = [(0.9905, 0.6981, 0.9991, 0.7798), (0.7, 0.5, 0.8, 0.55)]
    same_function(answer, relative_effectiveness, cases, mistakes)
