"""Which defence for these data? Compare all of them with the same judge and the same attackers.

``from sensorprivacy import compare`` gives this package, which can be called as `compare.comparison.compare`. Public
names are imported when they are first used. So the command line can list its options without loading forests.
"""

import sys
from types import ModuleType
from typing import Any

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)


class _CallablePackage(ModuleType):
    """A package with the name of its function: whichever of the two is imported first, a call compares."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Compare defences; see `sensorprivacy.compare.comparison.compare`."""
        from sensorprivacy.compare.comparison import compare

        return compare(*args, **options)


sys.modules[__name__].__class__ = _CallablePackage
