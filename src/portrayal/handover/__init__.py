"""Evidence that leaves the house: packs, verification, redaction, Croissant."""
