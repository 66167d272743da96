"""Secrets: where they may come from, and how they are kept out of everything written.

A secret comes from the environment or from a file that the study names, never from the study itself. It is replaced in whatever is
stored or printed, also in the forms a service echoes it in.
"""

import base64
import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from portrayal.errors import PortrayalError

WITHHELD = "(withheld)"
SHORTEST = 8  # characters; replacing shorter values would tear words apart
SHORTEST_UNASKED = 12  # of values nobody asked for, which only look like a secret
LARGEST_FILE = 64 * 1024
# What users of servers without keys put there, because a client demands one: known to all, and so no secrets.
PLACEHOLDERS = ("empty", "none", "ollama", "dummy", "not-needed", "no-key", "lm-studio", "sk-no-key-required")
# Names of variables that hold secrets.
VARIABLES = re.compile(r"(?i)api_?key|secret|token|passw|credential|access_?key|_key$|_pat$|^pat$")

_taken: set[str] = set()
_from_file: dict[str, str] = {}
_made: tuple[dict[Any, Any], set[str], re.Pattern[str] | None] | None = None


def take(name: str) -> str:
    """Return a secret by name, from the study's file or the environment, if any."""
    value = _from_file.get(name) or os.environ.get(name, "")
    if value.lower() in PLACEHOLDERS:
        return value
    if 0 < len(value) < SHORTEST:
        raise PortrayalError(
            f"{name} has {len(value)} characters. Expected {SHORTEST} or more: a shorter key cannot be kept out of what is"
            " written. Set a longer one, or none where the service needs none."
        )
    remember(value)
    return value


def remember(value: str) -> None:
    """Keep a value out of everything that is written from now on."""
    if value:
        _taken.add(value)


def read_secrets_file(path: Path) -> None:
    """Read NAME=value lines; blank lines and those that begin with # are passed over."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise PortrayalError(f"{path} is larger than {LARGEST_FILE:,} bytes. Expected NAME=value lines.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise PortrayalError(f"secrets_file: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PortrayalError(f"secrets_file: {path} is no text. Expected NAME=value lines.") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w{0,99}", name.strip()):
            raise PortrayalError(f"secrets_file: line {number} of {path} is not of the form NAME=value.")
        _from_file[name.strip()] = value.strip().strip("\"'")
        remember(_from_file[name.strip()])


def hidden(text: str) -> str:
    """Return the text with every known secret replaced."""
    pattern = _pattern()
    return text if pattern is None else pattern.sub(WITHHELD, text)


def hidden_bytes(raw: bytes) -> bytes:
    """Return bytes with every known secret replaced; bytes without one come back as they are."""
    pattern = _pattern()
    if pattern is None:
        return raw
    text = raw.decode("utf-8", errors="surrogateescape")
    replaced = pattern.sub(WITHHELD, text)
    return raw if replaced == text else replaced.encode("utf-8", errors="surrogateescape")


def _pattern() -> re.Pattern[str] | None:
    """Return the pattern of every known secret, made anew when the environment has changed."""
    global _made
    # The variables as Python holds them: to look at each through os.environ takes longer than a call does.
    variables = getattr(os.environ, "_data", None) or dict(os.environ)
    if _made is None or _made[0] != variables or _made[1] != _taken:
        unasked = {
            value
            for name, value in os.environ.items()
            if VARIABLES.search(name) and len(value) >= SHORTEST_UNASKED and looks_random(value)
        }
        values = unasked | {value for value in _taken if len(value) >= SHORTEST}
        forms = set()  # as a secret may be echoed: escaped, in an address, in base64
        for value in values:
            packed = base64.b64encode(value.encode()).decode().rstrip("=")
            forms |= {value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], packed}
        long = [form for form in forms if len(form) >= SHORTEST]
        ordered = sorted(long, key=lambda form: (-len(form), form))  # the longest first: one may begin another
        pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        _made = (dict(variables), set(_taken), pattern)
    return _made[2]


# Keys that say what they are.
_PREFIXED = re.compile(
    r"(?:sk|pk|rk)[-_][\w-]{16,200}|A(?:KIA|SIA)[0-9A-Z]{12,20}|gh[pousr]_\w{16,200}|github_pat_\w{16,200}|xox[abeoprs]-[\w-]{8,200}"
    r"|AIza[\w-]{16,100}|ya29\.[\w-]{8,200}|hf_[A-Za-z0-9]{16,100}|glpat-[\w-]{12,100}|eyJ[\w-]{8,4000}\.[\w-]{8,4000}"
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RUN = re.compile(r"[A-Za-z0-9+]{20,4000}")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,9}$")
LONGEST_LOOKED_AT = 20_000


def looks_like_key(text: str) -> bool:
    """Return True where a text holds a vendor's key, a UUID or a random word."""
    text = text[:LONGEST_LOOKED_AT]
    if "PRIVATE KEY-----" in text:
        return True
    for match in _PREFIXED.finditer(text):  # no part of a longer word (desk-...)
        if not text[: match.start()][-1:].isalnum() and any(letter.isdigit() for letter in match[0]):
            return True
    if _FILE.search(text) and "://" not in text and " " not in text:  # names of files may be random
        return False
    return _UUID.search(text) is not None or any(looks_random(match[0]) for match in _RUN.finditer(text))


def looks_random(word: str) -> bool:
    """Return True where letters and digits alternate as in no word."""
    digits = [letter.isdigit() for letter in word]
    changes = sum(first != second for first, second in pairwise(digits))
    return changes >= 3 and any(letter.isalpha() for letter in word)
