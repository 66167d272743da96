"""Image captioners."""
