"""What the commands do, apart from reading their options; see `portrayal.cli`."""
