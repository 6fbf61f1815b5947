"""Find, fetch and read data sets: the catalogue, the store of verified files, a reader for each set, and your own data.

`problem` returns a table for the re-identification game, `windows` returns windows of motion data, and `table` returns
a table of the three-way paper. Names are imported when they are first used.
"""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
