"""Save networks and other arrays in one safetensors file with a digest, and refuse files that were changed.

A file holds plain arrays and a JSON header, and no executable content.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sensorprivacy.paths import write_atomically

CHECKPOINT = "sensorprivacy-checkpoint-2"
Parts = Mapping[str, Mapping[str, Any]]  # arrays by the name of their network, then by their own


class ModelFileError(ValueError):
    """A file does not hold what it should, has another version, or was changed."""


class CheckpointError(ModelFileError):
    """A checkpoint belongs to another training, or cannot be read."""


def write_parts(path: Path, kind: str, header: Mapping[str, Any], parts: Parts) -> None:
    """Write arrays and a header of JSON values, completely or not at all; `kind` names the content and its version."""
    tensors = {
        f"{part}/{name}": torch.as_tensor(value).cpu().contiguous()
        for part, arrays in parts.items()
        for name, value in arrays.items()
    }
    text = json.dumps(header)
    metadata = {"format": kind, "header": text, "digest": _digest(text, tensors)}
    write_atomically(path, lambda part: save_file(tensors, part, metadata))


def read_parts(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, dict[str, Tensor]]]:
    """Return the header and the arrays of a file.

    Raises
    ------
    ModelFileError
        If the file is no safetensors file, holds another kind of content, or was changed.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != kind:
                raise ModelFileError(f"{path} holds {metadata.get('format')!r}, not {kind!r}: fit and save again")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except SafetensorError as error:
        raise ModelFileError(f"{path} is damaged or not a safetensors file: {error}") from error
    if metadata.get("digest") != _digest(metadata.get("header", ""), tensors):
        raise ModelFileError(f"{path} was changed: its content does not have the digest that it states")
    parts: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        part, _, name = key.partition("/")
        parts.setdefault(part, {})[name] = tensor
    try:
        return dict(json.loads(metadata["header"])), parts
    except (ValueError, TypeError, RecursionError) as error:
        raise ModelFileError(f"{path} is damaged: its header is no JSON object") from error


def write_checkpoint(path: Path, fingerprint: str, state: Mapping[str, Any], parts: Parts) -> None:
    """Write the state of a training; the fingerprint says of which one."""
    write_parts(path, CHECKPOINT, {"fingerprint": fingerprint, **state}, parts)


def read_checkpoint(path: Path, fingerprint: str) -> tuple[dict[str, Any], dict[str, dict[str, Tensor]]]:
    """Return the state of a training and its arrays.

    Raises
    ------
    CheckpointError
        If the file cannot be read, or belongs to another training.
    """
    try:
        state, parts = read_parts(path, CHECKPOINT)
    except ModelFileError as error:
        raise CheckpointError(f"checkpoint cannot be read: {error}; delete it") from error
    if state["fingerprint"] != fingerprint:
        raise CheckpointError(f"checkpoint {path} is of another training (data, network, settings): delete or move it")
    return state, parts


def _digest(text: str, tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
