"""Wording of results: sentences, numbers, names."""
