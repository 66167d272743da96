"""Captions read into scene graphs."""
