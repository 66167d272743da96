"""Measures of the counterfactuals audit, after Joo, Kaerkkaeinen (2020), Gender slopes."""

from portrayal.audits.counterfactuals.measures.measure import label_slopes

__all__ = ["label_slopes"]
