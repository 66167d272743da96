"""Counterfactual faces: find a face, lay it onto a template, paste what was changed back, keep folders of series, check what was done.

Real people's pictures are read in place and never written by this package; what it saves shows generated people.
"""
