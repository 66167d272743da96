"""Measures of the counterfactuals audit, after Joo, Kaerkkaeinen (2020), Gender slopes."""
