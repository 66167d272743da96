"""`python -m portrayal.cli` is the command `portrayal`."""

from portrayal.cli.main import main

main()
