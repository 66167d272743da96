"""Prompts for language models: ours with versions, and a study's own from a file.

A prompt is part of the instrument: its version, or a study's own words, is part of the ledger's key.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from portrayal.edges.folders import is_inside
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import Question

PROMPTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LARGEST = 64 * 1024  # bytes of a study's own prompt
# {name}, and no other braces: a prompt may show the JSON it wants.
PLACEHOLDER = re.compile(r"(?<!\{)\{([A-Za-z_]\w{0,60})\}(?!\})")


def prompt(kind: str, version: str) -> str:
    """Return the prompt of this kind and version."""
    versions = PROMPTS.get(kind, {})
    if version not in versions:
        known = ", ".join(sorted(versions))
        raise PortrayalError(
            f"there is no {kind} prompt of version {version!r}. Known: {known or 'none'}. "
            "Write your own into a file: parameters.prompt_file."
        )
    return str(versions[version])


def own_prompt(name: str, folder: Path, kind: str, system: str) -> str:
    """Read a study's own prompt and check its placeholders against what a question has."""
    path = folder / name
    if not is_inside(path, [folder]):
        raise PortrayalError(
            f"prompt_file of system {system!r} is {name!r}, outside the study's folder. Move it beside the study."
        )
    try:
        if path.stat().st_size > LARGEST:
            raise PortrayalError(f"the prompt in {path} is larger than {LARGEST:,} bytes. Shorten it.")
        text = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise PortrayalError(f"prompt_file of system {system!r}: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PortrayalError(f"prompt_file of system {system!r}: {path} is no text. Save it as UTF-8.") from None
    if not text:
        raise PortrayalError(f"the prompt in {path} is empty. Write what system {system!r} is to be asked.")
    _check_placeholders(text, path, kind)
    return text


def _check_placeholders(text: str, path: Path, kind: str) -> None:
    """Refuse a placeholder for what the audit varies, such as a path."""
    known = ["{content}", "{repeat}"] if kind == "ranker" else ["{repeat}"]
    named = [f"{{{name}}}" for name in dict.fromkeys(PLACEHOLDER.findall(text))]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise PortrayalError(
            f"the prompt in {path} has {', '.join(unknown)}. A {kind}'s question fills {' and '.join(known)} only"
            f"{'' if kind == 'ranker' else ' (the picture is sent beside the prompt)'}: what else is known of a stimulus is what the audit"
            " varies, and is not told."
        )
    if kind == "ranker" and "{content}" not in named:
        raise PortrayalError(f"the prompt in {path} has no {{content}}, where the query goes. Add it.")


def filled(text: str, question: Question) -> str:
    """Fill a question into a prompt; braces inside what is filled in are left alone."""
    values = {"content": question.content, "repeat": str(question.repeat)}
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
