"""Paper 1 (data minimization): values for the claims, and figures.

| printed | code | notebook |
|---|---|---|
| Table 1 | `values.size_claims` | 12_game_summary |
| Table 2 | `values.base_claims`, `values.selection_claims` | 10_reidentification_game, 12_game_summary |
| Table 3 | `values.rank_claims` | 11_selection_methods, 12_game_summary |
| Tables 4-12 | `values.selection_claims` | 10_reidentification_game, 12_game_summary |
| relative effectiveness | `values.effectiveness_pairs` | 12_game_summary |
| Fig. 1 | `charts.tradeoff_pair` | 11_selection_methods |
| Fig. 2 | `charts.method_panels` | 11_selection_methods |
| numbers in the text | `text.text_claims`, `text.protocol_claims` | 12_game_summary |
| advice in the text | `decisions.advice_claims` | 12_game_summary |
| what the authors published | `published.log_claims` | 12_game_summary |
"""
