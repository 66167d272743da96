"""Where the world comes in and goes out: folders, files, sizes, secrets, and text that must stay text."""
