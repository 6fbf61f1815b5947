"""Print warnings as plain notices: a user of the command line needs the sentence, not the line of code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def plain_notices() -> Iterator[None]:
    """Print each warning for the user once, as one line on standard error; other warnings stay as they are.

    Examples
    --------
    >>> with plain_notices():
    ...     warnings.warn("2 gaps")
    """
    said: set[str] = set()
    before = warnings.showwarning

    def show(message: Any, category: type[Warning], *rest: Any, **options: Any) -> None:
        if category is not UserWarning:
            before(message, category, *rest, **options)
        elif str(message) not in said:
            said.add(str(message))
            print(f"note: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = show
        yield
