"""Language models behind an API."""
