"""Names of measures whose own name is an abbreviation."""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "eat": "Embedding association test",
    "eat_published": "Embedding association test, as the paper's authors ran it",
    "eat_unpaired": "Embedding association test, as if nobody stood in both sets",
    "scweat": "Single-category association test",
    "gsr": "Gender stereotype reinforcement (GSR)",
    "gsr_difference": "GSR less that of the perfect system",
    "gsr_ratio": "GSR relative to the perfect system",
    "gsr_change": "GSR of a variant less that of its original",
    "gsr_without_gendered_queries": "GSR without the queries that name a group",
    "gsr_reference": "GSR of reference collections",
    "map": "Mean average precision (MAP)",
    "map_change": "MAP of a variant less that of its original",
    "ndcg_cut_100": "nDCG at 100",
    "ndcg_cut_100_change": "nDCG at 100 of a variant less that of its original",
    "P_10": "Precision at 10",
    "P_10_change": "Precision at 10 of a variant less that of its original",
    "arab": "Average rank bias (ARaB)",
    "gender_f1": "F1 of the gender named",
    "gender_f1_change": "F1 of the gender named, place less baseline",
    "gender_f1_overall": "F1 of the gender named, over all groups",
    "distance_anova": "Distance from baseline, analysis of variance",
    "distance_tukey": "Distance from baseline, pairs of groups (Tukey)",
    "distance_tukey_factor": "Distance from baseline, pairs within a factor (Tukey)",
    "distance_mixed": "Distance from baseline, mixed model",
}
