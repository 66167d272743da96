"""Report of a run: pages, charts, words and answers."""
