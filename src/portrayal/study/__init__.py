"""A study: its file, trust, plan, trial, and what an audit is."""
