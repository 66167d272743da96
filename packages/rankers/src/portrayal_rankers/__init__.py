"""Rankers over one shared inverted index, and the reference systems."""
