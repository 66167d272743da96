"""People who do not exist: a face generator's networks, directions in its styles, and series made along them."""
