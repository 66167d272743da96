"""`python -m portrayal` is the command `portrayal`."""

from portrayal.cli import main

main()
