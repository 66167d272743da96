"""Imagga's tags (keys IMAGGA_KEY and IMAGGA_SECRET)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portrayal.edges.secrets import remember
from portrayal.systems.core.base import CallFailed
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.http.vendor import Request, Vendor
from portrayal.systems.http.web import environment


def _request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    login = (environment("IMAGGA_KEY", "Imagga"), environment("IMAGGA_SECRET", "Imagga"))
    remember(":".join(login))  # HTTP sends the two as one word
    files = {"image": ("image", picture.data, picture.media)}
    # A query parameter of /v2/tags, 0 to 100 as its confidences: so published clients ask (`?threshold=30`).
    least = parameters.get("least_confidence")
    asked = {} if least is None else {"params": {"threshold": least}}
    return Request(f"{parameters['endpoint']}/v2/tags", more={"files": files, "auth": login, **asked})


def _check(body: Any) -> None:
    status = body["status"]
    if status.get("type", "success") != "success":
        raise CallFailed(f"status inside the answer: {status.get('text', '')}")


def _read(body: Any, kind: str) -> list[dict[str, Any]]:
    tags = body["result"]["tags"]
    return [{"tag": tag["tag"]["en"], "confidence": float(tag["confidence"])} for tag in tags]


VENDOR = Vendor(
    name="imagga",
    kinds=("tagger",),
    limits=PictureLimits(15_000_000, formats=("JPEG", "PNG", "WEBP", "GIF", "BMP")),
    request=_request,
    read=_read,
    check=_check,
    defaults={"endpoint": "https://api.imagga.com"},
    optional=("least_confidence",),
    price=0.00113,
)
open_system = VENDOR.open
