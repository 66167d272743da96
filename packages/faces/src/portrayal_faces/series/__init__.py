"""Making and judging series of faces."""
