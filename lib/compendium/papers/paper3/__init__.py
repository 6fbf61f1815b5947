"""Paper 3 (anonymization in latent space): figures, and what its printed values are compared with.

``data/paper/index.md`` lists the table with ours for each printed table. The figures and what else is compared:

| printed | code | notebook |
|---|---|---|
| Figs. 1-3, 9, 10 | `pictures.anonymization_pipeline`, `pictures.network_diagrams` | 30_vae_anonymization |
| Fig. 4 | `charts.latent_space` | 30_vae_anonymization |
| Figs. 5-7 | `charts.inference_bars` | 30_vae_anonymization |
| Fig. 8 | `charts.attack_levels` | 31_reidentification_attack |
| Tables 2, 3 on other people | `people` | 30_vae_anonymization |
| loss of activity, step by step | `causes` | 33_activity_loss |
| all runs side by side | `summary` | 32_anonymization_summary |
| claims that need several runs, or printed values alone | `claims` | 32_anonymization_summary |
"""
