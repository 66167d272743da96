"""Permutation tests and other tests."""
