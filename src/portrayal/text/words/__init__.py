"""Words, lexicons, tags and WordNet."""
