"""Safety: the questions a generator may be asked, and what is kept of its answers."""
