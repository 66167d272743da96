"""Photographs of one's own: a network changes one cue of a face, which is laid back inside what a parser takes for face.

Adults with a recorded source and consent only; pictures are read in place and never enter the package.
"""
