"""Protocol, registry and readers of all systems."""
