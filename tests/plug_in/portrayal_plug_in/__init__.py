"""A system and an audit that another package adds to Portrayal."""
