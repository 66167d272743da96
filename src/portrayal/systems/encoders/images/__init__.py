"""Pictures prepared for encoders."""
