"""Networks that read and draw faces: readers, parser, recogniser, and their small copies."""
