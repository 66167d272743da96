"""Vision-language models as taggers or captioners: OpenAI-compatible endpoints (OpenAI, Ollama, vLLM ...) and Anthropic's.

They are asked with plain HTTP, because their SDKs retry by themselves and hide attempts from the ledger. They give
no confidence. Cost is in tokens: the answer keeps its `usage`, and dollars are counted when the study gives
`dollars_per_million_input` and `dollars_per_million_output`.

Keys are taken from OPENAI_API_KEY (not needed for local endpoints) and ANTHROPIC_API_KEY.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from portrayal.edges.json_text import parse_json
from portrayal.edges.secrets import take
from portrayal.errors import PortrayalError
from portrayal.systems.base import Refused, Unreadable
from portrayal.systems.pictures import Picture, PictureLimits
from portrayal.systems.refusals import is_refusal
from portrayal.systems.settings import SystemSettings
from portrayal.systems.vendor import Request, Rows, Vendor, VendorSystem, open_vendor
from portrayal.systems.web import environment

SHARED_DEFAULTS = {
    "model": "",
    "prompt": "1",
    "most_tokens": 300,
    "temperature": 0.0,
    "dollars_per_million_input": 0.0,
    "dollars_per_million_output": 0.0,
}
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")

# A prompt is part of the instrument: changing a word changes the answers. So prompts are never edited; a better one gets
# a new version, and the version is part of the ledger's key.
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


def _openai_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    image = {"type": "image_url", "image_url": {"url": f"data:{picture.media};base64,{picture.base64}"}}
    body = _body(parameters, [_text(parameters, kind), image])
    key = take("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Request(f"{parameters['endpoint']}/v1/chat/completions", more={"json": body, "headers": headers})


def _anthropic_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    source = {"type": "base64", "media_type": picture.media, "data": picture.base64}
    body = _body(parameters, [{"type": "image", "source": source}, _text(parameters, kind)])
    headers = {"x-api-key": environment("ANTHROPIC_API_KEY", "Anthropic"), "anthropic-version": "2023-06-01"}
    return Request(f"{parameters['endpoint']}/v1/messages", more={"json": body, "headers": headers})


def _text(parameters: Mapping[str, Any], kind: str) -> dict[str, str]:
    return {"type": "text", "text": prompt(kind, parameters["prompt"])}


def _body(parameters: Mapping[str, Any], content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": parameters["model"],
        "max_tokens": parameters["most_tokens"],
        "temperature": parameters["temperature"],
        "messages": [{"role": "user", "content": content}],
    }


def _openai_read(body: Any, kind: str) -> Rows:
    return rows_of_text(body["choices"][0]["message"]["content"] or "", kind)


def _anthropic_read(body: Any, kind: str) -> Rows:
    return rows_of_text("".join(part["text"] for part in body["content"] if part["type"] == "text"), kind)


def rows_of_text(text: str, kind: str) -> Rows:
    """Read a model's words: one caption, or tags as a JSON array, a comma-separated list or a list of lines.

    Raises
    ------
    Refused
        When the words decline: a refusal is never split at its commas into tags.

    Examples
    --------
    >>> [row["tag"] for row in rows_of_text('```json\\n["woman", "tree"]\\n```', "tagger")]
    ['woman', 'tree']
    """
    text = text.strip()
    if is_refusal(text):
        raise Refused(text)
    if kind == "captioner":
        return [{"caption": text}] if text else []
    return [{"tag": tag, "confidence": None} for tag in _tags(text)]


def _tags(text: str) -> list[str]:
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end:
        try:
            listed = parse_json(text[start : end + 1])
        except ValueError:
            pass
        else:
            return [tag for item in listed if (tag := _word(item))]
    parts = re.split(r"[,\n]", text.replace("```json", "").replace("```", ""))
    return [tag for part in parts if (tag := part.strip().strip("\"'[]").lstrip("-*0123456789. ").strip())]


def _word(item: Any) -> str:
    """Take a word or a number out of a model's list; what is no word is not turned into one."""
    if not isinstance(item, str | int | float):
        raise Unreadable(f"the model's list holds a {type(item).__name__} where a word is expected")
    return str(item).strip()


def _cost_by_tokens(taken: str, given: str) -> Callable[[Any, Mapping[str, Any]], float]:
    """Return a function of an answer's cost, from what its `usage` calls the tokens of question and answer."""

    def cost(body: Any, parameters: Mapping[str, Any]) -> float:
        usage = body.get("usage") or {}
        asked = usage.get(taken, 0) * parameters["dollars_per_million_input"]
        answered = usage.get(given, 0) * parameters["dollars_per_million_output"]
        return (asked + answered) / 1e6

    return cost


def _openai_refused(body: Any) -> bool:
    choice = body["choices"][0]
    return choice.get("finish_reason") == "content_filter" or bool(choice["message"].get("refusal"))


def _openai_version(body: Any) -> str:
    return " ".join(part for part in (body.get("model", ""), body.get("system_fingerprint") or "") if part)


OPENAI = Vendor(
    name="openai",
    kinds=("tagger", "captioner"),
    limits=PictureLimits(20_000_000, formats=FORMATS),
    request=_openai_request,
    read=_openai_read,
    refused=_openai_refused,
    version=_openai_version,
    cost=_cost_by_tokens("prompt_tokens", "completion_tokens"),
    errors_billed=False,
    defaults={"endpoint": "https://api.openai.com", **SHARED_DEFAULTS},
)

ANTHROPIC = Vendor(
    name="anthropic",
    kinds=("tagger", "captioner"),
    limits=PictureLimits(5_000_000, most_side=8_000, formats=FORMATS),
    request=_anthropic_request,
    read=_anthropic_read,
    refused=lambda body: body.get("stop_reason") == "refusal",
    version=lambda body: str(body.get("model", "")),
    cost=_cost_by_tokens("input_tokens", "output_tokens"),
    errors_billed=False,
    defaults={"endpoint": "https://api.anthropic.com", **SHARED_DEFAULTS},
)

DIALECTS = {"openai": OPENAI, "anthropic": ANTHROPIC}


def open_system(settings: SystemSettings, folder: Path) -> VendorSystem:
    """Open the dialect a study names, `use = "openai"` or `use = "anthropic"`."""
    system = open_vendor(DIALECTS[settings.use], settings, folder)
    if not system.parameters["model"] and system.recorded is None:
        raise PortrayalError(f"system {settings.name!r} names no model. Add parameters.model.")
    prompt(system.kind, system.parameters["prompt"])
    return system
