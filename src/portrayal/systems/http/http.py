"""An HTTP endpoint as a system: `use = "https://host/path"`, with a small mapping in `parameters`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError, nearest
from portrayal.settings import Settings
from portrayal.systems.core.base import Answer, Question, Unreadable
from portrayal.systems.core.plain import decoded, rows_of
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.web import WebSystem, check_address, check_secrets, fill_secret_leaves, fill_secrets

METHODS = ("GET", "POST")
FILLED = ("content", "base64", "stimulus", "repeat")  # what of a question is filled in


class Mapped(Settings):
    """The mapping between our questions and an endpoint's words."""

    method: str = "POST"
    headers: dict[str, str] = {}
    body: Any = {"content": "{content}"}
    query: dict[str, str] = {}
    answer: str = ""
    fields: dict[str, str] = {}
    model_version: str = ""
    refused: str = ""


@dataclass
class Http(WebSystem):
    """Asks an endpoint with plain HTTP, so that every attempt shows in the ledger."""

    reader: str = "mapped"
    mapping: Mapped = Mapped()

    def check_ready(self) -> None:
        """Take every key of the mapping from the environment."""
        for values in (self.mapping.headers, self.mapping.query):
            fill_secrets(values)
        fill_secret_leaves(self.mapping.body)

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Send one request per question."""
        return [await self._ask_one(question) for question in questions]

    async def _ask_one(self, question: Question) -> Answer:
        request: dict[str, Any] = {"headers": fill_secrets(self.mapping.headers)}
        if self.mapping.query:
            request["params"] = fill(fill_secrets(self.mapping.query), question)
        if self.mapping.method.upper() != "GET":
            request["json"] = fill(fill_secret_leaves(self.mapping.body), question)
        body = await self.send(self.mapping.method.upper(), self.identity, **request)
        return self.broken(body) if body.broken else self._answer(body.content)

    def _answer(self, raw: bytes) -> Answer:
        try:
            body = decoded(raw)
        except Unreadable:  # kept as it came; reading it will say what is wrong
            return Answer(raw, cost=self.limits.price)
        version = dig(body, self.mapping.model_version) if self.mapping.model_version else ""
        sign = dig(body, self.mapping.refused) if self.mapping.refused else None
        refused = sign not in (None, False, "", "none", [])
        return Answer(raw, version=str(version or ""), cost=self.limits.price, refused=refused)


def open_system(settings: SystemSettings, folder: Path) -> Http:
    """Open the endpoint a study names."""
    mapping = settings.read(Mapped)
    check_address(settings.use)
    _check_mapping(mapping, settings.name)
    check_secrets("header", mapping.headers)
    check_secrets("query", mapping.query)
    return Http(**settings.fields(settings.use), mapping=mapping)


def _check_mapping(mapping: Mapped, name: str) -> None:
    """Refuse a mapping that would send the same request for every question."""
    if mapping.method.upper() not in METHODS:
        raise PortrayalError(f"method of system {name!r} is {mapping.method!r}. Expected {' or '.join(METHODS)}.")
    sent = [mapping.query] if mapping.method.upper() == "GET" else [mapping.query, mapping.body]
    text = json.dumps(sent, default=str)
    if not any(place in text for place in ("{content}", "{base64}", "{stimulus}")):
        places = re.findall(r"\{([A-Za-z_]\w{0,60})\}", text)
        hint = f" Found {{{places[0]}}}.{nearest(places[0], FILLED)}" if places else ""
        where = "query" if mapping.method.upper() == "GET" else "body or query"
        raise PortrayalError(
            f"the {where} of system {name!r} has neither {{content}} nor {{base64}}: every question would be the same.{hint}"
        )


def read_mapped(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Follow the study's mapping into the answer and read plain data there."""
    value = dig(decoded(answer.raw), parameters.get("answer", ""))
    return rows_of(kind, _rename(value, parameters.get("fields", {})))


def fill(template: Any, question: Question) -> Any:
    """Fill `{content}`, `{base64}`, `{stimulus}` and `{repeat}` into the strings of a template."""
    if isinstance(template, Mapping):
        return {key: fill(value, question) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, question) for value in template]
    if not isinstance(template, str):
        return template
    if "{base64}" in template:
        template = template.replace("{base64}", base64.b64encode(question.image_bytes()).decode())
    plain = {"{stimulus}": question.stimulus, "{repeat}": str(question.repeat), "{content}": question.content}
    for name, value in plain.items():  # content last, so that braces inside it are left alone
        template = template.replace(name, value)
    return template


def dig(value: Any, path: str) -> Any:
    """Follow a dotted path into JSON, None where it leads nowhere."""
    step, _, rest = path.partition(".")
    if not step:
        return value
    if step == "*":
        return [dig(item, rest) for item in value] if isinstance(value, list) else None
    if isinstance(value, Mapping):
        return dig(value.get(step), rest)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return dig(value[int(step)], rest)
    return None


def _rename(value: Any, fields: Mapping[str, str]) -> Any:
    if not fields or value is None:
        return value
    items = value if isinstance(value, list) else [value]
    return [{ours: dig(item, theirs) for ours, theirs in fields.items()} for item in items]
