"""Settings, addresses and prices of a language model behind an API."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from portrayal.edges.secrets import take
from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.core.base import NothingThere
from portrayal.systems.core.settings import LOGIN
from portrayal.systems.http.web import environment

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=1)]
MOST_TOKENS = 300
LETTERS_A_TOKEN = 4  # of English, as the vendors' own rule of thumb has it
PIXELS_A_TOKEN = 750  # as Anthropic documents it; OpenAI's tiles come to less
MOST_A_PICTURE, OF_UNKNOWN_SIZE = 1600, 1000
ADDRESS = re.compile(r"https?://[^\s/]+(/\S*)?")


class ChatSettings(Settings):
    """One model, as a study writes it."""

    model: str = ""
    base_url: str = ""
    endpoint: str = ""
    key: str = ""
    prompt: str = ""
    prompt_file: str = ""
    structured: bool = False
    most_tokens: Tokens | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["default"] = 0.0
    dollars_per_million_input: Dollars = 0.0
    dollars_per_million_output: Dollars = 0.0
    recorded: str = ""

    def tokens(self) -> int:
        """Return the most tokens of an answer."""
        return self.max_completion_tokens or self.max_tokens or self.most_tokens or MOST_TOKENS


@dataclass(frozen=True)
class Service:
    """A vendor's address and the environment variables of its own SDK."""

    name: str
    address: str
    base_url: str  # the variable of the address
    key: str  # the variable of the key
    usage: tuple[str, str] = ("prompt_tokens", "completion_tokens")  # its names for the tokens of question and answer


def check_chat(own: ChatSettings, name: str) -> None:
    """Refuse settings that cannot both be meant."""
    named = own.model_dump(exclude_unset=True)
    for pair in (("base_url", "endpoint"), ("prompt", "prompt_file")):
        if all(named.get(one) for one in pair):
            raise PortrayalError(f"system {name!r} gives both {pair[0]} and {pair[1]}. Keep one of them.")
    tokens = [one for one in ("max_completion_tokens", "max_tokens", "most_tokens") if named.get(one)]
    if len(tokens) > 1:
        raise PortrayalError(f"system {name!r} gives both {tokens[0]} and {tokens[1]}. Keep one of them.")


def address_of(base_url: str, service: Service, name: str) -> str:
    """Return the checked address of the study or the environment, or nothing."""
    base = (base_url or os.environ.get(service.base_url, "")).strip().rstrip("/")
    if base and not ADDRESS.fullmatch(base):
        where = "base_url" if base_url else service.base_url
        raise PortrayalError(
            f"{where} of system {name!r} is {base!r}. Expected an address such as http://localhost:8000/v1."
        )
    if LOGIN.search(base):
        raise PortrayalError(
            f"base_url of system {name!r} holds a login. Put the key into the environment variable {service.key}."
        )
    return base


def bearer(key: str, service: Service, at_home: bool) -> str:
    """Return the key from the environment, or refuse where one is needed."""
    name = key.removeprefix("$") or service.key
    return environment(name, service.name) if key or at_home else take(name)


def nothing_at(error: NothingThere, address: str) -> NothingThere:
    """Return a 404 that names the address asked."""
    hint = "" if "/v1/" in address else "; base_url usually ends in /v1"
    return NothingThere(f"nothing at {address}{hint}. {error}", error.raw)


def without_prices(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without prices and the key's name."""
    left_out = ("key", "dollars_per_million_input", "dollars_per_million_output")
    return {name: value for name, value in parameters.items() if name not in left_out}


def token_cost(body: Any, prices: Mapping[str, float]) -> float:
    """Return the dollars of an answer, from the tokens its `usage` counts."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return 0.0
    return sum(_count(usage.get(name)) * dollars for name, dollars in prices.items()) / 1e6


def _count(value: Any) -> float:
    """Return a number of tokens, 0 for one that is no count."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
    return float(value) if usable else 0.0


def text_tokens(text: str) -> int:
    """Guess the tokens of a text."""
    return math.ceil(len(text) / LETTERS_A_TOKEN)


def picture_tokens(path: str) -> int:
    """Guess the tokens of a picture from its sides."""
    from PIL import Image

    try:
        with Image.open(Path(path)) as picture:
            return min(math.ceil(picture.width * picture.height / PIXELS_A_TOKEN), MOST_A_PICTURE)
    except Exception:  # what Pillow raises depends on the format; asking will say what is wrong
        return OF_UNKNOWN_SIZE
