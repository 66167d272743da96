"""Parts: the packages that carry weights and data, and their installation."""
