"""Commands that are more than one call: plain functions that `cli.py` registers."""
