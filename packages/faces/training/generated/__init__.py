"""Directions in the face generator's styles: readers, styles read, directions, places along them, and the parser of masks."""
