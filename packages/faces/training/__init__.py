"""Training of what the package ships: generator's readers and directions, photo networks, judges."""
