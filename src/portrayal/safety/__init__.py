"""What may be asked of a system that draws, and what is kept of its answers."""
