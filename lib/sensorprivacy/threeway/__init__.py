"""Three-way division (paper 2): drop sensitive columns, publish harmless ones, add noise to those in between.

`division` sorts the attributes into groups, `measures` measures how useful a division is, `thresholds` searches for the
best one, and `publication` adds noise and publishes. `divider` offers all of it as a scikit-learn transformer. Names
are imported when they are first used.
"""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
