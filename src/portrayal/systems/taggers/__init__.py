"""Image taggers: vendors' services and networks on this machine."""
