"""Defence 1: publish fewer features, so that the task still works and users are hard to identify (paper 1).

Public names are imported when they are first used. So the command line can list its options without loading forests.
"""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
