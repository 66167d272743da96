"""Encoders of words, sentences and pictures."""
