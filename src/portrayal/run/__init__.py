"""A run: its folder, recording, measuring and status."""
