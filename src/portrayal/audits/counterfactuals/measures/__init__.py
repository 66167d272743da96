"""Measures of the counterfactuals audit.

`presence` lays the answers out as source image x step x label; `slopes`, `logistic` and `flips` are the
measures; `world` compares with the shares of people the labels come from; `measure` makes Results of them all.
"""

from portrayal.audits.counterfactuals.measures.measure import label_slopes

__all__ = ["label_slopes"]
