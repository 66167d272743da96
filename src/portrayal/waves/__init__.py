"""Changes between waves of one study, and the gate."""
