"""Which defence for these data? Compare all of them with the same judge and the same attackers.

Public names are imported when they are first used. So the command line can list its options without loading forests.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
