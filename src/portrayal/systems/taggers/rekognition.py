"""Amazon Rekognition, DetectLabels, through boto3 (extra `[aws]`).

boto3's retries are switched off, so that every attempt shows in the ledger.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portrayal.edges.sizes import parse_json
from portrayal.errors import MissingExtra, PortrayalError
from portrayal.systems.core.base import (
    AccessDenied,
    Answer,
    BaseSystem,
    CallFailed,
    OutcomeUnknown,
    Question,
    QuotaSpent,
    Throttled,
    Unreachable,
    Unreadable,
)
from portrayal.systems.core.pictures import PictureLimits, fit_picture
from portrayal.systems.core.settings import SystemSettings

LIMITS = PictureLimits(5_242_880, least_side=80, most_side=10_000, formats=("JPEG", "PNG"))
LATER = ("ThrottlingException", "ProvisionedThroughputExceededException", "ServiceUnavailable")
QUOTA = ("LimitExceededException", "ServiceQuotaExceededException")
DENIED = ("AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException")
DEFAULTS = {"most_labels": 100, "least_confidence": 0.0, "region": None, "endpoint": None}
PRICE = 0.001


@dataclass
class Rekognition(BaseSystem):
    """Asks DetectLabels."""

    remote: bool = True
    reader: str = "rekognition"
    _client: Any = None

    async def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Send one call per picture, in a thread because boto3 blocks."""
        return [await asyncio.to_thread(self._detect, question) for question in questions]

    def _detect(self, question: Question) -> Answer:
        picture = fit_picture(question, LIMITS)
        self._client = self._client or _client(self.parameters, self.limits.timeout)
        body = _call(self._client, picture.data, self.parameters)
        body.pop("ResponseMetadata", None)
        version = str(body.get("LabelModelVersion", ""))
        return Answer(json.dumps(body).encode(), version=version, cost=self.limits.price)


def _client(parameters: Any, timeout: float) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise MissingExtra("Amazon Rekognition", "aws") from None
    config = Config(retries={"total_max_attempts": 1}, read_timeout=timeout, connect_timeout=min(10.0, 0.4 * timeout))
    try:
        return boto3.client(
            "rekognition", config=config, region_name=parameters["region"], endpoint_url=parameters["endpoint"]
        )
    except Exception as error:  # boto3 says what is missing: a region, a profile
        raise PortrayalError(f"Amazon Rekognition cannot be opened: {error}.") from None


def _call(client: Any, data: bytes, parameters: Any) -> dict[str, Any]:
    """Call DetectLabels and tell failures apart by what they prove."""
    from botocore import exceptions

    try:
        return client.detect_labels(
            Image={"Bytes": data}, MaxLabels=parameters["most_labels"], MinConfidence=parameters["least_confidence"]
        )
    except exceptions.ClientError as error:
        raise _error_for(error) from None
    except (exceptions.NoCredentialsError, exceptions.NoRegionError) as error:
        raise PortrayalError(f"Amazon Rekognition: {error}. Set them as boto3 expects.") from None
    except (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError) as error:
        raise Unreachable(str(error)) from None
    except exceptions.HTTPClientError as error:
        raise OutcomeUnknown(f"sent, but no whole answer came back: {type(error).__name__}") from None


def _error_for(error: Any) -> Exception:
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    message = f"{code}: {error.response.get('Error', {}).get('Message', '')}"
    if code in LATER or status == 503:
        return Throttled(message)
    if code in QUOTA:
        return QuotaSpent(message)
    raw = json.dumps(error.response, default=str).encode()
    if status in (500, 502, 504):
        return OutcomeUnknown(message, raw)
    return AccessDenied(message, raw) if status in (401, 403) or code in DENIED else CallFailed(message, raw)


def open_system(settings: SystemSettings, folder: Path) -> Rekognition:
    """Open Amazon Rekognition."""
    parameters = settings.completed(DEFAULTS)
    return Rekognition(**settings.fields("rekognition:DetectLabels", price=PRICE, kind="tagger", parameters=parameters))


def read_labels(answer: Answer, kind: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Read labels and their confidence."""
    try:
        labels = parse_json(answer.raw)["Labels"]
        return [{"tag": label["Name"], "confidence": float(label["Confidence"])} for label in labels]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"not the form Rekognition promises: {type(error).__name__} {error}") from None
