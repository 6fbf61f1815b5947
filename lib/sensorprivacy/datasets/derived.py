"""Tables made from a set once and kept as parquet in the user's cache."""

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from sensorprivacy.datasets.places import cache_folder

#: Raised whenever a reader gives other rows or columns than before, so that no older table is taken for a new one.
READER_VERSION = 1


def derived(name: str, make: Callable[[], pd.DataFrame], **key: Any) -> pd.DataFrame:
    """Return a table, made anew only if it was not made before from the same members with the same choices.

    Parameters
    ----------
    name : str
        What the table is; begins the name of its file.
    make : callable
        Makes the table.
    **key
        What the table depends on: the digest of the set's members, and the reader's choices. JSON values.

    Returns
    -------
    pandas.DataFrame
        As `make` returned it. A file that cannot be read is made anew; where the cache cannot be written, the table is
        returned all the same, with a warning.
    """
    path = cache_folder() / "derived" / f"{name}-{_key(key)}.parquet"
    if path.is_file():
        try:
            return pd.read_parquet(path)
        except (OSError, pa.ArrowException):
            path.unlink(missing_ok=True)
    table = make()
    try:
        _write(table, path)
    except OSError as error:
        warnings.warn(f"{name} is not kept for the next run: {error}", stacklevel=2)
    return table


def _key(key: dict[str, Any]) -> str:
    text = json.dumps({**key, "version": READER_VERSION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write(table: pd.DataFrame, path: Path) -> None:
    """Write a table so that no reader, and no second process, ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    os.close(handle)
    try:
        table.to_parquet(part, index=False)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)
