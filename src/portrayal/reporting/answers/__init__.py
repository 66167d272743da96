"""Answers behind each row of a report."""
