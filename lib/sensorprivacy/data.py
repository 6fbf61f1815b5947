"""The two forms of data that defences and attackers use: a table of features, or windows of a signal."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd

EXACT = 2**53  # up to here, a float holds every integer
Labels = pd.Series | np.ndarray | Sequence[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table for the re-identification game.

    Parameters
    ----------
    features : pandas.DataFrame
        One row for each record, one column for each feature, n x d. Numbers or booleans, all finite.
    task : pandas.Series or array-like of shape (n,)
        Label that the service predicts: the class of each record.
    users : pandas.Series or array-like of shape (n,)
        Label that the attacker predicts: the person or device of each record.
    groups : pandas.Series or array-like of shape (n,), optional
        Capture, trial or recording of each record. A group split puts each group either in training or in test.
    name : str
        Name of the data set.
    provenance : dict, optional
        Origin of the rows: set, digest of its members, options of the reader. JSON values only.
    gaps : mapping of str to {"median", "most_frequent"}, optional
        Columns that may have missing values, and the values that fill them; see `filled`.

    Attributes
    ----------
    features, task, users, groups
        The given values, with one common index 0 ... n - 1.

    Raises
    ------
    TypeError
        If `features` is no pandas, polars or Arrow table, or has a column that is not numeric.
    ValueError
        If `features` is empty, repeats a column name, or has infinite values, or missing ones that are no gaps, or
        integers beyond 2^53, whose last digits a float loses; or if labels are missing, have another length, or have
        another index than the features.

    Examples
    --------
    >>> game = Problem(pd.DataFrame({"rate": [1.0, 2.0]}), ["tv", "fridge"], ["ann", "bob"], name="toy")
    >>> game.n_records, game.n_features, game.groups is None
    (2, 1, True)
    """

    features: pd.DataFrame
    task: pd.Series
    users: pd.Series
    groups: pd.Series | None = None
    name: str = "unnamed"
    provenance: dict[str, Any] = field(default_factory=dict)
    gaps: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if hasattr(self.features, "to_pandas"):  # polars, Arrow
            object.__setattr__(self, "features", as_frame(self.features))
        _check_features(self.features, self.gaps or {})
        index = self.features.index
        for role in ("task", "users", "groups"):
            labels = getattr(self, role)
            if labels is not None:
                object.__setattr__(self, role, _labels(labels, role, index))
        object.__setattr__(self, "features", self.features.reset_index(drop=True))
        object.__setattr__(self, "provenance", _plain(self.provenance))

    @property
    def n_records(self) -> int:
        """Number of rows, n."""
        return len(self.features)

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return self.features.shape[1]

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.users.nunique())

    def filled(self, train: np.ndarray) -> "Problem":
        """Return the problem with its missing values filled from the training rows, so that no held-out row is used.

        Parameters
        ----------
        train : numpy.ndarray of int
            Positions of the training rows.

        Returns
        -------
        Problem
            This problem, if nothing is missing.
        """
        if not self.gaps:
            return self
        from sklearn.impute import SimpleImputer  # takes a second to import

        features = self.features.copy()
        for strategy in sorted(set(self.gaps.values())):
            names = [name for name, how in self.gaps.items() if how == strategy]
            imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
            imputer.fit(features[names].iloc[train].to_numpy(dtype=float))
            features[names] = imputer.transform(features[names].to_numpy(dtype=float))
        return replace(self, features=features, gaps=None)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over column names, features and labels. Equal problems have equal digests, whatever their names."""
        features = [(f"feature {name}", column) for name, column in self.features.items()]
        labels = [(role, getattr(self, role)) for role in ("task", "users", "groups")]
        return _digest([*features, *((role, column) for role, column in labels if column is not None)])


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of a multichannel signal, with a public label and private attributes for each window.

    Parameters
    ----------
    values : numpy.ndarray of shape (n, channels, length)
        The signal, converted to float32; all values finite.
    public : pandas.Series or array-like of shape (n,)
        The label that the service may know (the activity).
    private : pandas.DataFrame of n rows
        One column for each private attribute (gender, weight class).
    subject : pandas.Series or array-like of shape (n,)
        Person of each window.
    trial : pandas.Series or array-like of shape (n,)
        Recording of each window.
    name : str
        Name of the data set.
    provenance : dict, optional
        Origin of the windows. JSON values only.

    Raises
    ------
    ValueError
        If `values` has not three dimensions, is empty or not finite; or if labels are missing or have another length.
    """

    values: np.ndarray
    public: pd.Series
    private: pd.DataFrame
    subject: pd.Series
    trial: pd.Series
    name: str = "unnamed"
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float32)
        if values.ndim != 3 or 0 in values.shape:
            raise ValueError(f"windows must be n x channels x length and not empty, got shape {values.shape}")
        broken = ~np.isfinite(values).all(axis=(1, 2))
        if broken.any():
            count = f"{int(broken.sum())} of {len(values)} windows have missing or infinite values"
            raise ValueError(f"{count} (first: window {int(broken.argmax())}): drop or fill them first")
        object.__setattr__(self, "values", values)
        index = pd.RangeIndex(len(values))
        for role in ("public", "subject", "trial"):
            labels = getattr(self, role)
            object.__setattr__(self, role, _labels(np.asarray(labels), role, index))
        if not isinstance(self.private, pd.DataFrame):
            kind = type(self.private).__name__
            raise TypeError(f"private must be a DataFrame with one column for each attribute, got {kind}")
        private = {str(name): _labels(of.to_numpy(), f"private[{name}]", index) for name, of in self.private.items()}
        object.__setattr__(self, "private", pd.DataFrame(private, index=index))
        object.__setattr__(self, "provenance", _plain(self.provenance))

    @property
    def n_windows(self) -> int:
        """Number of windows, n."""
        return int(self.values.shape[0])

    @property
    def n_channels(self) -> int:
        """Number of channels of a window."""
        return int(self.values.shape[1])

    @property
    def length(self) -> int:
        """Number of samples of a window in each channel."""
        return int(self.values.shape[2])

    @property
    def n_people(self) -> int:
        """Number of people."""
        return int(self.subject.nunique())

    def take(self, rows: np.ndarray | Sequence[int]) -> "Windows":
        """Return the windows at the given positions, or those that a boolean mask selects.

        Parameters
        ----------
        rows : array-like of int, or of bool with shape (n,)
            Positions of the windows, or a mask.

        Returns
        -------
        Windows
            These windows, with the same name and provenance.
        """
        at = np.asarray(rows)
        at = np.flatnonzero(at) if at.dtype == bool else at
        labels = {role: getattr(self, role).iloc[at] for role in ("public", "private", "subject", "trial")}
        return replace(self, values=self.values[at], **labels)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the values and all labels."""
        labels = [(role, getattr(self, role)) for role in ("public", "subject", "trial")]
        private = [(f"private {name}", column) for name, column in self.private.items()]
        return _digest([("values", self.values), *labels, *private])


def as_frame(table: Any) -> pd.DataFrame:
    """Return a pandas, polars or Arrow table as a pandas data frame.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(table, pd.DataFrame):
        return table
    table = table.collect() if hasattr(table, "collect") else table  # a lazy frame of polars
    if not hasattr(table, "to_pandas"):
        raise TypeError(f"a table must be a pandas, polars or Arrow table, or a path, got {type(table).__name__}")
    return cast(pd.DataFrame, table.to_pandas())


def draw_rows(n: int, most: int | None, seed: Any, name: str = "rows") -> np.ndarray:
    """Draw at most `most` of the positions 0 ... n - 1 without replacement; return them in ascending order."""
    if most is not None and most < 1:
        raise ValueError(f"{name}={most}: keep at least one row")
    if most is None or n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size=most, replace=False))


def check_frame(frame: pd.DataFrame, name: str = "the table") -> None:
    """Raise TypeError or ValueError unless a table is a data frame with rows, columns and distinct column names."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{name} is a {type(frame).__name__}: give a pandas DataFrame with columns by name")
    if frame.empty:
        raise ValueError(f"{name} has {frame.shape[0]} rows x {frame.shape[1]} columns: give at least one of each")
    if twice := frame.columns[frame.columns.duplicated()].unique().tolist():
        raise ValueError(f"{name} repeats column names {twice}: rename them")


def _check_features(features: pd.DataFrame, gaps: Mapping[str, str]) -> None:
    check_frame(features, "features")
    broken = []
    for name, column in features.items():
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_complex_dtype(column):
            raise TypeError(f"feature {name!r} is {column.dtype}, not numeric: replace its categories by numbers first")
        values = column.to_numpy(dtype=float, na_value=np.nan)
        unfit = np.isinf(values) if name in gaps else ~np.isfinite(values)
        if unfit.any():
            count = f"{int(unfit.sum())} of {len(column)} rows (first: row {int(unfit.argmax())})"
            broken.append(f"{name!r} is missing or infinite in {count}")
        elif pd.api.types.is_integer_dtype(column):
            farthest = max(int(column.min()), int(column.max()), key=abs)
            if abs(farthest) > EXACT:
                raise ValueError(
                    f"feature {name!r} has integers such as {farthest}: models compute with floats, which lose the "
                    "last digits beyond 2^53; drop it if it is an identifier, or else subtract an offset or divide it"
                )
    if broken:
        more = f" and {len(broken) - 5} more" if len(broken) > 5 else ""
        raise ValueError(f"feature {'; '.join(broken[:5])}{more}: drop or fill them first")


def _labels(labels: Labels, role: str, index: pd.Index) -> pd.Series:
    """Return `labels` as a Series with index 0 ... n - 1; refuse a Series with another index than the features."""
    if len(labels) != len(index):
        raise ValueError(f"{role} has {len(labels)} labels for {len(index)} rows")
    if isinstance(labels, pd.Series) and not labels.index.equals(index):
        raise ValueError(f"{role} has another index than the features: align them, or pass an array in row order")
    series = pd.Series(labels).reset_index(drop=True).rename(role)
    missing = series.isna().to_numpy()
    if missing.any():
        raise ValueError(f"{role} is missing in {int(missing.sum())} rows (first: row {int(missing.argmax())})")
    return series


def _digest(named: Iterable[tuple[str, pd.Series | np.ndarray]]) -> str:
    """Return the SHA-256 of named arrays: arrays with other names, types, shapes or values have another digest."""
    digest = hashlib.sha256()
    for name, column in named:
        values = column if isinstance(column, np.ndarray) else column.to_numpy()
        digest.update(f"{name}\0{values.shape}\0".encode())
        if values.dtype.kind in "biuf":
            digest.update(values.dtype.str.encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        else:
            digest.update(_labels_as_bytes(values.ravel()))
    return digest.hexdigest()


def _labels_as_bytes(values: np.ndarray) -> bytes:
    """Return the types and texts of values one after the other, each with its length."""
    repeat = range(len(values))
    if set(map(type, values)) == {str}:  # labels have few distinct texts: each is written once
        repeat, values = pd.factorize(values)  # type: ignore[assignment]
    texts = [f"{type(value).__name__}:{value}".encode() for value in values]
    written = [f"{len(text)}:".encode() + text for text in texts]
    return b"".join([written[at] for at in repeat])


def _plain(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with JSON values only, so that a run can record where its data came from."""
    try:
        return dict(json.loads(json.dumps(dict(provenance))))
    except TypeError as error:
        raise TypeError(f"provenance must have JSON values only: {error}") from error
