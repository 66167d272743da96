"""Network that changes photographs, trained on generated pairs, and its comparisons."""
