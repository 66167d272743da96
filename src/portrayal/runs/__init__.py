"""A run: its study, its folder, its questions, what it found, and what an audit is."""
