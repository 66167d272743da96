"""Trust in a study: credentials, code it runs and secrets it sends."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from portrayal.edges.secrets import looks_like_key, read_secrets_file
from portrayal.errors import PortrayalError
from portrayal.safety.guard import leaves
from portrayal.study.study import Study
from portrayal.systems.core.settings import LOGIN, SECRET
from portrayal.systems.plugins.sources import is_code

# Names under which a long hexadecimal word is no credential.
HASHES = re.compile(r"(?i)(revision|commit|sha256|sha1|hash|digest)$")
_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VARIABLE = re.compile(r"\$[A-Za-z_]\w*")
IN_ADDRESS = ("code", "key", "sig", "token", "auth", "pwd", "pass")  # names in an address that only keys go under
NAME_A_KEY = ("openai", "anthropic", "openai_embeddings")  # whose `key` is a variable's name
# Words of letters with a few digits at their end; a random word has them in between, or is all one long word.
_NAME = re.compile(r"\$?[A-Z]{1,20}[0-9]{0,2}(?:_(?:[A-Z]{1,20}[0-9]{0,2}|[0-9]{1,2})){0,8}")
ELSE = "take it from the environment: write $NAME in headers, query or body, or name a secrets_file."


def refuse_credentials(data: Mapping[str, Any]) -> None:
    """Refuse a study that holds a credential: by name, in an address, or by look."""
    fine = {value for _, value in leaves(data.get("not_secret", []))}
    rest = _without_named_keys({key: value for key, value in data.items() if key not in ("not_secret", "secrets_file")})
    places = ((path[-1], value) for path, value in leaves(rest))
    for place, value in chain(places, (("a key", key) for key in _keys(rest))):
        if isinstance(value, str) and value not in fine:
            _check(place, value)


def _without_named_keys(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the study without names of variables that hold keys."""
    systems, clean = data.get("systems"), []
    if not isinstance(systems, list):
        return data
    for system in systems:
        parameters = system.get("parameters") if isinstance(system, Mapping) else None
        if isinstance(parameters, Mapping) and "key" in parameters and system.get("use") in NAME_A_KEY:
            key = parameters["key"]  # words in capitals, joined by underscores
            if not isinstance(key, str) or not _NAME.fullmatch(key) or looks_like_key(key):
                raise PortrayalError(
                    f"parameters.key of system {system.get('name')!r} is not the name of an environment variable. Expected a name such"
                    " as MY_API_KEY, never the key itself: a study is kept and shared."
                )
            system = {**system, "parameters": {name: one for name, one in parameters.items() if name != "key"}}
        clean.append(system)
    return {**data, "systems": clean}


def refuse_commented_keys(text: str, data: Mapping[str, Any]) -> None:
    """Refuse a key in a comment of a study's file, which the run keeps."""
    fine = [str(value) for _, value in leaves(data.get("not_secret", []))]
    for number, line in enumerate(text.splitlines(), start=1):
        comment = line.partition("#")[2]
        if looks_like_key(comment) and not any(value in comment for value in fine):
            raise PortrayalError(f"line {number} of the study holds what looks like a key in a comment. Remove it.")


def _keys(value: Any) -> Iterator[str]:
    """Yield the keys of nested tables, any of which may be a credential too."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _check(place: str, value: str) -> None:
    if SECRET.search(place) and value and not is_taken(value):
        raise PortrayalError(f"the study's {place!r} seems to hold a credential. A study is kept and shared: {ELSE}")
    if LOGIN.search(value):
        raise PortrayalError(f"an address in the study holds a login. Send it as a header, and {ELSE}")
    for name in _named_inside(value):
        raise PortrayalError(f"the study's {place!r} seems to hold a credential after {name!r}: {ELSE}")
    hashed = HASHES.search(place) and _HEX.fullmatch(value)
    if looks_like_key(_VARIABLE.sub("", value)) and not hashed:
        where = "a key of the study" if place == "a key" else f"the study's {place!r}"
        raise PortrayalError(f"{where} holds what looks like a key: {ELSE} If it is none, list it under not_secret.")


def is_taken(value: str) -> bool:
    """Return True where a value is taken from the environment: `$NAME`, or `Bearer $NAME`."""
    rest = _VARIABLE.sub("", value)
    return rest != value and len(rest) <= 24 and not looks_like_key(rest) and not re.search(r"\d", rest)


def _named_inside(value: str) -> Iterator[str]:
    """Yield the names of credentials written into an address or a program's words."""
    if "://" in value or "?" in value:
        query = value.partition("?")[2]
        with suppress(ValueError):
            query = urlsplit(value.removeprefix("command:")).query or query
        for name, content in parse_qsl(query):
            if (SECRET.search(name) or name.lower() in IN_ADDRESS) and not is_taken(content):
                yield name
    if not value.startswith("command:"):
        return
    try:
        words = shlex.split(value)
    except ValueError:
        words = value.split()
    for word, after in zip(words, [*words[1:], ""], strict=True):
        flag, equals, content = word.partition("=")
        content = content if equals else after
        is_flag = flag.startswith("-") or equals or word.endswith(":")
        name = flag.lstrip("-").removesuffix(":")
        if is_flag and SECRET.search(name) and content and not content.startswith("-") and not is_taken(content):
            yield flag


ADDRESSES = ("endpoint", "base_url")  # where a system that has a key of yours sends it


def code_lines(study: Study, systems: Sequence[str]) -> list[str]:
    """Return a line for each of these systems that is code of the study's choice."""
    return [
        f"{system.name}: runs {system.use!r} from {study.folder.resolve()} with your rights"
        for system in study.systems
        if is_code(system.use) and system.name in systems
    ]


def admit(study: Study, untrusted: bool) -> None:
    """Read the secrets a study names, unless it is untrusted and dangerous."""
    if untrusted:
        refuse_untrusted(study)
    if study.secrets_file:
        read_secrets_file(study.folder / study.secrets_file)


def refuse_untrusted(study: Study) -> None:
    """Refuse a study that would run code of its choice or send secrets."""
    for what in _dangers(study):
        raise PortrayalError(f"--untrusted: {what}. Read the study, then run it without --untrusted.")


def _dangers(study: Study) -> Iterator[str]:
    if study.secrets_file:
        yield f"the study reads secrets from {study.secrets_file!r}"
    for system in study.systems:
        if is_code(system.use):
            yield f"system {system.name!r} would run code: {system.use!r}"
        for (*_, name), value in leaves(system.parameters):
            if isinstance(value, str) and (variable := _VARIABLE.search(value)):
                yield f"system {system.name!r} would send {variable[0]} from your environment to {system.use!r}"
            if name == "key" and system.use in NAME_A_KEY:
                yield f"system {system.name!r} would send {value} from your environment"
            if name in ADDRESSES:
                yield f"system {system.name!r} would send your key to the address {value!r}"
