"""Vendors' image services: Azure, Clarifai, Google, Imagga, and recorded answers of IBM Watson."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from portrayal.edges.secrets import remember, take
from portrayal.errors import PortrayalError
from portrayal.systems.core.base import CallFailed, QuotaSpent, Throttled
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.vendor import Request, Rows, Vendor, VendorSystem, open_vendor
from portrayal.systems.http.web import SOON, environment

AZURE_FEATURES = {
    "3.2": {"tagger": "Tags", "captioner": "Description"},
    "4.0": {"tagger": "tags", "captioner": "caption"},
}
CLARIFAI_SUCCESS, CLARIFAI_THROTTLED = 10000, 11005
CLARIFAI_QUOTA = (11006, 11007)  # CONN_EXCEED_HOURLY_LIMIT, CONN_EXCEED_MONTHLY_LIMIT
GOOGLE_EXHAUSTED = 8  # google.rpc.Code: a rate, which waiting mends, or a quota, which it does not
GOOGLE_UNAVAILABLE = 14


def _tags(items: Sequence[Mapping[str, Any]], name: str, score: str) -> Rows:
    return [{"tag": item[name], "confidence": float(item[score])} for item in items]


def _azure_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    endpoint = parameters["endpoint"] or environment("AZURE_VISION_ENDPOINT", "Azure")
    key = environment("AZURE_VISION_KEY", "Azure")
    headers = {"Ocp-Apim-Subscription-Key": key, "Content-Type": "application/octet-stream"}
    service = str(parameters["service"])
    feature = AZURE_FEATURES[service][kind]
    if service == "3.2":
        path, query = "/vision/v3.2/analyze", {"visualFeatures": feature}
    else:
        path = "/computervision/imageanalysis:analyze"
        query = {"api-version": parameters["api_version"], "features": feature}
        if kind == "captioner" and parameters["gender_neutral"]:
            query["gender-neutral-caption"] = "true"
    return Request(endpoint.rstrip("/") + path, more={"params": query, "headers": headers, "content": picture.data})


def _azure_rows(body: Any, kind: str) -> Rows:
    """Read the form of 4.0, or that of 3.2."""
    if kind == "tagger":
        return _tags(body["tagsResult"]["values"] if "tagsResult" in body else body["tags"], "name", "confidence")
    if "captionResult" in body:
        return [{"caption": body["captionResult"]["text"]}] if body["captionResult"]["text"] else []
    return [{"caption": caption["text"]} for caption in body["description"]["captions"]]


def _clarifai_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    path = f"/v2/users/{parameters['user']}/apps/{parameters['app']}/models/{parameters['model']}/outputs"
    body: dict[str, Any] = {"inputs": [{"data": {"image": {"base64": picture.base64}}}]}
    if (least := parameters.get("least_confidence")) is not None:
        # docs.clarifai.com, "Prediction Parameters"; nested as in published tests of a gRPC client (min_value=0.98).
        body["model"] = {"output_info": {"output_config": {"min_value": least}}}
    headers = {"Authorization": f"Key {environment('CLARIFAI_PAT', 'Clarifai')}"}
    return Request(parameters["endpoint"] + path, more={"json": body, "headers": headers})


def _clarifai_check(body: Any) -> None:
    """Raise for the answer's status and for the output's own."""
    for status in (body["status"], body["outputs"][0]["status"] if body.get("outputs") else body["status"]):
        code = status["code"]
        message = f"status {code} inside the answer: {status.get('description', '')}"
        if code == CLARIFAI_THROTTLED:
            raise Throttled(message)
        if code in CLARIFAI_QUOTA:
            raise QuotaSpent(message)
        if code != CLARIFAI_SUCCESS:
            raise CallFailed(message)


def _clarifai_version(body: Any) -> str:
    model = body["outputs"][0]["model"]
    return str(model.get("model_version", {}).get("id") or model.get("id", ""))


def _google_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    feature = {"type": "LABEL_DETECTION", "maxResults": parameters["most_labels"]}
    body = {"requests": [{"image": {"content": picture.base64}, "features": [feature]}]}
    if token := take("GOOGLE_ACCESS_TOKEN"):
        headers = {"Authorization": f"Bearer {token}"}
    else:
        headers = {"x-goog-api-key": environment("GOOGLE_API_KEY", "Google Vision")}
    return Request(f"{parameters['endpoint']}/v1/images:annotate", more={"json": body, "headers": headers})


def _google_check(body: Any) -> None:
    """Raise the error that Google puts inside a 200."""
    error = body["responses"][0].get("error") or {}
    if not error:
        return
    code, message = error.get("code"), f"error {error.get('code')} inside the answer: {error.get('message', '')}"
    if code == GOOGLE_UNAVAILABLE or (code == GOOGLE_EXHAUSTED and SOON.search(message.lower())):
        raise Throttled(message)
    raise QuotaSpent(message) if code == GOOGLE_EXHAUSTED else CallFailed(message)


def _imagga_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    login = (environment("IMAGGA_KEY", "Imagga"), environment("IMAGGA_SECRET", "Imagga"))
    remember(":".join(login))  # HTTP sends the two as one word
    files = {"image": ("image", picture.data, picture.media)}
    # A query parameter of /v2/tags, 0 to 100 as its confidences: so published clients ask (`?threshold=30`).
    least = parameters.get("least_confidence")
    query = {} if least is None else {"params": {"threshold": least}}
    return Request(f"{parameters['endpoint']}/v2/tags", more={"files": files, "auth": login, **query})


def _imagga_check(body: Any) -> None:
    if body["status"].get("type", "success") != "success":
        raise CallFailed(f"status inside the answer: {body['status'].get('text', '')}")


def _watson_request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    raise PortrayalError("IBM Watson Visual Recognition ended on 2021-12-01 and cannot be asked.")


AZURE = Vendor(
    name="azure",
    kinds=("tagger", "captioner"),
    limits=PictureLimits(4 * 1024 * 1024, least_side=51, formats=("JPEG", "PNG", "GIF", "BMP")),
    request=_azure_request,
    read=_azure_rows,
    version=lambda body: str(body.get("modelVersion", "")),
    defaults={"endpoint": "", "service": "4.0", "api_version": "2023-10-01", "gender_neutral": False},
    price=0.001,
)
CLARIFAI = Vendor(
    name="clarifai",
    limits=PictureLimits(20_000_000, formats=("JPEG", "PNG", "WEBP", "BMP")),
    request=_clarifai_request,
    read=lambda body, kind: _tags(body["outputs"][0]["data"].get("concepts", []), "name", "value"),
    check=_clarifai_check,
    version=_clarifai_version,
    defaults={"endpoint": "https://api.clarifai.com", "user": "clarifai", "app": "main"}
    | {"model": "general-image-recognition"},
    optional=("least_confidence",),
    price=0.0012,
)
GOOGLE = Vendor(
    name="google",
    limits=PictureLimits(7_500_000, formats=("JPEG", "PNG", "GIF", "BMP", "WEBP")),  # 10 MB of JSON after base64
    request=_google_request,
    read=lambda body, kind: _tags(body["responses"][0].get("labelAnnotations", []), "description", "score"),
    check=_google_check,
    defaults={"endpoint": "https://vision.googleapis.com", "most_labels": 50},
    price=0.0015,
)
IMAGGA = Vendor(
    name="imagga",
    limits=PictureLimits(15_000_000, formats=("JPEG", "PNG", "WEBP", "GIF", "BMP")),
    request=_imagga_request,
    read=lambda body, kind: _tags(
        [{**tag, "name": tag["tag"]["en"]} for tag in body["result"]["tags"]], "name", "confidence"
    ),
    check=_imagga_check,
    defaults={"endpoint": "https://api.imagga.com"},
    optional=("least_confidence",),
    price=0.00113,
)
WATSON = Vendor(
    name="watson",
    limits=PictureLimits(0),
    request=_watson_request,
    read=lambda body, kind: _tags(
        [entry for classifier in body["images"][0]["classifiers"] for entry in classifier["classes"]], "class", "score"
    ),
)
VENDORS = {vendor.name: vendor for vendor in (AZURE, CLARIFAI, GOOGLE, IMAGGA, WATSON)}


def open_system(settings: SystemSettings, folder: Path) -> VendorSystem:
    """Open the vendor that a study names."""
    if settings.use == "watson" and "recorded" not in settings.parameters:
        raise PortrayalError(
            "IBM Watson Visual Recognition ended on 2021-12-01. Give its recorded answers: parameters.recorded = FILE."
        )
    service = str(settings.parameters.get("service", "4.0"))
    if settings.use == "azure" and service not in AZURE_FEATURES:
        raise PortrayalError(f"Azure has no service {service!r} here. Known: {', '.join(AZURE_FEATURES)}.")
    return open_vendor(VENDORS[settings.use], settings, folder)
