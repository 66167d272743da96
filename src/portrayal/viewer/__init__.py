"""The viewer: answers behind the figures, and people's judgments, in a browser on this machine."""
