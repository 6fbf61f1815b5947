"""Save a fitted defence of a table, and load it to publish new rows without the training rows.

The folder holds one file of JSON. A defence that drops columns and adds noise is saved as the kept columns and the
bounds of noisy ones; other transformers as `steps` writes them. The file holds data only, so loading it runs no code,
and what was loaded is never fitted again. The folder belongs to the publisher: domains, categories and learnt weights
describe the training rows.
"""

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError
from sklearn import __version__ as sklearn_version
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from sensorprivacy.game.panel import RELEASE_ATTACKERS
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorprivacy.threeway.division import Division
from sensorprivacy.threeway.publication import state_guarantees
from sensorrelease.card import TASK_MODEL
from sensorrelease.defences import as_frame
from sensorrelease.publishing.saved import FILE, FittedFolderError, damaged, read_saved, scores, write_saved
from sensorrelease.publishing.steps import StepError, step_from_json, step_to_json
from sensorrelease.schema.gate import Gate
from sensorrelease.transformers import CHOSEN, MinimizedTable, Rewritten, Rounded, TaskPrediction, TopColumns

FORMAT = "sensorprivacy-fitted-table"
_PLAIN = (FunctionTransformer, MinimizedTable, TopColumns, FeatureMinimizer, ThreeWayDivider, LaplaceNoise)


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A defence that was fitted to a table.

    Attributes
    ----------
    name, about : str
        Word of the command line, and one sentence.
    columns : Gate
        What may leave of the table, with its schema.
    step : transformer
        The fitted transformer.
    facts : dict
        Parts of the data card that describe the fit: sample, measurements.
    """

    name: str
    about: str
    columns: Gate
    step: Any
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> list[str]:
        """Features that the release depends on: a service need not collect the others."""
        if isinstance(self.step, MinimizedTable | TopColumns | FeatureMinimizer | ThreeWayDivider):
            return list(map(str, self.step.get_feature_names_out()))
        return list(self.columns.features)

    def release(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the released cells of some rows, with new noise; the task column is not among them."""
        numbers = self.columns.numbers(rows, self.needed)
        return self.columns.cells(as_frame(self.step.transform(numbers), self.step, np.asarray(rows.index)))


class _Noise(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["row", "columns"]  # `LaplaceNoise` with a budget for the row, or `ThreeWayDivider` for each column
    epsilon: float
    clamp: bool = False
    bounds: dict[str, tuple[float, float]]
    given: list[str]  # columns whose bounds were not read from the data
    types: dict[str, Literal["int64", "float64"]]
    learned: bool  # whether the kept columns, or the groups, were chosen from the data


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    columns: Gate
    kept: list[str]
    noise: _Noise | None
    sklearn: str | None = None  # the version of scikit-learn that wrote the transformer
    step: dict[str, Any] | None = None  # of `steps`
    measured: list[Any]


def check_can_be_saved(step: Any, name: str) -> None:
    """Raise ValueError unless `save_fitted` can save a transformer, fitted or not."""
    if not _keeps_or_adds(step):
        _as_json(step, name)


def _keeps_or_adds(step: Any) -> bool:
    """Return whether a transformer only keeps columns and adds noise."""
    return type(step) in _PLAIN and getattr(step, "func", None) is None


def _as_json(step: Any, name: str) -> dict[str, Any]:
    try:
        found = step_to_json(step)
        step_from_json(found)  # what is saved can be loaded
        return found
    except StepError as error:
        raise ValueError(f"--save: {name} cannot be saved: {error}. Publish without --save") from error


def save_fitted(fitted: FittedTable, folder: Path) -> None:
    """Write a fitted defence to ``defence.json`` in a folder, with the digest of its content.

    Raises
    ------
    ValueError
        If the transformer cannot be saved as data, see `check_can_be_saved`.
    """
    step, noise, other = fitted.step, None, None
    if not _keeps_or_adds(step):
        other = _as_json(step, fitted.name)
    kept = fitted.needed
    laplace = step if isinstance(step, LaplaceNoise) else getattr(step, "noise_", None)
    if laplace is not None:
        bounds = dict(zip(kept, zip(laplace.low_.tolist(), laplace.high_.tolist(), strict=True), strict=True))
        noise = _Noise(
            kind="row",
            epsilon=laplace.epsilon,
            bounds=bounds,
            given=_given(laplace, kept),
            types=dict.fromkeys(kept, "float64"),
            learned=CHOSEN in step.guarantees_,
        )
    elif isinstance(step, ThreeWayDivider):
        domains: dict[str, Any] = {str(name): domain for name, domain in step.domains_.items()}
        noise = _Noise(
            kind="columns",
            epsilon=step.epsilon,
            clamp=step.clamp,
            bounds={name: (domain.low, domain.high) for name, domain in domains.items()},
            given=[name for name, domain in domains.items() if not domain.from_data],
            types={name: "int64" if domain.integer else "float64" for name, domain in domains.items()},
            learned=getattr(step, "learned_", step.division is None),
        )
    measured = fitted.facts.get("measured", [])
    version = None if other is None else sklearn_version
    content = _Content(columns=fitted.columns, kept=kept, noise=noise, sklearn=version, step=other, measured=measured)
    write_saved(folder, FORMAT, content.model_dump(mode="json"))


def _given(noise: LaplaceNoise, names: list[str]) -> list[str]:
    """Return the columns whose bounds the publisher gave."""
    if noise.bounds is None:
        return []
    return [name for name, ends in zip(names, np.asarray(noise.bounds, float), strict=True) if not np.isnan(ends).all()]


def load_fitted(folder: Path) -> FittedTable:
    """Return the fitted defence in a folder. Its name, its sentence and its guarantee are those of its parameters.

    Raises
    ------
    FittedFolderError
        If the folder holds none, or one of another version, or a damaged one.
    """
    try:
        content = _Content(**read_saved(folder, FORMAT))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise damaged(folder, f"{FILE} has a wrong or missing value at {where}") from error
    kept, features = content.kept, content.columns.features
    if not kept or len(set(kept)) < len(kept) or not set(kept) <= set(features):
        raise damaged(folder, f"it keeps columns {', '.join(map(repr, kept[:20]))}, which are no features")
    about = [f"task {content.columns.task}", f"user {content.columns.user}"]
    try:
        measured = scores(content.measured, about, [*RELEASE_ATTACKERS, TASK_MODEL])
        step = _step(content) if content.step is None else _other_step(content, folder)
        found = FittedTable(*_described(step, content), content.columns, step, {"measured": measured})
        with warnings.catch_warnings(action="ignore"):  # of scikit-learn, about a folder that is refused or is sound
            found.release(_row(found))
    except FittedFolderError:
        raise
    except Exception as error:  # numbers, texts or weights that no fit gives
        raise damaged(folder, f"it cannot publish a row ({' '.join(str(error).split())[:200]})") from error
    return found


def _described(step: Any, content: _Content) -> tuple[str, str]:
    """Return a name and a sentence for a loaded defence, of its parameters only."""
    kept, features, noise = content.kept, content.columns.features, content.noise
    if content.step is not None:
        word = {TaskPrediction: "prediction", Rewritten: "rewritten columns", Rounded: "round"}.get(
            type(step), type(step).__name__
        )
        return word, f"A saved {type(step).__name__}, fitted to {len(features)} columns."
    of = f"{len(kept)} of {len(features)} columns"
    if noise is None:
        return ("none" if len(kept) == len(features) else "minimize"), f"Publishes {of}, unchanged."
    if noise.kind == "row":
        return (
            f"noise:epsilon={noise.epsilon:g}",
            f"Publishes {of}, with noise of epsilon {noise.epsilon:g} for each row.",
        )
    many = f"{of}, {len(noise.bounds)} of them with noise of epsilon {noise.epsilon:g} for each of their cells"
    return f"threeway:epsilon={noise.epsilon:g}", f"Publishes {many}."


def _row(fitted: FittedTable) -> pd.DataFrame:
    """Return a row that a fitted defence can publish: its first levels, and lowest numbers."""
    gate = fitted.columns
    cells = {one.name: gate.levels.get(name, [one.constraints.minimum or 0])[:1] for name, one in gate.declared.items()}
    return pd.DataFrame({name: pd.Series(cell) for name, cell in cells.items()})


def _other_step(content: _Content, folder: Path) -> Any:
    """Return a transformer of `steps`, after checking the version of scikit-learn."""
    if (content.sklearn or "").split(".")[:2] != sklearn_version.split(".")[:2]:
        raise FittedFolderError(
            f"{folder} was saved with scikit-learn {content.sklearn}, here is {sklearn_version}: fit and save again"
        )
    step = step_from_json(content.step)
    if not hasattr(step, "transform"):
        raise damaged(folder, f"{FILE} holds a {type(step).__name__}, which publishes no columns")
    check_is_fitted(step)
    return step


def _step(content: _Content) -> Any:
    """Return a transformer that keeps the saved columns and adds the saved noise, always from the secure source."""
    noise, kept = content.noise, content.kept
    if noise is None or noise.kind == "row":
        step = MinimizedTable()
        step.kept_, step.noise_ = kept, None
        if noise is not None:
            ends = pd.DataFrame({name: noise.bounds[name] for name in kept}, dtype=float)
            given = [noise.bounds[name] if name in noise.given else (np.nan, np.nan) for name in kept]
            step.noise_ = LaplaceNoise(noise.epsilon, sound=True, bounds=given).fit(ends)
            step.epsilon_total_ = step.noise_.epsilon_total_
            step.guarantees_ = (*step.noise_.guarantees_, *([CHOSEN] if noise.learned else []))
    else:
        names = list(content.columns.features)
        division = Division(
            1.0,
            0.0,
            tuple(name for name in names if name not in kept),
            tuple(name for name in kept if name not in noise.bounds),
            tuple(noise.bounds),
        )
        ends = pd.DataFrame(
            {name: pd.Series(noise.bounds.get(name, (0, 0)), dtype=noise.types.get(name, "float64")) for name in names}
        )
        bounds: dict[Any, Any] = {name: noise.bounds[name] for name in noise.given}
        step = ThreeWayDivider(division=division, epsilon=noise.epsilon, bounds=bounds, clamp=noise.clamp).fit(ends)
        step.learned_ = noise.learned
        spent = pd.Series({name: step.epsilon * (domain.width > 0) for name, domain in step.domains_.items()})
        step.guarantees_ = state_guarantees(step.division_, step.domains_, spent, division_from_data=noise.learned)
    check_is_fitted(step)
    return step
