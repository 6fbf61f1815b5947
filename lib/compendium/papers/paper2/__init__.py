"""Paper 2 (three-way decisions): figures, and what its printed values are compared with.

``data/paper/index.md`` lists the table with ours for each printed table. The figures:

| printed | code | notebook |
|---|---|---|
| Figs. 1, 2 | `charts.architecture`, `charts.three_actions` | 22_threeway_summary |
| Fig. 3 | `values.iteration_statements` | 22_threeway_summary |
| Figs. 4, 5 | `charts.group_shares`, `.charts.grouped_bars` of `report` | 22_threeway_summary |
"""
