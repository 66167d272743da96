"""Live image generators: every output passes two gates in memory, and only a hash and labels leave this package."""
