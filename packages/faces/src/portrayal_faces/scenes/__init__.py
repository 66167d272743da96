"""Series set into pictures of workplaces."""
