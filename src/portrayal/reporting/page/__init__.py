"""Pages and files of a report."""
