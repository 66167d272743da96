"""Photographs of one's own: one cue of a face is changed by a network.

Adults with a recorded source and consent only; pictures are read in place and never enter the package.
"""
