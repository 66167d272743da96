"""Clarifai's general model.

The key is taken from CLARIFAI_PAT.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portrayal.systems.core.base import CallFailed, QuotaSpent, Throttled
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.http.vendor import Request, Vendor
from portrayal.systems.http.web import environment

SUCCESS = 10000
THROTTLED = 11005  # CONN_THROTTLED
QUOTA = (11006, 11007)  # CONN_EXCEED_HOURLY_LIMIT, CONN_EXCEED_MONTHLY_LIMIT


def _request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    path = f"/v2/users/{parameters['user']}/apps/{parameters['app']}/models/{parameters['model']}/outputs"
    body: dict[str, Any] = {"inputs": [{"data": {"image": {"base64": picture.base64}}}]}
    if (least := parameters.get("least_confidence")) is not None:
        # docs.clarifai.com, "Prediction Parameters"; nested as in published tests of a gRPC client (min_value=0.98).
        body["model"] = {"output_info": {"output_config": {"min_value": least}}}
    headers = {"Authorization": f"Key {environment('CLARIFAI_PAT', 'Clarifai')}"}
    return Request(parameters["endpoint"] + path, more={"json": body, "headers": headers})


def _check(body: Any) -> None:
    """Raise for the answer's status and for the output's own."""
    for status in (body["status"], body["outputs"][0]["status"] if body.get("outputs") else body["status"]):
        code = status["code"]
        message = f"status {code} inside the answer: {status.get('description', '')}"
        if code == THROTTLED:
            raise Throttled(message)
        if code in QUOTA:
            raise QuotaSpent(message)
        if code != SUCCESS:
            raise CallFailed(message)


def _read(body: Any, kind: str) -> list[dict[str, Any]]:
    concepts = body["outputs"][0]["data"].get("concepts", [])
    return [{"tag": concept["name"], "confidence": float(concept["value"])} for concept in concepts]


def _version(body: Any) -> str:
    model = body["outputs"][0]["model"]
    return str(model.get("model_version", {}).get("id") or model.get("id", ""))


VENDOR = Vendor(
    name="clarifai",
    kinds=("tagger",),
    limits=PictureLimits(20_000_000, formats=("JPEG", "PNG", "WEBP", "BMP")),
    request=_request,
    read=_read,
    check=_check,
    version=_version,
    defaults={
        "endpoint": "https://api.clarifai.com",
        "user": "clarifai",
        "app": "main",
        "model": "general-image-recognition",
    },
    optional=("least_confidence",),
    price=0.0012,
)
open_system = VENDOR.open
