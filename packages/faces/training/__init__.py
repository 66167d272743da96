"""Making a manipulator: packing faces, networks, training in runs, export, checks on held-out faces, and the card."""
