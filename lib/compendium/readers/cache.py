"""Tables that take long to read, kept in the user's cache."""

import hashlib
import json
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa

from sensorprivacy.paths import cache_folder, write_atomically

#: Raise this number whenever a reader returns other rows or columns than before. Older tables are then ignored.
READER_VERSION = 1


def derived(name: str, make: Callable[[], pd.DataFrame], **key: Any) -> pd.DataFrame:
    """Return a table from the cache; compute and store it if the cache does not have it.

    Parameters
    ----------
    name : str
        Name of the table, and the start of its file's name.
    make : callable
        Computes the table.
    **key
        Everything that the table depends on, as JSON values: the digest of the set, and the reader's options.

    Returns
    -------
    pandas.DataFrame
        The table that `make` returns. A damaged file is replaced. If the cache cannot be written, a warning says so.
    """
    text = json.dumps({**key, "version": READER_VERSION}, sort_keys=True)
    path = cache_folder() / "derived" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.parquet"
    if path.is_file():
        try:
            return pd.read_parquet(path)
        except (OSError, pa.ArrowException):
            path.unlink(missing_ok=True)
    table = make()
    try:
        write_atomically(path, lambda part: table.to_parquet(part, index=False))
    except OSError as error:
        warnings.warn(f"the table {name} cannot be stored for the next run: {error}", stacklevel=2)
    return table
