"""Generated people: the face generator's networks, directions in its styles, and series along them."""
