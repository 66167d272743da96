"""A network that changes photographs, learnt from generated pairs, and the table that holds it against others."""
