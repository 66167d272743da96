"""The command line: each command calls one public function of `portrayal`."""

from portrayal.cli.main import app, main

__all__ = ["app", "main"]
