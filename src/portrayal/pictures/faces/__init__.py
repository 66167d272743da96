"""Faces in a picture: found, aligned, read."""
