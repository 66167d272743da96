"""Decisions over a family of tests."""
