"""Microsoft Azure's image analysis 3.2 and 4.0 as a tagger or captioner.

`parameters.service` is "3.2" or "4.0". The address is taken from `parameters.endpoint` or AZURE_VISION_ENDPOINT, the
key from AZURE_VISION_KEY. With 4.0, `gender_neutral` asks for gender-neutral captions. 4.0 retires on 2028-09-25.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.vendor import Request, Vendor, VendorSystem, open_vendor
from portrayal.systems.http.web import environment

FEATURES = {"3.2": {"tagger": "Tags", "captioner": "Description"}, "4.0": {"tagger": "tags", "captioner": "caption"}}


def _request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    endpoint = parameters["endpoint"] or environment("AZURE_VISION_ENDPOINT", "Azure")
    headers = {
        "Ocp-Apim-Subscription-Key": environment("AZURE_VISION_KEY", "Azure"),
        "Content-Type": "application/octet-stream",
    }
    path, query = _address(parameters, kind)
    return Request(endpoint.rstrip("/") + path, more={"params": query, "headers": headers, "content": picture.data})


def _address(parameters: Mapping[str, Any], kind: str) -> tuple[str, dict[str, str]]:
    service = str(parameters["service"])
    feature = FEATURES[service][kind]
    if service == "3.2":
        return "/vision/v3.2/analyze", {"visualFeatures": feature}
    query = {"api-version": parameters["api_version"], "features": feature}
    if kind == "captioner" and parameters["gender_neutral"]:
        query["gender-neutral-caption"] = "true"
    return "/computervision/imageanalysis:analyze", query


def _read(body: Any, kind: str) -> list[dict[str, Any]]:
    return _tags(body) if kind == "tagger" else _captions(body)


def _tags(body: Any) -> list[dict[str, Any]]:
    """Read 4.0's `tagsResult.values` or 3.2's `tags`."""
    tags = body["tagsResult"]["values"] if "tagsResult" in body else body["tags"]
    return [{"tag": tag["name"], "confidence": float(tag["confidence"])} for tag in tags]


def _captions(body: Any) -> list[dict[str, Any]]:
    """Read 4.0's `captionResult` or 3.2's `description.captions`."""
    if "captionResult" in body:
        return [{"caption": body["captionResult"]["text"]}] if body["captionResult"]["text"] else []
    return [{"caption": caption["text"]} for caption in body["description"]["captions"]]


VENDOR = Vendor(
    name="azure",
    kinds=("tagger", "captioner"),
    limits=PictureLimits(4 * 1024 * 1024, least_side=51, formats=("JPEG", "PNG", "GIF", "BMP")),
    request=_request,
    read=_read,
    version=lambda body: str(body.get("modelVersion", "")),
    defaults={"endpoint": "", "service": "4.0", "api_version": "2023-10-01", "gender_neutral": False},
    price=0.001,
)


def open_system(settings: SystemSettings, folder: Path) -> VendorSystem:
    """Open Azure's image analysis."""
    service = str(settings.parameters.get("service", "4.0"))
    if service not in FEATURES:
        raise PortrayalError(f"Azure has no service {service!r} here. Known: {', '.join(FEATURES)}.")
    return open_vendor(VENDOR, settings, folder)
