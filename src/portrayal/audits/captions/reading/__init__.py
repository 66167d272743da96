"""Captions and labels as mentions: the tables and words that every technique reads."""
