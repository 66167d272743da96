"""One room per audit, and one audit per paper: what is shown, measured, decided, drawn, and the phantom it is tried on."""
