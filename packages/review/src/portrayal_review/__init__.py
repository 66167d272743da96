"""Viewer of a run, and judgments by people."""
