"""Prompts for language models: ours with versions, and a study's own from a file.

A prompt is part of the instrument: changing a word changes the answers. So ours are never edited; a better one gets a
new version, and the version, or a study's own words, is part of the ledger's key.
"""

from __future__ import annotations

import re
from pathlib import Path

from portrayal.edges.folders import is_inside
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Question

# Version 2 fits structured output.
PROMPTS = {
    ("tagger", "1"): (
        "List the tags that best describe this image, as an image tagging service would: single words or short "
        "noun phrases, most certain first, at most 20. Answer with a JSON array of strings and nothing else."
    ),
    ("captioner", "1"): "Describe this image in one sentence. Answer with the sentence and nothing else.",
    ("tagger", "2"): (
        "List the tags that best describe this image, as an image tagging service would: single words or short "
        'noun phrases, most certain first, at most 20. Answer with a JSON object, {"tags": ["...", "..."]}, and nothing else.'
    ),
    ("captioner", "2"): (
        'Describe this image in one sentence. Answer with a JSON object, {"caption": "..."}, and nothing else.'
    ),
}
LARGEST = 64 * 1024  # bytes of a study's own prompt
# {name}, and no other braces: a prompt may show the JSON it wants.
PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w{0,60})\}(?!\})")
# What a question tells of its stimulus. Everything else about it is what the audit varies, which a system must not be told,
# and the path of a picture may say it too.
OF_TEXT = ("content", "repeat")
OF_PICTURE = ("repeat",)


def prompt(kind: str, version: str) -> str:
    """Return the prompt of this kind and version."""
    if (kind, version) not in PROMPTS:
        known = ", ".join(sorted(number for of, number in PROMPTS if of == kind))
        raise PortrayalError(
            f"there is no {kind} prompt of version {version!r}. Known: {known or 'none'}. "
            "Write your own into a file: parameters.prompt_file."
        )
    return PROMPTS[kind, version]


def own_prompt(name: str, folder: Path, kind: str, system: str) -> str:
    """Read a study's own prompt and check its placeholders against what a question has."""
    path = folder / name
    if not is_inside(path, [folder]):
        raise PortrayalError(
            f"prompt_file of system {system!r} is {name!r}, outside the study's folder. Move it beside the study."
        )
    text = _text(path, system).strip()
    if not text:
        raise PortrayalError(f"the prompt in {path} is empty. Write what system {system!r} is to be asked.")
    _check_placeholders(text, path, kind)
    return text


def _text(path: Path, system: str) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise PortrayalError(f"the prompt in {path} is larger than {LARGEST:,} bytes. Shorten it.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PortrayalError(f"prompt_file of system {system!r}: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PortrayalError(f"prompt_file of system {system!r}: {path} is no text. Save it as UTF-8.") from None


def _check_placeholders(text: str, path: Path, kind: str) -> None:
    known = OF_TEXT if kind == "ranker" else OF_PICTURE
    named = list(dict.fromkeys(PLACEHOLDER.findall(text)))
    unknown = [f"{{{name}}}" for name in named if name not in known]
    if unknown:
        raise PortrayalError(
            f"the prompt in {path} has {', '.join(unknown)}. A {kind}'s question fills {_listed(known)} only"
            f"{'' if kind == 'ranker' else ' (the picture is sent beside the prompt)'}: what else is known of a stimulus is what the audit"
            " varies, and is not told."
        )
    if kind == "ranker" and "content" not in named:
        raise PortrayalError(f"the prompt in {path} has no {{content}}, where the query goes. Add it.")


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"{{{name}}}" for name in names)


def filled(text: str, question: Question) -> str:
    """Fill a question into a prompt; braces inside what is filled in are left alone.

    Examples
    --------
    >>> filled('Find documents for "{content}" as {"results": []}.', Question("1", "query", "a {nurse}", "h"))
    'Find documents for "a {nurse}" as {"results": []}.'
    """
    values = {"content": question.content, "repeat": str(question.repeat)}
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
