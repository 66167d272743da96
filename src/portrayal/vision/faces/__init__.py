"""Counterfactual faces: find a face, change one cue inside the skin region, paste it back, check what was done.

Real people's pictures are read in place and never written by this package; what it saves shows generated people.
"""
