"""Save a fitted defence of a table as JSON, and load it to publish new rows without the training rows.

A defence that can be saved drops columns and adds noise. The file has the kept columns and the bounds of noisy ones. It
belongs to the publisher: domains and categories describe the training rows.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from sensorprivacy.compare.columns import Columns
from sensorprivacy.compare.defences import as_frame
from sensorprivacy.compare.transformers import MinimizedTable, TopColumns
from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import LaplaceNoise
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorprivacy.threeway.division import Division

FORMAT, VERSION, FILE = "sensorprivacy-fitted-table", 1, "defence.json"


class FittedFolderError(ValueError):
    """A folder holds no fitted defence, one of another version, or a damaged one."""


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A defence that was fitted to a table.

    Attributes
    ----------
    name, about : str
        Word of the command line, and one sentence.
    columns : Columns
        Roles and categories of the table's columns.
    step : transformer
        The fitted transformer.
    facts : dict
        Parts of the data card that describe the fit: sample, measurements.
    """

    name: str
    about: str
    columns: Columns
    step: Any
    facts: dict[str, Any] = field(default_factory=dict)

    def release(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the released cells of some rows, with new noise; the task column is not among them."""
        numbers = self.columns.numbers(rows)
        return self.columns.cells(as_frame(self.step.transform(numbers), self.step, np.asarray(rows.index)))


class _Noise(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["row", "columns"]  # `LaplaceNoise` with a budget for the row, or `ThreeWayDivider` for each column
    epsilon: float
    clamp: bool = False
    bounds: dict[str, tuple[float, float]]
    types: dict[str, Literal["int64", "float64"]]
    total: float
    guarantees: list[str]


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")
    task: str
    user: str
    groups: str | None
    features: tuple[str, ...]
    categories: dict[str, list[str | None]]
    dropped: dict[str, str]
    fills: dict[str, float] = {}


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    format: str = FORMAT
    version: int = VERSION
    name: str
    about: str
    columns: _Roles
    kept: list[str]
    noise: _Noise | None
    facts: dict[str, Any]


def check_can_be_saved(step: Any, name: str) -> None:
    """Raise ValueError unless `save_fitted` can save a transformer, fitted or not."""
    kinds = (FunctionTransformer, MinimizedTable, TopColumns, FeatureMinimizer, ThreeWayDivider, LaplaceNoise)
    if not isinstance(step, kinds) or (isinstance(step, FunctionTransformer) and step.func is not None):
        raise ValueError(
            f"--save: {name} cannot be saved as JSON. Defences that drop columns or add noise can: none, minimize, "
            "minimize+noise, noise, threeway, and the rankings of method"
        )


def save_fitted(fitted: FittedTable, folder: Path) -> None:
    """Write a fitted defence to ``defence.json`` in a folder, with the digest of its content."""
    step, noise = fitted.step, None
    check_can_be_saved(step, fitted.name)
    kept = list(fitted.columns.features)
    if isinstance(step, MinimizedTable | TopColumns):
        kept = list(step.kept_)
    elif isinstance(step, FeatureMinimizer | ThreeWayDivider):
        kept = list(map(str, step.get_feature_names_out()))
    laplace = step if isinstance(step, LaplaceNoise) else getattr(step, "noise_", None)
    if laplace is not None:
        bounds = dict(zip(kept, zip(laplace.low_.tolist(), laplace.high_.tolist(), strict=True), strict=True))
        noise = _Noise(
            kind="row",
            epsilon=laplace.epsilon,
            bounds=bounds,
            types=dict.fromkeys(kept, "float64"),
            total=laplace.epsilon_total_,
            guarantees=list(step.guarantees_),
        )
    elif isinstance(step, ThreeWayDivider):
        domains: dict[str, Any] = {str(name): domain for name, domain in step.domains_.items()}
        noise = _Noise(
            kind="columns",
            epsilon=step.epsilon,
            clamp=step.clamp,
            bounds={name: (domain.low, domain.high) for name, domain in domains.items()},
            types={name: "int64" if domain.integer else "float64" for name, domain in domains.items()},
            total=step.epsilon_total_,
            guarantees=list(step.guarantees_),
        )
    content = _Content(
        name=fitted.name,
        about=fitted.about,
        columns=_Roles.model_validate(asdict(fitted.columns)),
        kept=kept,
        noise=noise,
        facts=fitted.facts,
    ).model_dump(mode="json")
    write_content(content, folder)


def load_fitted(folder: Path) -> FittedTable:
    """Return the fitted defence in a folder.

    Raises
    ------
    FittedFolderError
        If the folder holds none, or one of another version, or a damaged one.
    """
    try:
        content = _Content(**read_content(folder, FORMAT, VERSION))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise FittedFolderError(f"{folder} is damaged: {FILE} has a wrong or missing value at {where}") from error
    columns = Columns(**content.columns.model_dump())
    if not set(content.kept) <= set(columns.features) or not content.kept:
        raise FittedFolderError(f"{folder} is damaged: it keeps columns {content.kept}, which are no features")
    return FittedTable(content.name, content.about, columns, _step(content), content.facts)


def write_content(content: dict[str, Any], folder: Path) -> None:
    """Write ``defence.json`` with the digest of its content."""
    text = json.dumps(content | {"digest": _digest(content)}, indent=1, ensure_ascii=False)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


def read_content(folder: Path, kind: str, version: int) -> dict[str, Any]:
    """Return the content of ``defence.json`` after checking format, version and digest; see `load_fitted`."""
    file = folder / FILE
    if not file.is_file():
        raise FittedFolderError(f"{folder} holds no fitted defence: there is no {FILE} in it")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FittedFolderError(f"{folder} is damaged: {FILE} is no JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise FittedFolderError(f"{folder} holds no fitted defence of this kind: {FILE} has not the format {kind!r}")
    if content.get("version") != version:
        raise FittedFolderError(
            f"{folder} has version {content.get('version')}, this package reads version {version}: fit and save again"
        )
    if content.pop("digest", None) != _digest(content):
        raise FittedFolderError(f"{folder} is damaged: the content of {FILE} does not have the digest that it states")
    return content


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _step(content: _Content) -> Any:
    """Return a transformer that keeps the saved columns and adds the saved noise, always from the secure source."""
    noise, kept = content.noise, content.kept
    if noise is None or noise.kind == "row":
        step = MinimizedTable()
        step.kept_, step.noise_ = kept, None
        if noise is not None:
            ends = pd.DataFrame({name: noise.bounds[name] for name in kept}, dtype=float)
            step.noise_ = LaplaceNoise(noise.epsilon, sound=True, bounds=ends.T.to_numpy()).fit(ends)
    else:
        names = content.columns.features
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
        step = ThreeWayDivider(
            division=division, epsilon=noise.epsilon, bounds=dict[Any, Any](noise.bounds), clamp=noise.clamp
        )
        step.fit(ends)
    if noise is not None:
        step.epsilon_total_, step.guarantees_ = noise.total, tuple(noise.guarantees)
    check_is_fitted(step)
    return step
