"""Save a fitted defence of a table, and load it to publish new rows without the training rows.

A defence that drops columns and adds noise is saved as JSON: the kept columns and the bounds of noisy ones. Any other
transformer of scikit-learn, and those of this package, are a file of skops beside it, which runs no code when it is
loaded. The folder belongs to the publisher: domains, categories and learnt weights describe the training rows.
"""

from dataclasses import dataclass, field
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
from sensorprivacy.own.defences import as_frame
from sensorprivacy.own.publishing.columns import Columns
from sensorprivacy.own.publishing.saved import FILE, FittedFolderError, damaged, read_saved, write_saved
from sensorprivacy.own.transformers import MinimizedTable, Rewritten, TaskPrediction, TopColumns
from sensorprivacy.threeway.divider import ThreeWayDivider
from sensorprivacy.threeway.division import Division

FORMAT, OTHER = "sensorprivacy-fitted-table", "step.skops"
_AS_JSON = (FunctionTransformer, MinimizedTable, TopColumns, FeatureMinimizer, ThreeWayDivider, LaplaceNoise)
# what a file of skops may hold besides the classes that skops itself trusts: numbers, and our transformers
_OURS = [f"{kind.__module__}.{kind.__name__}" for kind in (TaskPrediction, Rewritten, ColumnHasher)]
_TRUSTED = ["numpy.dtype", "scipy.sparse._csr.csr_matrix", "sklearn.tree._tree.Tree", *_OURS]


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
    types: dict[str, Literal["int64", "float64"]]
    total: float
    guarantees: list[str]


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    about: str
    columns: Columns
    kept: list[str]
    noise: _Noise | None
    sklearn: str | None = None  # the version of scikit-learn that wrote the second file
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
    step, noise, sklearn = fitted.step, None, None
    if not _as_json(step):
        (folder / OTHER).write_bytes(_as_skops(step, fitted.name))
        sklearn = sklearn_version
    kept = fitted.needed
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
    facts = {name: value for name, value in vars(fitted).items() if name != "step"}
    content = _Content(**facts, kept=kept, noise=noise, sklearn=sklearn)
    write_saved(folder, FORMAT, content.model_dump(mode="json"))


def load_fitted(folder: Path) -> FittedTable:
    """Return the fitted defence in a folder.

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
    if not set(content.kept) <= set(content.columns.features) or not content.kept:
        raise damaged(folder, f"it keeps columns {content.kept}, which are no features")
    step = _step(content) if content.sklearn is None else _other_step(content.sklearn, folder)
    return FittedTable(content.name, content.about, content.columns, step, content.facts)


def _other_step(version: str, folder: Path) -> Any:
    """Return the transformer in the second file, after checking the version of scikit-learn and all classes."""
    from skops import io

    if version.split(".")[:2] != sklearn_version.split(".")[:2]:
        raise FittedFolderError(
            f"{folder} was saved with scikit-learn {version}, here is {sklearn_version}: fit and save again"
        )
    whole = (folder / OTHER).read_bytes()
    if strange := _strange(whole):
        raise FittedFolderError(f"{folder} is not loaded: {', '.join(strange)} in {OTHER} could run any code")
    step = io.loads(whole, trusted=_TRUSTED)
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
            step.noise_ = LaplaceNoise(noise.epsilon, sound=True, bounds=ends.T.to_numpy()).fit(ends)
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
        step = ThreeWayDivider(
            division=division, epsilon=noise.epsilon, bounds=dict[Any, Any](noise.bounds), clamp=noise.clamp
        )
        step.fit(ends)
    if noise is not None:
        step.epsilon_total_, step.guarantees_ = noise.total, tuple(noise.guarantees)
    check_is_fitted(step)
    return step
