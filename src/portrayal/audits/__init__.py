"""Audits: one room per paper, with the phantom it is tried on."""
