"""Results of the game: accuracy and identifiability of one strategy, with intervals and chance levels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from scipy.stats import t as student

LEVEL = 0.05  # of tests


@dataclass(frozen=True)
class Measure:
    """How well one model predicts one label on the held-out rows.

    All values except `unseen` are over the held-out rows of classes that the training rows have.

    Attributes
    ----------
    score : float
        Accuracy, 0 to 1.
    low, high : float
        Confidence interval of `score`, see `sensorprivacy.game.units.share`.
    n, unit : int, str
        Number and name of the units behind the interval: rows, or groups if the split keeps groups whole.
    chance : float
        Accuracy of a model without the features, see `sensorprivacy.game.chance.chance_test`.
    p : float
        p-value of the permutation test that the score is the chance level.
    p_any : float
        p-value of the permutation test that no class at all is recognized.
    balanced : float
        Mean recall over the classes.
    auc : float
        Mean over classes of the area under the ROC curve; NaN if the model has no probabilities.
    exposed : object
        The most exposed class: the one whose recall exceeds chance most clearly.
    exposed_recall, exposed_precision : float
        Recall and precision of that class.
    unseen : float
        Share of held-out rows whose class is not in the training rows. No model can predict these.
    """

    score: float
    low: float
    high: float
    n: int
    unit: str
    chance: float
    p: float = math.nan
    p_any: float = math.nan
    balanced: float = math.nan
    auc: float = math.nan
    exposed: Any = None
    exposed_recall: float = math.nan
    exposed_precision: float = math.nan
    unseen: float = 0.0

    @property
    def above(self) -> float:
        """Score minus the chance level."""
        return self.score - self.chance

    @property
    def beats_chance(self) -> bool:
        """Whether the permutation test rejects that the score is the chance level, at 5 %."""
        return self.p < LEVEL

    @property
    def recognizes_someone(self) -> bool:
        """Whether one of the two permutation tests rejects that nothing is learned, each at 2.5 %."""
        return min(self.p, self.p_any) < LEVEL / 2

    @property
    def overall(self) -> float:
        """Accuracy over all held-out rows, those of unseen classes included; the paper counts so."""
        return self.score * (1 - self.unseen) if self.unseen < 1 else 0.0


def nothing_known(unit: str) -> Measure:
    """Return the measure if no held-out row has a class of the training rows: there is nothing to predict."""
    nan = math.nan
    return Measure(nan, nan, nan, 0, unit, nan, p=1.0, p_any=1.0, unseen=1.0)


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
        """Accuracy of the task model on rows of classes seen in training."""
        return self.task.score

    @property
    def identifiability(self) -> float:
        """Accuracy of the adaptive adversary on rows of users seen in training."""
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
            values["overall"] = measure.overall if measure else math.nan
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
        Coverage of the interval of the mean: Student's, with Nadeau and Bengio's correction, because the training rows
        of several splits of one table overlap.

    Returns
    -------
    pandas.DataFrame
        Rows accuracy, identifiability and their other measures; columns mean, std, low, high, rounds.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003), 239-281.
    """
    names = [
        column
        for column in map(str, rounds.select_dtypes("number"))
        if column.startswith(("accuracy", "identifiability")) and not column.endswith(("_low", "_high", "_n"))
    ]
    table = pd.DataFrame({"mean": rounds[names].mean(), "std": rounds[names].std()})
    n, half = len(rounds), math.nan
    if n > 1:
        overlap = float((rounds["n_test"] / rounds["n_train"]).mean())
        half = student.ppf((1 + confidence) / 2, n - 1) * table["std"] * math.sqrt(1 / n + overlap)
    return table.assign(low=table["mean"] - half, high=table["mean"] + half, rounds=n)
