"""Encoders that run on this machine: word vectors from files, GloVe, a sentence encoder."""
