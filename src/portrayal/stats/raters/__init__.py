"""Agreement of raters."""
