"""Composing and measuring pictures; series of pictures on disk."""
