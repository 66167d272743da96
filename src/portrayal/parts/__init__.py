"""The packages that carry weights and data: which there are, where they lie, how they are installed."""
