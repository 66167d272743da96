"""Groups of commands, each a Typer application that `portrayal.cli` takes in."""
