"""Data sets of people and labels that the associations audit reads."""
