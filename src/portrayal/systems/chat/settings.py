"""Settings of a language model behind an API, under their usual names.

| parameter | meaning | default |
|---|---|---|
| `model` | the model's name | none: it must be said |
| `base_url` | the address, as vendors' SDKs take it (`http://host:8000/v1`) | `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, or the vendor's |
| `key` | the variable of the environment that holds the key, never the key itself | `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` |
| `prompt` | the version of our prompt | "1", or "2" with `structured` |
| `prompt_file` | a prompt of yours, in a text file in the study's folder; `{repeat}`, and for a ranker `{content}`, are filled in | none |
| `structured` | ask for JSON of a schema (`response_format`); a server that refuses it is asked without, and a line says so | false |
| `max_completion_tokens`, `max_tokens` | the most tokens of an answer, under the name that is sent | 300, under the name the server takes |
| `temperature` | sent as it is; "default" sends none, as some models demand | 0 |
| `dollars_per_million_input`, `dollars_per_million_output` | prices of tokens, for `portrayal plan` and the bar | 0 |
| `endpoint` | the address without `/v1`: the older name of `base_url` | |
| `recorded` | recorded answers, a JSON-lines file; nothing is sent | |
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
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


def check_chat(own: ChatSettings, name: str) -> None:
    """Refuse settings that cannot both be meant."""
    given = own.model_dump(exclude_unset=True)
    for pair in (("base_url", "endpoint"), ("prompt", "prompt_file")):
        if all(given.get(one) for one in pair):
            raise PortrayalError(f"system {name!r} gives both {pair[0]} and {pair[1]}. Keep one of them.")
    tokens = [one for one in ("max_completion_tokens", "max_tokens", "most_tokens") if given.get(one)]
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
