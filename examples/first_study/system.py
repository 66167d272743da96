"""An encoder of my own."""

import zlib


def answer(text: str) -> list[float]:
    """Return the vector of a text: here its letters, three by three, counted. Put your encoder in its place."""
    vector = [0.0] * 64
    letters = f" {text.lower()} "
    for place in range(len(letters) - 2):
        vector[zlib.crc32(letters[place : place + 3].encode()) % 64] += 1.0
    return vector
