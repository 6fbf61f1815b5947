"""The record of a run: parameters as JSON values, and the state of the checkout."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compendium.paths import project_root


def json_bytes(record: Mapping[str, Any]) -> bytes:
    """Return a record as the bytes of a JSON file, the same for the same content."""
    return (json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def json_value(key: str, value: Any) -> Any:
    """Return a parameter as a JSON value; an absolute path is shortened, so that it does not describe this machine."""
    if isinstance(value, list):
        return [json_value(key, each) for each in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and Path(value).is_absolute():
        root = project_root()
        return str(Path(value).relative_to(root)) if Path(value).is_relative_to(root) else Path(value).name
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"parameter {key}={value!r} is not a JSON value: {error}") from error
    return value


def git(*words: str) -> str | None:
    """Return what a command of git prints in the checkout; None if there is no git or no repository."""
    try:
        command = ["git", *words]
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
