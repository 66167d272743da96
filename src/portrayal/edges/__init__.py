"""Edges to the outside: folders, files, sizes, secrets, and text that must stay text."""
