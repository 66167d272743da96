"""The guard of generators: the prompt, every parameter, and the answer.

A parameter is refused unless it is known to be harmless: a number, a technical name, or words that would
pass as a prompt. Inputs that are images are refused (image-to-image), and so is anything that turns a
safety filter off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from portrayal.edges.json_text import parse_json
from portrayal.safety.guard import PromptRefused, check_prompt, refuse_listed
from portrayal.systems.core.base import Answer, Question, System

IMAGE_INPUTS = re.compile(
    r"\b(images?|img\w*|init\w*|inpaint\w*|masks?|photos?|references?|control\w*|\w*adapters?|loras?|embed\w*"
    r"|inversion|strength|base64|urls)\b"
)
SAFETY = re.compile(r"safe|nsfw|filter|moderat|censor|guard|uncensor|explicit")
SAFE_VALUES = (True, "on", "true", "strict", "high", "default", "auto", "enabled", "vendor")
# Parameters that name a technical thing; their text is held against the list of refused words, not against
# the list of neutral ones.
TECHNICAL = re.compile(
    r"model|size|quality|format|response_format|output_format|method|answer|refused|blocked|url|device|dtype"
    r"|precision|scheduler|folder|path|picture|version|model_version|aspect_ratio|reader|fields\..*"
    r"|headers\.(authorization|x-api-key|api-key|accept|content-type)"
)
TECHNICAL_TEXT = re.compile(r"(Bearer |Key )?[\w\-./:$*+]{0,120}")
LONGEST_LABEL = 80


def guard_question(question: Question, parameters: Mapping[str, Any], identity: str = "") -> None:
    """Refuse a question to a generator unless everything it gets is known to be neutral."""
    if question.kind not in ("prompt", "text"):
        raise PromptRefused(f"it is of kind {question.kind!r}. Image-to-image is not done here")
    check_prompt(question.content)
    if "?" in identity or "#" in identity:
        raise PromptRefused("the address carries a query of its own")
    refuse_listed(re.sub(r"[_/:.]", " ", identity))
    for path, value in _leaves(parameters):
        _check_parameter(path, value, question)


def guard_system(system: System, questions: Sequence[Question]) -> None:
    """Guard the questions of a live generator; recorded answers and other kinds of system pass."""
    if system.kind != "generator" or system.identity.startswith("replay:"):
        return
    for question in questions:
        guard_question(question, system.parameters, system.identity)


def guard_answer(system: System, answer: Answer) -> Answer:
    """Refuse to keep a generator's answer that is more than a hash and labels."""
    if system.kind != "generator" or system.identity.startswith("replay:"):
        return answer
    if not _only_labels(answer.raw):
        raise PromptRefused(
            f"{system.name!r} answered with more than a hash and labels, and images are never stored. Use a "
            "system of portrayal.systems.generators"
        )
    return answer


def _only_labels(raw: bytes) -> bool:
    try:
        data = parse_json(raw)
    except ValueError:
        return False
    if not isinstance(data, Mapping) or set(data) - {"sha256", "outcome", "labels"}:
        return False
    texts = [data.get("outcome", ""), *(row.get("label", "") for row in data.get("labels", []))]
    short = all(isinstance(text, str) and len(text) <= LONGEST_LABEL for text in texts)
    return short and re.fullmatch(r"[0-9a-f]{64}|", str(data.get("sha256", ""))) is not None


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, path)
    else:
        yield path, value


def _check_parameter(path: tuple[str, ...], value: Any, question: Question) -> None:
    keys = [key.lower() for key in path]
    name = ".".join(path)
    if any(SAFETY.search(key) for key in keys):
        plain = value.lower() if isinstance(value, str) else value
        if plain not in SAFE_VALUES or (value == 1 and value is not True):
            raise PromptRefused(f"the parameter {name!r} turns a safety filter off or lower")
    elif any(IMAGE_INPUTS.search(_spaced(key)) for key in path) and not _is_count(keys, value):
        raise PromptRefused(f"the parameter {name!r} gives the generator an image or an adapter")
    elif any("negative" in key for key in keys):
        check_prompt(question.content, negative=value)
    elif isinstance(value, str):
        _check_text(name, keys, value, question)
    elif value is not None and not isinstance(value, bool | int | float):
        raise PromptRefused(f"the parameter {name!r} is a {type(value).__name__}")


def _spaced(key: str) -> str:
    """Set the words of a name apart: init_image, initImage and init-image alike."""
    return re.sub(r"[_\-.]|(?<=[a-z])(?=[A-Z])", " ", key).lower()


def _is_count(keys: Sequence[str], value: Any) -> bool:
    """Return True for a number of images, which is no image."""
    return keys[-1] in ("num_images", "n_images", "num_images_per_prompt") and isinstance(value, int)


def _check_text(name: str, keys: Sequence[str], value: str, question: Question) -> None:
    if "{base64}" in value or "{stimulus}" in value:
        raise PromptRefused(f"the parameter {name!r} holds a placeholder generators do not get")
    if "{" in value:
        check_prompt(value.replace("{content}", question.content).replace("{prompt}", question.content))
    # A name alone, or a place that is not sent as part of a prompt.
    elif any(TECHNICAL.fullmatch(one) for one in (keys[-1], ".".join(keys))) and TECHNICAL_TEXT.fullmatch(value):
        refuse_listed(re.sub(r"[_/:.$*]", " ", value))
    else:
        check_prompt(value)
