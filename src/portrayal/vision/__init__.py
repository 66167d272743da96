"""Pictures: faces, cutting people out, composing, contact sheets."""
