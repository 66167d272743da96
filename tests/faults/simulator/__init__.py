"""One seeded world of clock, network, disk and processes, in which recorder and ledger run against vendors that bill."""
