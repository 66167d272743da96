"""Texts: captions, collections, vectors and words; numbers as people read them."""
