"""Text encoders behind an OpenAI-compatible endpoint, asked in batches: `use = "openai_embeddings"`."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from portrayal.errors import PortrayalError
from portrayal.settings import Settings
from portrayal.systems.chat.settings import (
    Dollars,
    Service,
    address_of,
    bearer,
    nothing_at,
    text_tokens,
    token_cost,
    without_prices,
)
from portrayal.systems.core.base import (
    AccessDenied,
    Answer,
    CallFailed,
    NothingThere,
    Question,
    Unreadable,
    broken_answer,
)
from portrayal.systems.core.plain import decoded
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.web import WebSystem

OPENAI = Service("OpenAI", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")


class EmbeddingSettings(Settings):
    """Parameters of an encoder behind an API."""

    model: str = ""
    base_url: str = ""
    key: str = ""  # the variable of the environment that holds the key, never the key itself
    dimensions: int | None = Field(default=None, ge=1)
    batch: int = Field(default=64, ge=1, le=2048)
    dollars_per_million_input: Dollars = 0.0


@dataclass
class OpenAIEmbeddings(WebSystem):
    """Asks for the embeddings of a batch of texts with one request."""

    reader: str = "openai_embeddings"
    own: EmbeddingSettings = field(default_factory=EmbeddingSettings)

    def check_ready(self) -> None:
        """Take the key from the environment, and send nothing."""
        self._bearer()

    def expected_price(self, question: Question) -> float:
        """Guess the price of a text from its letters."""
        return self._cost({"usage": {"prompt_tokens": text_tokens(question.content)}}) or self.limits.price

    def _bearer(self) -> str:
        return bearer(self.own.key, OPENAI, self.own.base_url == OPENAI.address)

    async def ask(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        """Send the texts; halve a batch that the service turns down."""
        for question in questions:
            if question.kind == "image":
                raise PortrayalError(f"system {self.name!r} reads texts only. {question.stimulus!r} is a picture.")
        try:
            return await self._ask_together(questions)
        except CallFailed as error:
            if isinstance(error, AccessDenied | NothingThere):
                raise
            if len(questions) == 1:
                return [error]
        middle = len(questions) // 2
        return [*await self.ask(questions[:middle]), *await self.ask(questions[middle:])]

    async def _ask_together(self, questions: Sequence[Question]) -> list[Answer | Exception]:
        texts = [question.content for question in questions]
        request: dict[str, Any] = {"model": self.own.model, "input": texts, "encoding_format": "float"}
        if self.own.dimensions is not None:
            request["dimensions"] = self.own.dimensions
        key = self._bearer()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        address = f"{self.own.base_url}/embeddings"
        try:
            body = await self.send("POST", address, json=request, headers=headers)
        except NothingThere as error:
            raise nothing_at(error, address) from None
        if body.broken:
            return [self.broken(body)] * len(questions)
        return self._answers(body.content, len(questions))

    def _answers(self, raw: bytes, count: int) -> list[Answer | Exception]:
        """Give each question its part of the answer, by index."""
        try:
            body = decoded(raw)
            parts = {part["index"]: part for part in body["data"]}
            if len(parts) != len(body["data"]) or set(parts) != set(range(count)):
                raise ValueError(f"{count} texts were sent, the answer's indices are others")
            model, cost = str(body.get("model", "")), self._cost(body) / count
        except (Unreadable, KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"it is not the form of /embeddings: {error}"
            return [broken_answer(raw, reason, self.limits.price)] * count
        price = cost or self.limits.price
        return [Answer(json.dumps(parts[place]).encode(), version=model, cost=price) for place in range(count)]

    def _cost(self, body: Mapping[str, Any]) -> float:
        return token_cost(body, {"prompt_tokens": self.own.dollars_per_million_input})


def read_embedding(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one embedding: a list of numbers, or float32 bytes in base64."""
    part = decoded(answer.raw)
    numbers = part.get("embedding") if isinstance(part, Mapping) else None
    try:
        if isinstance(numbers, str):
            numbers = np.frombuffer(base64.b64decode(numbers, validate=True), dtype="<f4").tolist()
        vector = [float(number) for number in numbers or ()]
    except (TypeError, ValueError, OverflowError):
        raise Unreadable("the embedding is neither a list of numbers nor base64 of float32") from None
    if not vector or not all(map(math.isfinite, vector)):
        raise Unreadable("the embedding is empty, or holds NaN or infinity")
    return [{"embedding": vector}]


def open_system(settings: SystemSettings, folder: Path) -> OpenAIEmbeddings:
    """Open the endpoint; the key is looked for when it is asked."""
    own = settings.read(EmbeddingSettings)
    base = address_of(own.base_url, OPENAI, settings.name).removesuffix("/embeddings") or OPENAI.address
    model = own.model or os.environ.get("OPENAI_EMBEDDING_MODEL", "")
    if not model:
        raise PortrayalError(
            f"system {settings.name!r} names no model. Add parameters.model, or set OPENAI_EMBEDDING_MODEL."
        )
    own = own.model_copy(update={"base_url": base, "model": model})
    identity, parameters = f"openai_embeddings:{own.base_url}:{model}", without_prices(settings.parameters)
    fields = settings.fields(identity, kind="encoder", errors_billed=False, parameters=parameters)
    return OpenAIEmbeddings(**fields, batch=own.batch, own=own)
