"""The words of the compendium's judgements: verdicts with their signs, bases, papers. Each is defined only here."""

SIGNS = {"exact": "=", "within": "≈", "differs": "≠", "undecided": "?", "no data": "∅", "not reproducible": "!"}
"""The verdicts, each with its sign."""
VERDICTS = tuple(SIGNS)

# Light backgrounds, after Paul Tol; dark text on each has a contrast above 7.
COLOURS = {
    "exact": "#e2f0d9",
    "within": "#d9ecf5",
    "differs": "#fbdcd2",
    "undecided": "#f7efc9",
    "no data": "#ececec",
    "not reproducible": "#eadcf0",
}

BASES = {
    "rows": "recomputed from data",
    "log": "read from the logs and curves that the papers' authors published",
    "text": "a claim in words, decided by a test",
    "construction": "true of almost any table, by the definitions",
    "arithmetic": "follows from other printed values",
    "configuration": "a size, a type or a setting",
}
"""What a verdict can be based on.

Equal sizes and sums of printed numbers are easy to reach, so headlines count the bases of `HEADLINE` only. A printed
value that also comes out on nearly every random table says nothing about the data: its basis is *construction*.
``tests/compendium/verdicts/test_construction.py`` decides which values of paper 2 these are.
"""
HEADLINE = ("rows", "log", "text")
"""The bases that compare the paper with something other than itself."""

PAPERS = {
    1: "Data minimization",
    2: "Three-way decisions and differential privacy",
    3: "Variational autoencoder anonymization",
}
"""The papers' subjects, by number."""
