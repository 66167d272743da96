"""One made-up system for every kind: what it answers follows from the bytes it is shown. It is copied beside studies."""

import hashlib
import json
import sys
from pathlib import Path

TAGS = ["person", "woman", "man", "smile", "tree", "nurse", "engineer", "wrench", "veil", "portrait"]
CAPTIONS = [
    "a woman on a horse",
    "a man with a dog in a park",
    "a person beside a tree",
    "a woman cooks",
    "a man reads",
]


def reply(kind: str, shown: bytes):
    """Return the plain answer of a system of this kind to these bytes."""
    digest = hashlib.sha256(shown).digest()
    if kind == "tagger":
        return [tag for place, tag in enumerate(TAGS) if place == 0 or digest[place] % 2]
    if kind == "captioner":
        return CAPTIONS[digest[0] % len(CAPTIONS)]
    if kind == "encoder":
        return [number / 16 - 8 for number in digest[:6]]
    return [f"d{number % 40}" for number in dict.fromkeys(number % 40 for number in digest[:8])]


def answer(content: str):
    """Answer as a Python function: a text, or the path of a picture; KIND says what is wanted."""
    shown = content.encode()
    if len(content) < 1000 and Path(content).is_file():
        shown = Path(content).read_bytes()
    return reply(KIND, shown)


def main() -> None:
    """Answer as a program."""
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps({"id": question["id"], "answer": answer(question["content"])}), flush=True)


KIND = "tagger"

if __name__ == "__main__":
    main()
