"""Paper 2 (three-way decisions): values for the claims, and figures.

| printed | code | notebook |
|---|---|---|
| Table 2 | `values.entropy_claims` | 20_threeway_example |
| Table 3 | `values.appraisal_claims` | 20_threeway_example |
| section 4.2 | `values.example_claims` | 20_threeway_example |
| Table 4 | `summary.size_claims` | 22_threeway_summary |
| Tables 5, 6 | `smart_home.sensor_claims` | 22_threeway_summary |
| Tables 7, 8 | `values.entropy_claims` | 21_threeway_division |
| Tables 9-13 | `values.appraisal_claims`, `values.search_claims` | 21_threeway_division |
| Table 14 | `values.division_claims` | 21_threeway_division |
| Table 15 | `summary.extreme_claims` | 22_threeway_summary |
| Figs. 1, 2 | `charts.architecture`, `charts.three_actions` | 22_threeway_summary |
| Fig. 3 | `summary.iteration_claims` | 22_threeway_summary |
| Figs. 4, 5 | `charts.group_shares`, `.charts.grouped_bars` of `report` | 22_threeway_summary |
| sections 5.2, 5.3 | `summary.summary_claims` | 22_threeway_summary |
"""
