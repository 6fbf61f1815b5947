"""Paper 1 (data minimization): figures, and what its printed values are compared with.

`published.published_curves` has the authors' own points of the figures, and `curves` what they decide.
``data/paper/index.md`` lists the table with ours for each printed table. The figures:

| printed | code | notebook |
|---|---|---|
| Fig. 1 | `curve_charts.tradeoff_pair` | 11_selection_methods |
| Fig. 2 (a) to (k) | `curve_charts.method_panels` | 11_selection_methods; published points alone: 12_game_summary |
| Fig. 2 (l) to (p) | `curve_charts.compared_panels` | 11_selection_methods; published points alone: 12_game_summary |
"""
