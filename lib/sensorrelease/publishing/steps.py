"""Write a fitted transformer as JSON that holds data only, and read it: no code, no path and no callable.

A saved transformer is the name of a class in `STEPS` and its attributes: numbers, booleans, None, names, arrays, and
containers and transformers of these. A text that is the value of a parameter must be one of the choices that
scikit-learn declares for it, so that no parameter can be a path. Nothing else can be written, and nothing else is read.
"""

import base64
import math
import reprlib
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE, Tree
from sklearn.utils._param_validation import StrOptions

from sensorprivacy.minimize.rewrites import ColumnHasher, SampledSparsePCA
from sensorrelease.transformers import Rewritten, Rounded, TaskPrediction

_PUBLIC = {  # of scikit-learn: no transform of these reads a file or calls what it is given
    "compose": "ColumnTransformer",
    "decomposition": "PCA FactorAnalysis FastICA MiniBatchSparsePCA SparsePCA TruncatedSVD",
    "feature_selection": "VarianceThreshold",
    "impute": "SimpleImputer",
    "pipeline": "FeatureUnion Pipeline",
    "preprocessing": "Binarizer FunctionTransformer KBinsDiscretizer MaxAbsScaler MinMaxScaler Normalizer "
    "OneHotEncoder OrdinalEncoder PowerTransformer QuantileTransformer RobustScaler StandardScaler",
    "random_projection": "GaussianRandomProjection",
}
STEPS: dict[str, Any] = {
    name: getattr(import_module(f"sklearn.{module}"), name)
    for module, names in _PUBLIC.items()
    for name in names.split()
} | {kind.__name__: kind for kind in (ColumnHasher, Rewritten, Rounded, SampledSparsePCA, TaskPrediction)}
_OURS = {"method": {"pca", "sparse_pca", "hashing"}}  # choices of our own transformers
_NUMBERS: dict[str, Any] = {kind.__name__: kind for kind in (np.float64, np.float32, np.int64, np.int32, np.bool_)}
_MOST = 2**28  # bytes of all arrays
_NODES = {"left_child": "<i4", "right_child": "<i4", "feature": "<i4", "threshold": "<f8", "missing_go_to_left": "|u1"}
_SCALARS = (bool, int, float, str, type(None))
_CLAIMS = ("epsilon_total_", "guarantees_")  # no transformer of this file has a guarantee


class StepError(ValueError):
    """A transformer is not of `STEPS`, or holds more than data."""


def step_to_json(step: Any) -> dict[str, Any]:
    """Return a transformer, fitted or not, as data that JSON can hold.

    Raises
    ------
    StepError
        If it is of another class, or one of its attributes is more than data. The message names it.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.preprocessing import Binarizer, StandardScaler
    >>> step_to_json(Binarizer(threshold=0.5))
    {'step': 'Binarizer', 'of': {'threshold': 0.5, 'copy': True}}
    >>> step_to_json(Pipeline([("scale", StandardScaler())], memory="cache"))
    Traceback (most recent call last):
    ...
    sensorrelease.publishing.steps.StepError: memory of a Pipeline is 'cache', which is no choice of it
    """
    if type(step) is RandomForestClassifier and hasattr(step, "estimators_"):
        trees = [_tree_to_json(one.tree_) for one in step.estimators_]
        return {"forest": trees, "classes": _to_json(step.classes_, "its classes"), "features": step.n_features_in_}
    name = type(step).__name__
    if STEPS.get(name) is not type(step):
        raise StepError(f"a {name} is none of the transformers that can be saved ({', '.join(sorted(STEPS))})")
    _check_texts(step)
    own = {key: value for key, value in vars(step).items() if key not in _CLAIMS}
    return {"step": name, "of": {key: _to_json(value, f"{key} of a {name}") for key, value in own.items()}}


def step_from_json(data: Any) -> Any:
    """Return the transformer that `step_to_json` wrote.

    Raises
    ------
    StepError
        If the data are no such transformer.
    """
    try:
        if (size := _bytes(data)) > _MOST:
            raise StepError(f"its arrays unpack to {size:,} bytes, which is too much")
        step = _from_json(data)
        if type(step) not in STEPS.values():
            raise StepError(f"{reprlib.repr(data)} is no transformer")
        return step
    except (
        LookupError,
        StopIteration,
        TypeError,
        ValueError,
        OverflowError,
        AttributeError,
        RecursionError,
        zlib.error,
    ) as error:
        raise error if isinstance(error, StepError) else StepError(f"it holds no transformer: {error}") from error


def _check_texts(step: Any) -> None:
    """Raise StepError for a parameter that is a text, unless the class declares this text as a choice."""
    declared = getattr(step, "_parameter_constraints", {})
    for name, value in step.get_params(deep=False).items():
        options = [one.options for one in declared.get(name, ()) if isinstance(one, StrOptions)] or [
            _OURS.get(name, ())
        ]
        if isinstance(value, str) and not any(value in some for some in options):
            raise StepError(f"{name} of a {type(step).__name__} is {value!r}, which is no choice of it")


def _to_json(value: Any, where: str) -> Any:
    """Return one value; each container says its kind."""
    if type(value) in _SCALARS:
        return value
    if type(value) in (list, tuple):
        return {type(value).__name__: [_to_json(one, where) for one in value]}
    if type(value) is dict:
        return {"dict": [[_to_json(key, where), _to_json(one, where)] for key, one in value.items()]}
    if type(value) is slice:
        return {"slice": [_to_json(one, where) for one in (value.start, value.stop, value.step)]}
    if isinstance(value, type) and (name := value.__name__) in _NUMBERS and _NUMBERS[name] is value:
        return {"type": name}
    if isinstance(value, np.dtype) and value.kind in "biuf":
        return {"dtype": value.str}
    if isinstance(value, csr_matrix):
        return {"sparse": _to_json(value.toarray(), where)}
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        return {"array": value.dtype.str, "shape": list(value.shape), "zlib": _packed(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        cells = [_to_json(one, where) for one in value.ravel().tolist()]
        return {"cells": cells, "shape": list(value.shape), "texts": value.dtype.kind == "U"}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return step_to_json(value)
    raise StepError(f"{where} holds {reprlib.repr(value)}, which is more than data")


def _from_json(data: Any) -> Any:
    """Return the value of `_to_json`."""
    if type(data) in _SCALARS:
        return data
    read: dict[str, Callable[[dict[str, Any]], Any]] = {
        "list": lambda data: [_from_json(one) for one in data["list"]],
        "tuple": lambda data: tuple(_from_json(one) for one in data["tuple"]),
        "dict": lambda data: {_from_json(key): _from_json(one) for key, one in data["dict"]},
        "slice": lambda data: slice(*(_from_json(one) for one in data["slice"])),
        "type": lambda data: _NUMBERS[data["type"]],
        "dtype": lambda data: _dtype(data["dtype"]),
        "sparse": lambda data: csr_matrix(_from_json(data["sparse"])),
        "array": _array,
        "cells": _cells,
        "forest": _forest,
        "step": _step,
    }
    return read[next(iter(data))](data)


def _dtype(text: str) -> np.dtype:
    found = np.dtype(text)
    if found.kind not in "biuf":
        raise StepError(f"{text!r} is no type of numbers")
    return found


def _packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(value.tobytes())).decode()


def _bytes(data: Any) -> int:
    """Return how many bytes all arrays need, before one of them is unpacked."""
    if isinstance(data, dict) and "array" in data:
        return math.prod(data["shape"]) * _dtype(data["array"]).itemsize
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return sum(map(_bytes, inner))


def _array(data: dict[str, Any]) -> Any:
    kind, size = _dtype(data["array"]), _bytes(data)
    whole = zlib.decompressobj().decompress(base64.b64decode(data["zlib"], validate=True), size + 1)
    return np.frombuffer(whole, kind).reshape(data["shape"]).copy()[()]


def _cells(data: dict[str, Any]) -> np.ndarray:
    cells = [_from_json(one) for one in data["cells"]]
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return (found.astype(str) if data["texts"] else found).reshape(data["shape"])


def _step(data: dict[str, Any]) -> Any:
    kind = STEPS.get(data["step"])
    if kind is None:
        raise StepError(f"{reprlib.repr(data['step'])} is none of the transformers that can be loaded")
    step = kind.__new__(kind)
    for name, value in data["of"].items():
        if not name.isidentifier() or name.startswith("__") or name in _CLAIMS or callable(getattr(kind, name, None)):
            raise StepError(f"{reprlib.repr(name)} is no attribute of a {kind.__name__}")
        setattr(step, name, None if name == "n_jobs" else _from_json(value))  # a file starts no processes
    _check_texts(step)
    return step


def _tree_to_json(tree: Tree) -> dict[str, Any]:
    nodes = tree.__getstate__()["nodes"]
    return {name: _to_json(nodes[name].astype(kind), name) for name, kind in _NODES.items()} | {
        "value": _to_json(tree.value[:, 0, :], "value")
    }


def _forest(data: dict[str, Any]) -> RandomForestClassifier:
    """Return a forest that predicts. Every tree points forward, within its nodes and the features."""
    classes, features = np.asarray(_from_json(data["classes"])), data["features"]
    facts = {"classes_": classes, "n_classes_": len(classes), "n_features_in_": features, "n_outputs_": 1}
    forest = RandomForestClassifier(len(data["forest"]))
    forest.estimators_ = [DecisionTreeClassifier() for _ in data["forest"]]
    for one, known in zip(forest.estimators_, data["forest"], strict=True):
        columns, value = {name: _from_json(known[name]) for name in _NODES}, _from_json(known["value"])
        many, nodes = len(value), np.zeros(len(value), NODE_DTYPE)
        for name, column in columns.items():
            nodes[name] = column
        left, right = nodes["left_child"], nodes["right_child"]
        inner = left != -1
        below = [some[inner] for some in (left, right)]
        inside = all((some > np.flatnonzero(inner)).all() and (some < many).all() for some in below)
        known = nodes["feature"][inner]
        if not (many and inside and (known >= 0).all() and (known < features).all()):
            raise StepError("a tree points outside its nodes or features")
        one.tree_ = Tree(features, np.array([len(classes)]), 1)
        state = {"max_depth": many, "node_count": many, "nodes": nodes, "values": value[:, None, :]}
        one.tree_.__setstate__(state)
    for one in (forest, *forest.estimators_):
        vars(one).update(facts)
    return forest
