"""Data sets of captions, labels and people that the captions audit reads."""
