"""Recording: the only code that calls systems, and the ledger every answer is written to first."""
