"""Strategy 1: publish fewer features, so that the task still works and users are hard to tell (paper 1).

The functions `search` and `select` are imported from their modules of the same name. Names below are imported when
they are first used: the command line lies in this package, and should not wait for forests to say what it takes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
