"""Recording: the only code that calls systems, and the ledger of every answer."""
