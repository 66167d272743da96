"""Regressions and analysis of variance."""
