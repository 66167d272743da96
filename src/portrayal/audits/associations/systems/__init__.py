"""Recorded answers that only the experiments of this audit ask."""
