"""Live image generators, whose outputs stay in memory and pass two gates."""
