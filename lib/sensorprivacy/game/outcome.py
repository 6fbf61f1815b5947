"""Results of the game: accuracy and identifiability of one strategy, with intervals and chance levels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from scipy.stats import t as student


@dataclass(frozen=True)
class Measure:
    """How well one model predicts one label on the held-out rows.

    Attributes
    ----------
    score : float
        Accuracy, 0 to 1.
    low, high : float
        Wilson's confidence interval of `score`.
    chance : float
        Accuracy of always predicting the most frequent class of the training rows.
    balanced : float
        Mean recall over the classes in the held-out rows.
    unseen : float
        Share of held-out rows whose class is not in the training rows. No model can predict these.
    """

    score: float
    low: float
    high: float
    chance: float
    balanced: float
    unseen: float

    @property
    def beats_chance(self) -> bool:
        """Whether the whole interval lies above the chance level."""
        return self.low > self.chance


@dataclass(frozen=True)
class Outcome:
    """How well a strategy's release serves the task, and how well it identifies the users.

    Attributes
    ----------
    task, adversary : Measure
        The task model and the adaptive adversary. Both are trained on the released values.
    naive_task, naive_adversary : Measure or None
        Models that are trained on raw values and applied to released values. Equal to the adaptive models if the
        strategy only drops columns. None if the released columns are not columns of the raw data.
    n_features, n_train, n_test : int
        Number of released columns, of training rows and of held-out rows.
    problem, strategy, model, split, part : str
        Descriptions of the game. `part` is the held-out part of the split.
    seed : int or None
        Seed of both models.
    """

    task: Measure
    adversary: Measure
    naive_task: Measure | None
    naive_adversary: Measure | None
    n_features: int
    n_train: int
    n_test: int
    problem: str
    strategy: str
    model: str
    split: str
    part: str
    seed: int | None

    @property
    def accuracy(self) -> float:
        """Accuracy of the task model."""
        return self.task.score

    @property
    def identifiability(self) -> float:
        """Accuracy of the adaptive adversary."""
        return self.adversary.score

    def to_series(self) -> pd.Series:
        """Return all values as one flat row: ``accuracy``, ``accuracy_low``, ..., ``identifiability``, ...

        Returns
        -------
        pandas.Series
            Rows of several outcomes stack into a data frame. A measure that does not exist is NaN.
        """
        row: dict[str, Any] = {"problem": self.problem, "strategy": self.strategy, "n_features": self.n_features}
        for prefix, measure in (
            ("accuracy", self.task),
            ("identifiability", self.adversary),
            ("accuracy_naive", self.naive_task),
            ("identifiability_naive", self.naive_adversary),
        ):
            values = asdict(measure) if measure else dict.fromkeys(Measure.__dataclass_fields__, math.nan)
            row |= {prefix if name == "score" else f"{prefix}_{name}": value for name, value in values.items()}
        rest = ("n_train", "n_test", "model", "split", "part", "seed")
        return pd.Series(row | {name: getattr(self, name) for name in rest})


def summarize(rounds: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Return mean, standard deviation and confidence interval of the mean over repeated games.

    Parameters
    ----------
    rounds : pandas.DataFrame
        The result of `play_repeated`.
    confidence : float, default .95
        Coverage of Student's interval of the mean. It shows how much the random split matters. It is too narrow for new
        tables, because splits of one table overlap.

    Returns
    -------
    pandas.DataFrame
        Rows accuracy, identifiability and their chance and balanced columns; columns mean, std, low, high, rounds.
    """
    names = [
        column
        for column in map(str, rounds.select_dtypes("number"))
        if column.startswith(("accuracy", "identifiability")) and not column.endswith(("_low", "_high"))
    ]
    table = pd.DataFrame({"mean": rounds[names].mean(), "std": rounds[names].std()})
    n = len(rounds)
    half = student.ppf((1 + confidence) / 2, n - 1) * table["std"] / math.sqrt(n) if n > 1 else math.nan
    return table.assign(low=table["mean"] - half, high=table["mean"] + half, rounds=n)
