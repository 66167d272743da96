"""Data sets of people that the contexts audit reads."""
