"""The fixed prompts vision-language models are asked with, by kind and version.

A prompt is part of the instrument: changing a word changes the answers. So prompts are never edited; a better
one gets a new version, and the version is part of the ledger's key.
"""

from __future__ import annotations

from portrayal.errors import PortrayalError

PROMPTS = {
    ("tagger", "1"): (
        "List the tags that best describe this image, as an image tagging service would: single words or short "
        "noun phrases, most certain first, at most 20. Answer with a JSON array of strings and nothing else."
    ),
    ("captioner", "1"): "Describe this image in one sentence. Answer with the sentence and nothing else.",
}


def prompt(kind: str, version: str) -> str:
    """Return the prompt of this kind and version."""
    if (kind, version) not in PROMPTS:
        known = ", ".join(sorted(number for of, number in PROMPTS if of == kind))
        raise PortrayalError(f"there is no {kind} prompt of version {version!r}. Known: {known or 'none'}.")
    return PROMPTS[kind, version]
