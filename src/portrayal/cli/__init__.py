"""The command line: thin. Each command calls a public function of `portrayal`; stdout carries only its answer."""

from portrayal.cli.main import app, main

__all__ = ["app", "main"]
