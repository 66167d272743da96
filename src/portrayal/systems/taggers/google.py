"""Google Cloud Vision, label detection. Confidence runs from 0 to 1.

Google replaced the labels man and woman by person in February 2020, so its gendered labels can only be studied
in recorded waves. An access token is taken from GOOGLE_ACCESS_TOKEN, or a key from GOOGLE_API_KEY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portrayal.edges.secrets import take
from portrayal.systems.core.base import CallFailed, QuotaSpent, Throttled
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.core.status import SOON
from portrayal.systems.http.vendor import Request, Vendor
from portrayal.systems.http.web import environment

RESOURCE_EXHAUSTED = 8  # google.rpc.Code: a rate, which waiting mends, or a quota, which it does not
UNAVAILABLE = 14


def _request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    feature = {"type": "LABEL_DETECTION", "maxResults": parameters["most_labels"]}
    body = {"requests": [{"image": {"content": picture.base64}, "features": [feature]}]}
    return Request(f"{parameters['endpoint']}/v1/images:annotate", more={"json": body, "headers": _credentials()})


def _credentials() -> dict[str, str]:
    if token := take("GOOGLE_ACCESS_TOKEN"):
        return {"Authorization": f"Bearer {token}"}
    return {"x-goog-api-key": environment("GOOGLE_API_KEY", "Google Vision")}


def _check(body: Any) -> None:
    """Raise the error that Google puts inside a 200."""
    error = body["responses"][0].get("error") or {}
    if not error:
        return
    message = f"error {error.get('code')} inside the answer: {error.get('message', '')}"
    if error.get("code") == UNAVAILABLE or (error.get("code") == RESOURCE_EXHAUSTED and SOON.search(message.lower())):
        raise Throttled(message)
    if error.get("code") == RESOURCE_EXHAUSTED:
        raise QuotaSpent(message)
    raise CallFailed(message)


def _read(body: Any, kind: str) -> list[dict[str, Any]]:
    labels = body["responses"][0].get("labelAnnotations", [])
    return [{"tag": label["description"], "confidence": float(label["score"])} for label in labels]


VENDOR = Vendor(
    name="google",
    kinds=("tagger",),
    limits=PictureLimits(7_500_000, formats=("JPEG", "PNG", "GIF", "BMP", "WEBP")),  # 10 MB of JSON after base64
    request=_request,
    read=_read,
    check=_check,
    defaults={"endpoint": "https://vision.googleapis.com", "most_labels": 50},
    price=0.0015,
)
open_system = VENDOR.open
