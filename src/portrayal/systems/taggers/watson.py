"""IBM Watson Visual Recognition v3: recorded answers only.

`parameters.recorded` names the file. Confidence runs from 0 to 1; the service left out classes under 0.5 by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portrayal.errors import PortrayalError
from portrayal.systems.core.pictures import Picture, PictureLimits
from portrayal.systems.core.settings import SystemSettings
from portrayal.systems.http.vendor import Request, Vendor, VendorSystem, open_vendor


def _request(picture: Picture, parameters: Mapping[str, Any], kind: str) -> Request:
    raise PortrayalError("IBM Watson Visual Recognition ended on 2021-12-01 and cannot be asked.")


def _read(body: Any, kind: str) -> list[dict[str, Any]]:
    classifiers = body["images"][0]["classifiers"]
    classes = [found for classifier in classifiers for found in classifier["classes"]]
    return [{"tag": found["class"], "confidence": float(found["score"])} for found in classes]


VENDOR = Vendor(name="watson", kinds=("tagger",), limits=PictureLimits(0), request=_request, read=_read)


def open_system(settings: SystemSettings, folder: Path) -> VendorSystem:
    """Open recorded answers of Watson."""
    if "recorded" not in settings.parameters:
        raise PortrayalError(
            "IBM Watson Visual Recognition ended on 2021-12-01. Give its recorded answers: parameters.recorded = FILE."
        )
    return open_vendor(VENDOR, settings, folder)
