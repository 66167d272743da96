"""Directions in the face generator's styles, and the sets of faces made by them."""
