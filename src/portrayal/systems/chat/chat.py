"""Language models that see, behind OpenAI-compatible endpoints or Anthropic's, as taggers, captioners or rankers.

They are asked with plain HTTP, because their SDKs retry by themselves and hide attempts from the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from portrayal.edges.sizes import parse_json
from portrayal.errors import PortrayalError
from portrayal.systems.chat.prompts import filled, own_prompt, prompt
from portrayal.systems.chat.settings import (
    MOST_TOKENS,
    ChatSettings,
    Service,
    address_of,
    bearer,
    check_chat,
    nothing_at,
    picture_tokens,
    text_tokens,
    token_cost,
    without_prices,
)
from portrayal.systems.core.base import AccessDenied, Answer, CallFailed, NothingThere, Question, Refused, Unreadable
from portrayal.systems.core.pictures import Picture, PictureLimits, fit_picture
from portrayal.systems.core.plain import rows_of
from portrayal.systems.core.refusals import is_refusal
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.vendor import Request, Vendor, VendorSystem, open_vendor

Rows = list[dict[str, Any]]


def rows_of_text(text: str, kind: str) -> Rows:
    """Read a model's words as a caption, a ranking or tags."""
    text = text.strip()
    if kind == "captioner":
        text = _caption(text)
    if is_refusal(text):
        raise Refused(text)
    if kind == "captioner":
        return [{"caption": text}] if text else []
    if kind == "ranker" and text:
        documents = _array(text)
        if documents is None:  # prose is never cut into documents
            raise Unreadable(f"a ranker's words hold no JSON array of documents: {text[:60]!r}")
        return rows_of("ranker", documents)
    return [{"tag": tag, "confidence": None} for tag in _tags(text)] if text else []


def _caption(text: str) -> str:
    """Take a caption out of the object that structured output puts it into."""
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not bare.startswith("{"):
        return text
    try:
        answer = parse_json(bare)
    except ValueError:
        return text
    return answer["caption"].strip() if set(answer) == {"caption"} and isinstance(answer["caption"], str) else text


def _tags(text: str) -> list[str]:
    items = _array(text)
    if items is not None:
        for item in items:
            if not isinstance(item, str | int | float):
                raise Unreadable(f"the model's list holds a {type(item).__name__} where a word is expected")
        return [tag for item in items if (tag := str(item).strip())]
    parts = re.split(r"[,\n]", text.replace("```json", "").replace("```", ""))
    return [tag for part in parts if (tag := part.strip().strip("\"'[]").lstrip("-*0123456789. ").strip())]


def _array(text: str) -> list[Any] | None:
    """Return the JSON array in a text, or nothing where there is none."""
    start, end = text.find("["), text.rfind("]")
    if not 0 <= start < end:
        return None
    try:
        return list(parse_json(text[start : end + 1]))
    except ValueError:
        return None


FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
CUT = "the answer was cut off at its most tokens. Raise max_completion_tokens in the system's parameters"
OPENAI_SERVICE = Service("OpenAI", "https://api.openai.com", "OPENAI_BASE_URL", "OPENAI_API_KEY")
ANTHROPIC_SERVICE = Service(
    "Anthropic",
    "https://api.anthropic.com",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    ("input_tokens", "output_tokens"),
)
SERVICES = {"openai": OPENAI_SERVICE, "anthropic": ANTHROPIC_SERVICE}

# The key of structured output by kind; a caption is a text, the others are lists of texts.
STRUCTURED = {"tagger": "tags", "captioner": "caption", "ranker": "results"}
# How servers that know less say so, of what the study can do without.
_TURNED_DOWN = re.compile(
    r"(?i)unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed|invalid|unavailable"
)


def _openai_request(picture: Picture | None, parameters: Mapping[str, Any], kind: str) -> Request:
    url = f"data:{picture.media};base64,{picture.base64}" if picture else ""
    image = [{"type": "image_url", "image_url": {"url": url}}] if picture else []
    body = _body(parameters, [{"type": "text", "text": parameters["asked"]}, *image])
    if parameters["structured"]:
        name, text = STRUCTURED[kind], {"type": "string"}
        fields = {name: text if kind == "captioner" else {"type": "array", "items": text}}
        schema = {"type": "object", "properties": fields, "required": [name], "additionalProperties": False}
        form = {"name": name, "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    key = bearer(parameters["key"], OPENAI_SERVICE, _at_home(parameters, OPENAI_SERVICE))
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if "base_url" in parameters:
        base = parameters["base_url"].removesuffix("/chat/completions")
    else:
        base = f"{parameters['endpoint'].rstrip('/').removesuffix('/v1')}/v1"
    return Request(f"{base}/chat/completions", more={"json": body, "headers": headers})


def _anthropic_request(picture: Picture | None, parameters: Mapping[str, Any], kind: str) -> Request:
    source = {"type": "base64", "media_type": picture.media, "data": picture.base64} if picture else {}
    image = [{"type": "image", "source": source}] if picture else []
    body = _body(parameters, [*image, {"type": "text", "text": parameters["asked"]}])
    key = bearer(parameters["key"], ANTHROPIC_SERVICE, True)
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    base = parameters.get("base_url") or parameters["endpoint"]
    return Request(f"{base.rstrip('/').removesuffix('/v1')}/v1/messages", more={"json": body, "headers": headers})


def _body(parameters: Mapping[str, Any], content: list[dict[str, Any]]) -> dict[str, Any]:
    body = {
        "model": parameters["model"],
        parameters["tokens_as"]: parameters["tokens"],
        "messages": [{"role": "user", "content": content}],
    }
    warm = parameters["temperature"]
    return body if warm == "default" else {**body, "temperature": warm}


def _at_home(parameters: Mapping[str, Any], service: Service) -> bool:
    base = str(parameters.get("base_url") or parameters["endpoint"])
    return base.rstrip("/").removesuffix("/v1") == service.address


def _openai_read(body: Any, kind: str) -> Rows:
    choice = body["choices"][0]
    if choice.get("finish_reason") == "length":
        raise Unreadable(CUT)
    words = choice["message"]["content"] or ""
    if isinstance(words, list):  # some servers answer in parts
        words = "".join(part["text"] for part in words if part["type"] == "text")
    return rows_of_text(words, kind)


def _anthropic_read(body: Any, kind: str) -> Rows:
    if body.get("stop_reason") == "max_tokens":
        raise Unreadable(CUT)
    return rows_of_text("".join(part["text"] for part in body["content"] if part["type"] == "text"), kind)


def _openai_refused(body: Any) -> bool:
    choice = body["choices"][0]
    return choice.get("finish_reason") == "content_filter" or bool(choice["message"].get("refusal"))


def _dialect(name: str, **own: Any) -> Vendor:
    # The prices stand here for the ledger's keys alone, which earlier versions made with them.
    prices = {"dollars_per_million_input": 0.0, "dollars_per_million_output": 0.0}
    defaults = {"model": "", "prompt": "1", "most_tokens": MOST_TOKENS, "temperature": 0.0, **prices}
    return Vendor(
        name=name,
        kinds=tuple(STRUCTURED),
        errors_billed=False,
        defaults={"endpoint": SERVICES[name].address, **defaults},
        optional=("base_url", "prompt_text", "structured", "max_tokens", "max_completion_tokens"),
        **own,
    )


OPENAI = _dialect(
    "openai",
    limits=PictureLimits(20_000_000, formats=FORMATS),
    request=_openai_request,
    read=_openai_read,
    refused=_openai_refused,
    version=lambda body: " ".join(filter(None, (body.get("model", ""), body.get("system_fingerprint")))),
)
ANTHROPIC = _dialect(
    "anthropic",
    limits=PictureLimits(5_000_000, most_side=8_000, formats=FORMATS),
    request=_anthropic_request,
    read=_anthropic_read,
    refused=lambda body: body.get("stop_reason") == "refusal",
    version=lambda body: str(body.get("model", "")),
)


@dataclass
class ChatSystem(VendorSystem):
    """Language model asked about a picture or in words."""

    own: ChatSettings = field(default_factory=ChatSettings)
    notes: list[str] = field(default_factory=list)  # what to say when all is asked
    _left_out: set[str] = field(default_factory=set)

    def check_ready(self) -> None:
        """Take the key from the environment, or look for the recording, and send nothing."""
        if self.recorded is None:
            self.vendor.request(None, self._asking("", frozenset()), self.kind)
        else:
            super().check_ready()

    def expected_price(self, question: Question) -> float:
        """Estimate the dollars of a question from its letters, pixels and most tokens."""
        pixels = picture_tokens(question.content) if question.kind == "image" else 0
        sent = text_tokens(filled(self._prompt, question)) + pixels
        tokens = {"usage": {"asked": sent, "answered": self.own.tokens()}}
        prices = {"asked": self.own.dollars_per_million_input, "answered": self.own.dollars_per_million_output}
        return token_cost(tokens, prices) or self.limits.price

    @property
    def _prompt(self) -> str:
        return self.parameters.get("prompt_text") or prompt(self.kind, self.parameters["prompt"])

    async def _ask_one(self, question: Question) -> Answer:
        picture = None if self.kind == "ranker" else fit_picture(question, self.vendor.limits)
        text = filled(self._prompt, question)
        while True:
            asking = self._asking(text, frozenset(self._left_out))
            request = self.vendor.request(picture, asking, self.kind)
            try:
                body = await self.send(request.method, request.url, **request.more)
            except NothingThere as error:
                raise nothing_at(error, request.url) from None
            except CallFailed as error:
                if not self._leave_out(error, request.more["json"]):
                    raise
            else:
                return self.broken(body) if body.broken else self._answer(body.content)

    def _asking(self, text: str, left_out: frozenset[str]) -> dict[str, Any]:
        """Return the parameters of one request."""
        name = "max_tokens"  # the name that the most tokens are sent under
        if self.vendor.name == "openai" and not self.own.max_tokens:
            at_home = _at_home(self.parameters, OPENAI_SERVICE)
            name = "max_completion_tokens" if at_home or self.own.max_completion_tokens else name
        if name in left_out:
            name = _OTHER[name]
        return {
            **self.parameters,
            "asked": text,
            "key": self.own.key,
            "tokens": self.own.tokens(),
            "tokens_as": name,
            "structured": self.own.structured and "response_format" not in left_out,
        }

    def _leave_out(self, error: CallFailed, sent: Mapping[str, Any]) -> bool:
        """Return True where a refused request is sent again without the refused part."""
        words = error.raw.decode(errors="replace")
        if isinstance(error, AccessDenied) or not _TURNED_DOWN.search(words):
            return False
        part = _refused_part(words, sent)
        if not part or _OTHER.get(part) in self._left_out:
            return False
        if part not in self._left_out:
            self._left_out.add(part)
            self.notes.append(f"{self.name}: the server takes no {part}; it was asked {_INSTEAD[part]}")
        return True

    def _cost(self, body: Any) -> float:
        prices = (self.own.dollars_per_million_input, self.own.dollars_per_million_output)
        return token_cost(body, dict(zip(SERVICES[self.vendor.name].usage, prices, strict=True)))


_OTHER = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_INSTEAD = {
    "response_format": "for JSON in words alone (structured output is not enforced)",
    "max_completion_tokens": "with max_tokens",
    "max_tokens": "with max_completion_tokens",
}


def _refused_part(words: str, sent: Mapping[str, Any]) -> str:
    """Return the first part of a request that the server's words turn down."""
    names = {"response_format": r"response_format|json_schema|structured output"}
    matches = {part: re.search(names.get(part, rf"\b{part}\b"), words) for part in _INSTEAD if part in sent}
    places = {part: match.start() for part, match in matches.items() if match}
    return min(places, key=lambda part: places[part], default="")


def open_system(settings: SystemSettings, folder: Path) -> VendorSystem:
    """Open the dialect a study names, `use = "openai"` or `use = "anthropic"`."""
    own = settings.read(ChatSettings)
    check_chat(own, settings.name)
    _check_kind(settings, own)
    if not own.model and not own.recorded:
        raise PortrayalError(f"system {settings.name!r} names no model. Add parameters.model.")
    parameters = _parameters(own, settings, folder)
    vendor = OPENAI if settings.use == "openai" else ANTHROPIC
    named = settings.model_copy(update={"parameters": parameters})
    system = open_vendor(vendor, named, folder, ChatSystem, own=own)
    if "base_url" in system.parameters:
        system.parameters = {name: value for name, value in system.parameters.items() if name != "endpoint"}
    if "prompt_text" not in parameters:
        prompt(system.kind, system.parameters["prompt"])
    return system


def _check_kind(settings: SystemSettings, own: ChatSettings) -> None:
    if settings.kind == "encoder":
        raise PortrayalError(
            f'system {settings.name!r}: a chat model gives no vectors. For an encoder take use = "openai_embeddings".'
        )
    if settings.kind == "ranker" and not (own.prompt_file or own.recorded):
        raise PortrayalError(
            f"system {settings.name!r} is asked for rankings, which needs a prompt of yours that says what to search:"
            " parameters.prompt_file, with {content} where the query goes."
        )
    if own.structured and settings.use == "anthropic":
        raise PortrayalError(f'system {settings.name!r}: structured is of use = "openai" only. Leave it out.')


def _parameters(own: ChatSettings, settings: SystemSettings, folder: Path) -> dict[str, Any]:
    """Return the parameters that enter the ledger's key."""
    parameters = without_prices(settings.parameters)
    base = address_of(own.endpoint or own.base_url, SERVICES[settings.use], settings.name)
    parameters.pop("base_url", None)
    if base and not own.endpoint:  # an endpoint is checked, and kept as it is written
        parameters["base_url"] = base
    if parameters.pop("prompt_file", None):
        parameters["prompt_text"] = own_prompt(own.prompt_file, folder, str(settings.kind), settings.name)
    if own.structured and not own.prompt and not own.prompt_file:
        parameters["prompt"] = "2"
    return parameters
