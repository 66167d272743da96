"""The measures of the search audit: genderedness, GSR and its companions. Docs: docs/search.md."""
