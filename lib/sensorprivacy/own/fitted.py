"""Save a fitted defence of a table, and load it to publish new rows without the training rows.

A defence that drops columns and adds noise is saved as JSON: the kept columns and the bounds of noisy ones. Any other
transformer of scikit-learn, and those of this package, are a file of skops beside it, which runs no code when it is
loaded. The folder belongs to the publisher: domains, categories and learnt weights describe the training rows.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError
from sklearn import __version__ as sklearn_version
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from sensorprivacy.minimize.minimizer import FeatureMinimizer
from sensorprivacy.minimize.rewrites import ColumnHasher, LaplaceNoise
from sensorprivacy.own.columns import Columns
from sensorprivacy.own.defences import as_frame
from sensorprivacy.own.transformers import MinimizedTable, Rewritten, TaskPrediction, TopColumns
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorprivacy.threeway.division import Division

FORMAT, VERSION, FILE, OTHER = "sensorprivacy-fitted-table", 1, "defence.json", "step.skops"
_AS_JSON = (FunctionTransformer, MinimizedTable, TopColumns, FeatureMinimizer, ThreeWayDivider, LaplaceNoise)
# what a file of skops may hold besides the classes that skops itself trusts: numbers, and our transformers
_OURS = [f"{kind.__module__}.{kind.__name__}" for kind in (TaskPrediction, Rewritten, ColumnHasher)]
_TRUSTED = ["numpy.dtype", "scipy.sparse._csr.csr_matrix", "sklearn.tree._tree.Tree", *_OURS]


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


class _Other(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sha256: str  # of `OTHER`
    sklearn: str  # the version of scikit-learn that wrote it


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    format: str = FORMAT
    version: int = VERSION
    name: str
    about: str
    columns: _Roles
    kept: list[str]
    noise: _Noise | None
    other: _Other | None = None
    facts: dict[str, Any]


def check_can_be_saved(step: Any, name: str) -> None:
    """Raise ValueError unless `save_fitted` can save a transformer, fitted or not."""
    if not _as_json(step):
        _as_skops(step, name)


def _as_json(step: Any) -> bool:
    return isinstance(step, _AS_JSON) and not (isinstance(step, FunctionTransformer) and step.func is not None)


def _as_skops(step: Any, name: str) -> bytes:
    """Return the content of a transformer's file, if it can be loaded without running code of its own."""
    from skops import io  # in an extra

    try:
        content = io.dumps(step)
        strange = _strange(content)
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"--save: {name} cannot be saved: {error}") from error
    if strange:
        raise ValueError(
            f"--save: {name} cannot be saved, because loading {', '.join(strange)} could run any code: use the "
            "transformers of scikit-learn or of this package, or publish without --save"
        )
    return bytes(content)


def _strange(content: bytes) -> list[str]:
    from skops import io

    return sorted(set(io.get_untrusted_types(data=content)) - set(_TRUSTED))


def save_fitted(fitted: FittedTable, folder: Path) -> None:
    """Write a fitted defence to ``defence.json`` in a folder, with the digest of its content; some need a second file.

    Raises
    ------
    ValueError
        If the transformer cannot be saved without code, see `check_can_be_saved`.
    """
    step, noise, other = fitted.step, None, None
    if not _as_json(step):
        whole = _as_skops(step, fitted.name)
        (folder / OTHER).write_bytes(whole)
        other = _Other(sha256=hashlib.sha256(whole).hexdigest(), sklearn=sklearn_version)
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
        other=other,
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
    step = _step(content) if content.other is None else _other_step(content.other, folder)
    return FittedTable(content.name, content.about, columns, step, content.facts)


def _other_step(other: _Other, folder: Path) -> Any:
    """Return the transformer in the second file, after checking digest, version and classes."""
    from skops import io

    file = folder / OTHER
    whole = file.read_bytes() if file.is_file() else b""
    if hashlib.sha256(whole).hexdigest() != other.sha256:
        raise FittedFolderError(f"{folder} is damaged: {OTHER} is not the file that {FILE} states")
    if other.sklearn.split(".")[:2] != sklearn_version.split(".")[:2]:
        raise FittedFolderError(
            f"{folder} was saved with scikit-learn {other.sklearn}, here is {sklearn_version}: fit and save again"
        )
    if strange := _strange(whole):
        raise FittedFolderError(f"{folder} is not loaded: {', '.join(strange)} in {OTHER} could run any code")
    step = io.loads(whole, trusted=_TRUSTED)
    check_is_fitted(step)
    return step


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
