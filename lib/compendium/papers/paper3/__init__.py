"""Paper 3 (anonymization in latent space): values for the claims, and figures.

| printed | code | notebook |
|---|---|---|
| Tables 1-3 | `values.inference_claims` | 30_vae_anonymization |
| Tables 2, 3 on other people | `people` | 30_vae_anonymization |
| Tables 4-7, section 6 | `edge_values` | 40_edge_timing |
| Figs. 1-3, 9, 10 | `charts.anonymization_pipeline`, `charts.network_layers` | 30_vae_anonymization |
| Fig. 4 | `charts.latent_space` | 30_vae_anonymization |
| Figs. 5-7 | `charts.inference_panels` | 30_vae_anonymization |
| Fig. 8 | `charts.attack_levels`, `values.attack_claims` | 31_reidentification_attack |
| sections 5.1 to 5.4 | `values.set_claims`, `values.change_claims`, `values.layer_claim` | 30_vae_anonymization |
| loss of activity, step by step | `causes` | 33_activity_loss |
| all runs side by side | `summary` | 32_anonymization_summary |
"""
