"""Further experiments of the associations audit; each asks another kind of system."""
