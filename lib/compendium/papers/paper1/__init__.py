"""Paper 1 (data minimization): figures, and what its printed values are compared with.

`published.published_curves` has the authors' own points of the figures, and `curves` what they decide.
``data/paper/index.md`` lists the table with ours for each printed table. The figures:

| printed | code | notebook |
|---|---|---|
| Fig. 1 | `charts.tradeoff_pair` | 11_selection_methods |
| Fig. 2 | `charts.method_panels` | 11_selection_methods |
"""
